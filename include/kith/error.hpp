// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

#include "kith/export.hpp"

namespace kith {

enum class ErrorCode {
  invalid_argument,  // a parameter out of its range, an unknown name, shapes that do not fit
  bad_data,          // NaN or Inf, a zero vector under cosine, a malformed or missing file
  out_of_memory,     // the budget or the machine's memory cannot hold the work
  no_device,         // the backend asked for does not exist here
  cannot_write,      // an output could not be written whole; nothing of it is left behind
  cancelled,         // the progress callback asked to stop
  internal,          // a defect of the library
};

KITH_API const char* to_string(ErrorCode code) noexcept;

// what() names the offending value and the limit it broke.
class KITH_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace kith
