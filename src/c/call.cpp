#include "c/call.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kith::c {
namespace {

// A thread's last message. Of fixed size, so that it can be kept where memory is exhausted, and without a destructor,
// so that it can be read while the thread ends.
constexpr std::size_t kMessageBytes = 4096;
thread_local std::array<char, kMessageBytes> last_message{};

constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

kith_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return KITH_INVALID_ARGUMENT;
    case ErrorCode::bad_data: return KITH_BAD_DATA;
    case ErrorCode::out_of_memory: return KITH_OUT_OF_MEMORY;
    case ErrorCode::no_device: return KITH_NO_DEVICE;
    case ErrorCode::cannot_write: return KITH_CANNOT_WRITE;
    case ErrorCode::cancelled: return KITH_CANCELLED;
    case ErrorCode::internal: return KITH_INTERNAL;
  }
  return KITH_INTERNAL;
}

kith_status fail(kith_status status, const char* message) noexcept {
  std::size_t length = std::min(std::strlen(message), kMessageBytes - 1);
  if (message[length] != '\0')
    while (length > 0 && continues_character(message[length])) --length;  // what is cut off begins with a character
  std::memcpy(last_message.data(), message, length);
  last_message[length] = '\0';
  return status;
}

}  // namespace kith::c

const char* kith_last_error(void) noexcept {
  return kith::c::last_message.data();
}

const char* kith_status_name(kith_status status) noexcept {
  using kith::ErrorCode;
  if (status == KITH_OK) return "ok";
  for (const ErrorCode code :
       {ErrorCode::invalid_argument, ErrorCode::bad_data, ErrorCode::out_of_memory, ErrorCode::no_device,
        ErrorCode::cannot_write, ErrorCode::cancelled, ErrorCode::internal})
    if (kith::c::status_of(code) == status) return to_string(code);
  return "unknown status";
}
