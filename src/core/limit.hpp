// limit.hpp: the error of a method that is asked for more than it can do.
#pragma once

#include <string>

#include "kith/error.hpp"

namespace kith {

// Throws Error(invalid_argument) unless `value`, named `what`, is from `least` to `most`.
inline void require_within(const char* method, const char* what, long long value, long long least, long long most) {
  if (least <= value && value <= most) return;
  throw Error(ErrorCode::invalid_argument, std::string(method) + ": " + what + " = " + std::to_string(value) +
                                               " is outside the limits " + std::to_string(least) + " to " +
                                               std::to_string(most));
}

}  // namespace kith
