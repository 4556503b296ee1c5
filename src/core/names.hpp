// names.hpp: names ↔ values, the same way for metrics, backends, methods and the like.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "kith/error.hpp"

namespace kith::core {

template <class Value>
using Name = std::pair<std::string_view, Value>;

// Lower case, '_' for '-' and blank, so that "Two-Stage" finds "two_stage".
inline std::string normalized(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// `names` may hold aliases after the canonical name of a value; the error lists the first `listed` of them.
template <class Value, std::size_t count>
Value parse_name(const std::array<Name<Value>, count>& names, std::string_view what, std::string_view text,
                 std::size_t listed = count) {
  const std::string wanted = normalized(text);
  for (const auto& [name, value] : names)
    if (normalized(name) == wanted) return value;
  std::string known;
  for (std::size_t i = 0; i < listed; ++i) known += (i == 0 ? "" : ", ") + std::string(names[i].first);
  throw Error(ErrorCode::invalid_argument, fmt::format("unknown {} '{}'; known are {}", what, text, known));
}

template <class Value, std::size_t count>
const char* name_of(const std::array<Name<Value>, count>& names, Value value) noexcept {
  for (const auto& [name, candidate] : names)
    if (candidate == value) return name.data();
  return "unknown";
}

}  // namespace kith::core
