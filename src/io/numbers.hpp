// Numbers as text, both ways, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace kith::io {

enum class NumberText { ok, not_a_number, out_of_range };

// The whole of `text` as a double: decimal, an optional sign, "nan" and "inf" in any case. A magnitude beyond the
// largest double is out_of_range; one below the smallest rounds to zero.
NumberText parse_number(std::string_view text, double& value);

// Shortest decimal text that reads back as the same T; "nan", "inf", "-inf".
template <class T>
void append_number(std::string& out, T value);

template <class T>
std::string number_text(T value) {
  std::string out;
  append_number(out, value);
  return out;
}

}  // namespace kith::io
