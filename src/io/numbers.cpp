#include "io/numbers.hpp"

#include <fast_float/fast_float.h>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace kith::io {

NumberText parse_number(std::string_view text, double& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return NumberText::not_a_number;
  }
  const char* end = text.data() + text.size();
  const auto result = fast_float::from_chars(text.data(), end, value);
  const bool beyond = result.ec == std::errc::result_out_of_range;
  if ((result.ec != std::errc() && !beyond) || result.ptr != end) return NumberText::not_a_number;
  // An infinity that was not spelled as one is an overflow; versions of fast_float differ in whether they say so.
  const bool spelled = text.find_first_of("0123456789") == std::string_view::npos;
  return std::isinf(value) && !spelled ? NumberText::out_of_range : NumberText::ok;
}

template <class T>
void append_number(std::string& out, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {  // one spelling, whatever its sign
      out += "nan";
      return;
    }
  }
  std::array<char, 32> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), result.ptr);
}

template void append_number(std::string&, float);
template void append_number(std::string&, double);
template void append_number(std::string&, std::uint8_t);
template void append_number(std::string&, std::int8_t);
template void append_number(std::string&, std::int32_t);
template void append_number(std::string&, std::int64_t);

}  // namespace kith::io
