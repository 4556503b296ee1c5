// Arrays and the conversion of their values.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "io/numbers.hpp"
#include "io/scalar_types.hpp"
#include "io/source.hpp"
#include "kith/io.hpp"

namespace kith::io {
namespace {

constexpr std::array<const char*, 8> kTypeNames = {"float32", "float64", "uint8",   "int8",
                                                   "int32",   "int64",   "float16", "bfloat16"};

// Whether a floating value, rounded from an integer, is still that integer.
template <class Floating, class Integer>
bool is_exactly(Floating rounded, Integer value) {
  // The largest integers may round up to a power of two that is none of their type.
  return rounded < std::ldexp(Floating{1}, std::numeric_limits<Integer>::digits) &&
         static_cast<Integer>(rounded) == value;
}

// From one floating type to another: rounded, unless a finite value would overflow. Else exact or not at all.
template <class To, class From>
bool convert_value(From value, To& out) {
  if constexpr (std::is_same_v<To, From>) {
    out = value;
    return true;
  } else if constexpr (kHas16Bits<From>) {
    return convert_value(widened(value), out);
  } else if constexpr (kHas16Bits<To>) {
    out = To(static_cast<double>(value));
    const float rounded = widened(out);
    if constexpr (std::is_floating_point_v<From>)
      return std::isinf(rounded) == std::isinf(value);
    else
      return std::isfinite(rounded) && is_exactly(rounded, value);
  } else if constexpr (std::is_floating_point_v<To>) {
    out = static_cast<To>(value);
    if constexpr (std::is_floating_point_v<From>)
      return std::isinf(out) == std::isinf(value);
    else
      return is_exactly(out, value);
  } else if constexpr (std::is_floating_point_v<From>) {
    // Both limits are powers of two (the upper one exclusive), so they are exact in either floating type.
    constexpr From kLowest = static_cast<From>(std::numeric_limits<To>::min());
    const From kBeyond = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (!(value >= kLowest && value < kBeyond) || value != std::trunc(value)) return false;
    out = static_cast<To>(value);
    return true;
  } else {
    if (!std::in_range<To>(value)) return false;
    out = static_cast<To>(value);
    return true;
  }
}

template <class From, class To>
void convert_row(const From* in, std::int64_t stride, std::int64_t row, std::int64_t cols, To* out) {
  for (std::int64_t col = 0; col < cols; ++col) {
    const From value = in[col * stride];
    if (!convert_value(value, out[col])) {
      throw Error(ErrorCode::bad_data, "row " + std::to_string(row) + ", column " + std::to_string(col) + ": " +
                                           number_text(widened(value)) + " is not a value of " +
                                           to_string(element_type_of<To>()));
    }
  }
}

}  // namespace

const char* to_string(ElementType type) noexcept {
  return kTypeNames[static_cast<std::size_t>(type)];
}

ElementType parse_element_type(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
    if (name == kTypeNames[i]) return static_cast<ElementType>(i);
    known += (i == 0 ? "" : ", ") + std::string(kTypeNames[i]);
  }
  throw Error(ErrorCode::invalid_argument, "element type " + in_quotes(name) + " is not one of " + known);
}

std::int64_t size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::uint8:
    case ElementType::int8: return 1;
    case ElementType::float16:
    case ElementType::bfloat16: return 2;
    case ElementType::float32:
    case ElementType::int32: return 4;
    case ElementType::float64:
    case ElementType::int64: return 8;
  }
  return 8;
}

bool is_floating(ElementType type) noexcept {
  switch (type) {
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::float32:
    case ElementType::float64: return true;
    default: return false;
  }
}

Array::Array(ElementType type, int rank, std::int64_t rows, std::int64_t cols, const void* data,
             std::int64_t row_stride, std::int64_t col_stride, std::shared_ptr<const void> owner)
    : type_(type),
      rank_(rank),
      rows_(rows),
      cols_(cols),
      row_stride_(row_stride),
      col_stride_(col_stride),
      data_(data),
      owner_(std::move(owner)) {
  if (rank < 1 || rank > 2 || rows < 0 || cols < 0 || (rank == 1 && cols != 1)) {
    throw Error(ErrorCode::invalid_argument, "no array has rank " + std::to_string(rank) + ", " + counted(rows, "row") +
                                                 " and " + counted(cols, "column"));
  }
}

bool Array::packed() const {
  return (col_stride_ == 1 || cols_ <= 1) && (row_stride_ == cols_ || rows_ <= 1);
}

void Array::require_size(std::int64_t size, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0 || byte_count(rows, cols, 1) != size) {
    throw Error(ErrorCode::invalid_argument,
                counted(size, "value") + " for " + std::to_string(rows) + " x " + std::to_string(cols));
  }
}

void Array::require_type(ElementType type) const {
  if (type != type_) {
    throw Error(ErrorCode::invalid_argument,
                std::string("the array holds ") + to_string(type_) + ", not " + to_string(type));
  }
}

Array Array::converted(ElementType type) const {
  if (type == type_) return *this;
  const std::int64_t bytes = byte_count(rows_, cols_, size_of(type));
  if (bytes < 0) throw Error(ErrorCode::out_of_memory, "the converted array does not fit 63 bits");
  const auto out = allocate(bytes);
  copy_rows(0, rows_, type, out.get());
  return {type, rank_, rows_, cols_, out.get(), cols_, 1, out};
}

void Array::copy_rows(std::int64_t first, std::int64_t count, ElementType type, void* out) const {
  if (cols_ == 0 || count == 0) return;
  if (type == type_ && packed()) {
    const std::int64_t row_bytes = cols_ * size_of(type);
    std::memcpy(out, static_cast<const std::byte*>(data_) + first * row_bytes,
                static_cast<std::size_t>(count * row_bytes));
    return;
  }
  with_type(type_, [&](auto from) {
    with_type(type, [&](auto to) {
      const auto* in = static_cast<const typename decltype(from)::type*>(data_);
      auto* values = static_cast<typename decltype(to)::type*>(out);
      for (std::int64_t row = first; row < first + count; ++row, values += cols_) {
        convert_row(in + row * row_stride_, col_stride_, row, cols_, values);
      }
    });
  });
}

}  // namespace kith::io
