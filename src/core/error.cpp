// error.cpp: codes of errors, and the version.
#include "kith/error.hpp"

#include "kith/version.hpp"

#define KITH_TEXT_(x) #x
#define KITH_TEXT(x) KITH_TEXT_(x)

namespace kith {

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::bad_data: return "bad data";
    case ErrorCode::out_of_memory: return "out of memory";
    case ErrorCode::no_device: return "no such device";
    case ErrorCode::cannot_write: return "cannot write";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::internal: return "internal error";
  }
  return "unknown error";
}

const char* version() noexcept {
  return KITH_TEXT(KITH_VERSION_MAJOR) "." KITH_TEXT(KITH_VERSION_MINOR) "." KITH_TEXT(KITH_VERSION_PATCH);
}

}  // namespace kith
