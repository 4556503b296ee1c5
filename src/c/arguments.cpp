#include "c/arguments.hpp"

#include <algorithm>
#include <cstring>

namespace kith::c {

std::string_view need_text(const char* text, const char* role) {
  return &need(text, role);
}

DType dtype_of(kith_dtype dtype, const char* role) {
  switch (dtype) {
    case KITH_FLOAT32: return DType::float32;
    case KITH_FLOAT64: return DType::float64;
    case KITH_FLOAT16: return DType::float16;
    case KITH_BFLOAT16: return DType::bfloat16;
    case KITH_UINT8: return DType::uint8;
    case KITH_INT8: return DType::int8;
    default:
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("{} has dtype {}; known are 1 (float32), 2 (float64), 3 (float16), 4 (bfloat16), 5 (uint8) "
                      "and 6 (int8)",
                      role, dtype));
  }
}

kith_dtype number_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::float32: return KITH_FLOAT32;
    case DType::float64: return KITH_FLOAT64;
    case DType::float16: return KITH_FLOAT16;
    case DType::bfloat16: return KITH_BFLOAT16;
    case DType::uint8: return KITH_UINT8;
    case DType::int8: return KITH_INT8;
  }
  return 0;
}

Memory memory_of(kith_memory memory, const char* role) {
  switch (memory) {
    case KITH_HOST: return Memory::host;
    case KITH_DEVICE: return Memory::device;
    default:
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} lies in memory {}; known are 0 (host) and 1 (device)", role, memory));
  }
}

void check_host(kith_memory memory) {
  if (memory_of(memory, "out") != Memory::host)
    throw Error(ErrorCode::invalid_argument, "out lies on a device; this answer comes to host memory");
}

void check_dtype(kith_dtype given, DType wanted, const char* role) {
  const DType dtype = dtype_of(given, role);
  if (dtype != wanted)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is of type {}; it must be {}", role, to_string(dtype), to_string(wanted)));
}

void check_capacity(std::int64_t capacity, std::int64_t rows, std::int64_t cols, const char* role) {
  std::int64_t needed = 0;
  if (__builtin_mul_overflow(rows, cols, &needed) || capacity < needed)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has room for {} elements; {} × {} are needed", role, capacity, rows, cols));
}

void write_text(std::string_view text, char* buffer, std::size_t size, std::size_t* length) {
  if (buffer == nullptr && (size > 0 || length == nullptr))
    throw Error(ErrorCode::invalid_argument, "the buffer of the text is null");
  if (size > 0) {
    const std::size_t copied = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), copied);
    buffer[copied] = '\0';
  }
  if (length != nullptr) *length = text.size();
}

}  // namespace kith::c

kith_dtype kith_distance_dtype(kith_dtype dtype) noexcept {
  if (kith_dtype_size(dtype) == 0) return 0;
  return dtype == KITH_FLOAT64 ? KITH_FLOAT64 : KITH_FLOAT32;
}

int64_t kith_dtype_size(kith_dtype dtype) noexcept {
  switch (dtype) {
    case KITH_FLOAT64: return 8;
    case KITH_FLOAT32: return 4;
    case KITH_FLOAT16:
    case KITH_BFLOAT16: return 2;
    case KITH_UINT8:
    case KITH_INT8: return 1;
    default: return 0;
  }
}
