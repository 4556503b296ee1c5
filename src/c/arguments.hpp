// arguments.hpp: what C hands over, checked and in the types of the library.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/validate.hpp"
#include "kith.h"
#include "kith/error.hpp"
#include "kith/matrix.hpp"
#include "kith/search.hpp"

namespace kith::c {

template <class T>
T& need(T* pointer, const char* role) {
  if (pointer == nullptr) throw Error(ErrorCode::invalid_argument, fmt::format("{} is null", role));
  return *pointer;
}

// Texts are not looked at beyond their 0.
std::string_view need_text(const char* text, const char* role);

DType dtype_of(kith_dtype dtype, const char* role);
kith_dtype number_of(DType dtype) noexcept;
Memory memory_of(kith_memory memory, const char* role);

// `with(T{})` for the element type that the number stands for.
template <class With>
auto with_type(DType dtype, With with) {
  switch (dtype) {
    case DType::float32: return with(float{});
    case DType::float64: return with(double{});
    case DType::uint8: return with(std::uint8_t{});
    case DType::int8: return with(std::int8_t{});
    case DType::float16: return with(Float16{});
    case DType::bfloat16: return with(BFloat16{});
  }
  throw Error(ErrorCode::internal, "a type that is not known");
}

// Throws Error(invalid_argument) for memory of a device, where answers are copied to.
void check_host(kith_memory memory);

// Throws Error(invalid_argument) where the types differ.
void check_dtype(kith_dtype given, DType wanted, const char* role);

// A pointer to elements, which are aligned.
template <class T>
T* elements(void* data, const char* role) {
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is not aligned to {} bytes", role, alignof(T)));
  return static_cast<T*>(data);
}

template <class T>
const T* elements(const void* data, const char* role) {
  return elements<T>(const_cast<void*>(data), role);
}

// A span of `count` elements, null where there are none.
template <class T>
std::span<const T> span_of(const T* data, std::int64_t count, const char* role) {
  if (count < 0) throw Error(ErrorCode::invalid_argument, fmt::format("{} has {} elements", role, count));
  if (count > 0 && data == nullptr)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} of {} elements is null", role, count));
  return {elements<T>(static_cast<const void*>(data), role), static_cast<std::size_t>(count)};
}

// With the strides that zeros stand for; of type T, or an error.
template <Element T>
MatrixView<T> view_of(const kith_matrix* matrix, const char* role) {
  need(matrix, role);
  check_dtype(matrix->dtype, kith::dtype_of<T>(), role);
  if (matrix->row_stride == 0 && matrix->col_stride != 0 && matrix->col_stride != 1)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} has col_stride {} but row_stride 0, which means packed rows", role, matrix->col_stride));
  const MatrixView<T> view(elements<T>(matrix->data, role), matrix->rows, matrix->cols,
                           matrix->row_stride == 0 ? matrix->cols : matrix->row_stride,
                           matrix->col_stride == 0 ? 1 : matrix->col_stride, memory_of(matrix->memory, role));
  api::check_view(view, role);
  return view;
}

// Room for rows × cols elements.
void check_capacity(std::int64_t capacity, std::int64_t rows, std::int64_t cols, const char* role);

template <class D>
D* room(const kith_array* out, std::int64_t rows, std::int64_t cols, const char* role) {
  need(out, role);
  check_dtype(out->dtype, kith::dtype_of<D>(), role);
  memory_of(out->memory, role);
  check_capacity(out->capacity, rows, cols, role);
  return &need(elements<D>(out->data, role), role);
}

// Room for k neighbors of each query.
template <class D>
NeighborsView<D> room(const kith_neighbors* out, std::int64_t queries, std::int64_t k) {
  need(out, "out");
  check_dtype(out->dtype, kith::dtype_of<D>(), "out");
  if (k < 1) throw Error(ErrorCode::invalid_argument, fmt::format("k = {}; it must be at least 1", k));
  check_capacity(out->capacity, queries, k, "out");
  if (out->certified != nullptr) check_capacity(out->certified_capacity, queries, 1, "certified");
  return {elements<std::int64_t>(out->ids, "ids"), elements<D>(out->distances, "distances"),
          memory_of(out->memory, "out"), out->certified};
}

// As snprintf does: kith.h.
void write_text(std::string_view text, char* buffer, std::size_t size, std::size_t* length);

}  // namespace kith::c
