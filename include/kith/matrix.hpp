// Matrices: a view with two strides over memory somebody else owns, and an owning row-major matrix.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kith/error.hpp"
#include "kith/float16.hpp"

namespace kith {

template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::int8_t> || std::same_as<T, Float16> || std::same_as<T, BFloat16>;

enum class DType { float32, float64, uint8, int8, float16, bfloat16 };

template <Element T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, float>) {
    return DType::float32;
  } else if constexpr (std::same_as<T, double>) {
    return DType::float64;
  } else if constexpr (std::same_as<T, std::uint8_t>) {
    return DType::uint8;
  } else if constexpr (std::same_as<T, std::int8_t>) {
    return DType::int8;
  } else if constexpr (std::same_as<T, Float16>) {
    return DType::float16;
  } else {
    return DType::bfloat16;
  }
}

constexpr const char* to_string(DType dtype) {
  switch (dtype) {
    case DType::float32: return "float32";
    case DType::float64: return "float64";
    case DType::uint8: return "uint8";
    case DType::int8: return "int8";
    case DType::float16: return "float16";
    case DType::bfloat16: return "bfloat16";
  }
  return "unknown";
}

constexpr std::int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::float64: return 8;
    case DType::float32: return 4;
    case DType::float16:
    case DType::bfloat16: return 2;
    case DType::uint8:
    case DType::int8: return 1;
  }
  return 0;
}

// Where values lie: in the machine's memory, or in that of the device that a backend works on.
enum class Memory { host, device };

constexpr const char* to_string(Memory memory) {
  return memory == Memory::host ? "host" : "device";
}

// The type in which distances between points of T are returned.
template <Element T>
using DistanceOf = std::conditional_t<std::same_as<T, double>, double, float>;

// Points as rows. Strides count elements, not bytes, and are not negative; packed row-major (col_stride 1) is the fast
// case. Values on a device are read by kernels only: operator() is for those of the host.
template <Element T>
struct MatrixView {
  using value_type = T;

  const T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;
  Memory memory = Memory::host;

  constexpr MatrixView() = default;
  constexpr MatrixView(const T* data_, std::int64_t rows_, std::int64_t cols_)
      : MatrixView(data_, rows_, cols_, cols_, 1) {}
  constexpr MatrixView(const T* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t row_stride_,
                       std::int64_t col_stride_, Memory memory_ = Memory::host)
      : data(data_), rows(rows_), cols(cols_), row_stride(row_stride_), col_stride(col_stride_), memory(memory_) {}

  static constexpr MatrixView column_major(const T* data, std::int64_t rows, std::int64_t cols) {
    return {data, rows, cols, 1, rows};
  }
  // `data` is a pointer of the current device of backend cuda; of the emulator where options say so.
  static constexpr MatrixView on_device(const T* data, std::int64_t rows, std::int64_t cols) {
    return on_device(data, rows, cols, cols);
  }
  static constexpr MatrixView on_device(const T* data, std::int64_t rows, std::int64_t cols, std::int64_t row_stride) {
    return {data, rows, cols, row_stride, 1, Memory::device};
  }

  constexpr T operator()(std::int64_t row, std::int64_t col) const { return data[row * row_stride + col * col_stride]; }
  constexpr const T* row(std::int64_t index) const { return data + index * row_stride; }
  constexpr MatrixView rows_from(std::int64_t first, std::int64_t count) const {
    return {row(first), count, cols, row_stride, col_stride, memory};
  }
};

// Owns rows × cols elements, row-major and packed.
template <Element T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t cols) : rows_(rows), cols_(cols), values_(checked_size(rows, cols)) {}
  Matrix(std::int64_t rows, std::int64_t cols, std::vector<T> values)
      : rows_(rows), cols_(cols), values_(std::move(values)) {
    if (values_.size() != checked_size(rows, cols))
      throw Error(ErrorCode::invalid_argument, std::to_string(values_.size()) + " values for a matrix of " +
                                                   std::to_string(rows) + " × " + std::to_string(cols));
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T* row(std::int64_t index) { return values_.data() + index * cols_; }
  const T* row(std::int64_t index) const { return values_.data() + index * cols_; }
  T& operator()(std::int64_t row, std::int64_t col) { return values_[static_cast<std::size_t>(row * cols_ + col)]; }
  T operator()(std::int64_t row, std::int64_t col) const {
    return values_[static_cast<std::size_t>(row * cols_ + col)];
  }

  MatrixView<T> view() const { return {values_.data(), rows_, cols_}; }

 private:
  static std::size_t checked_size(std::int64_t rows, std::int64_t cols) {
    std::int64_t size = 0;
    if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &size))
      throw Error(ErrorCode::invalid_argument,
                  "a matrix of " + std::to_string(rows) + " × " + std::to_string(cols) + " cannot exist");
    return static_cast<std::size_t>(size);
  }

  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::vector<T> values_;
};

}  // namespace kith
