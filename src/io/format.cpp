#include "io/format.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace kith::io {
namespace {

struct Name {
  std::string_view name;
  Format format;
};

constexpr std::array kNames = {
    Name{"npy", Format::npy},       Name{"npz", Format::npz},         Name{"fvecs", Format::fvecs},
    Name{"bvecs", Format::bvecs},   Name{"ivecs", Format::ivecs},     Name{"fbin", Format::fbin},
    Name{"f16bin", Format::f16bin}, Name{"bf16bin", Format::bf16bin}, Name{"u8bin", Format::u8bin},
    Name{"i8bin", Format::i8bin},   Name{"ibin", Format::ibin},       Name{"groundtruth", Format::groundtruth},
    Name{"hdf5", Format::hdf5},     Name{"csv", Format::csv},         Name{"ply", Format::ply},
    Name{"json", Format::json},
};

// Other extensions.
constexpr std::array kAliases = {
    Name{"h5", Format::hdf5},
    Name{"tsv", Format::csv},
    Name{"txt", Format::csv},
};

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
  });
  return lower;
}

template <std::size_t N>
Format find(const std::array<Name, N>& names, std::string_view name) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const Name& entry) { return entry.name == name; });
  return found == names.end() ? Format::automatic : found->format;
}

Format find_any(const std::string& name) {
  const Format format = find(kNames, name);
  return format == Format::automatic ? find(kAliases, name) : format;
}

}  // namespace

const char* to_string(Format format) noexcept {
  for (const Name& entry : kNames) {
    if (entry.format == format) return entry.name.data();
  }
  return "auto";
}

Format parse_format(std::string_view name) {
  const std::string lower = lowered(name);
  if (lower == "auto") return Format::automatic;
  const Format format = find_any(lower);
  if (format != Format::automatic) return format;
  std::string known = "auto";
  for (const std::string& each : format_names()) known += ", " + each;
  throw Error(ErrorCode::invalid_argument, "format " + in_quotes(name) + " is not one of " + known);
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Name& entry : kNames) names.emplace_back(entry.name);
  return names;
}

Format format_of(std::string_view path) noexcept {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash)) return Format::automatic;
  constexpr std::size_t kLongest = 16;
  const std::string_view extension = path.substr(dot + 1);
  return extension.size() > kLongest ? Format::automatic : find_any(lowered(extension));
}

std::optional<ElementType> fixed_type(Format format) {
  switch (format) {
    case Format::fvecs:
    case Format::fbin: return ElementType::float32;
    case Format::f16bin: return ElementType::float16;
    case Format::bf16bin: return ElementType::bfloat16;
    case Format::bvecs:
    case Format::u8bin: return ElementType::uint8;
    case Format::i8bin: return ElementType::int8;
    case Format::ivecs:
    case Format::ibin: return ElementType::int32;
    default: return std::nullopt;
  }
}

Format sniff(const Source& source) {
  const std::string_view text = source.text();
  if (text.starts_with("\x93NUMPY")) return Format::npy;
  if (text.starts_with("PK\x03\x04")) return Format::npz;
  if (text.starts_with("\x89HDF\r\n\x1a\n")) return Format::hdf5;
  if (text.starts_with("ply\n") || text.starts_with("ply\r\n")) return Format::ply;
  return Format::automatic;
}

}  // namespace kith::io
