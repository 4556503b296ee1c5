#include "cli/sizes.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/error.hpp"

namespace kith::cli {
namespace {

// Bytes in one unit, 0 for an unknown unit.
double unit_bytes(std::string unit) {
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (unit.empty() || unit == "b") return 1;
  constexpr std::string_view kPrefixes = "kmgt";
  const std::size_t power = kPrefixes.find(unit.front());
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = std::string_view(unit).substr(1);
  if (rest.empty() || rest == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
  if (rest == "b") return std::pow(1000.0, static_cast<double>(power + 1));
  return 0;
}

}  // namespace

std::int64_t parse_size(std::string_view text) {
  const auto fail = [&](std::string_view why) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' is not a size: {}; write 256MiB, 1GiB, 500MB or plain bytes", text, why));
  };
  const std::size_t digits = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, digits);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || error != std::errc() || end != number.data() + number.size()) fail("it has no number");
  std::string_view unit = digits == std::string_view::npos ? std::string_view() : text.substr(digits);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const double scale = unit_bytes(std::string(unit));
  if (scale == 0) fail(fmt::format("'{}' is no unit", unit));
  const double bytes = std::floor(value * scale);
  if (bytes < 1) fail("it is less than one byte");
  if (bytes >= 9.2e18) fail("it is too large");
  return static_cast<std::int64_t>(bytes);
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 || value >= 100 ? 0 : 1, kUnits[unit]);
}

std::string format_count(double count) {
  constexpr std::array<const char*, 5> kUnits = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (count >= 1000 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", count, unit == 0 || count >= 100 ? 0 : 1, kUnits[unit]);
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.2f} s", seconds);
  const std::int64_t whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string format_integer(std::int64_t integer) {
  std::string text = std::to_string(integer);
  const std::size_t first = integer < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace kith::cli
