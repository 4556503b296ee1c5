// array.hpp: the memory of an array of Python, held as long as this lives. Host memory comes by the buffer protocol,
// that of a device as a capsule of DLPack: of CUDA, or of host memory, which is the emulated device's.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "bindings.hpp"
#include "kith/io.hpp"
#include "kith/matrix.hpp"

namespace kith::python {

class Array {
 public:
  Array(nb::handle object, bool writable);
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array();  // with the GIL held

  io::ElementType type() const { return type_; }
  int rank() const { return rank_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t row_stride() const { return row_stride_; }  // in elements, as the other
  std::int64_t col_stride() const { return col_stride_; }
  const void* data() const { return data_; }
  Memory memory() const { return memory_; }
  int cuda_device() const { return cuda_device_; }  // -1 where it lies on none

  // Throws TypeError for elements of another type. A dimension of one element may have any stride, and NumPy gives it
  // some.
  template <Element T>
  MatrixView<T> view() const {
    require_type(io::element_type_of<T>());
    const std::int64_t row_stride = rows_ > 1 ? row_stride_ : cols_;
    return {static_cast<const T*>(data_), rows_, cols_, row_stride, cols_ > 1 ? col_stride_ : 1, memory_};
  }
  // Throws ValueError unless it is packed and has that many elements of T.
  template <io::Scalar T>
  T* output(std::int64_t elements) const {
    require_packed(io::element_type_of<T>(), elements);
    return static_cast<T*>(data_);
  }

 private:
  void take_buffer(nb::handle object, bool writable);
  void take_capsule(nb::handle object);
  void require_type(io::ElementType type) const;
  void require_packed(io::ElementType type, std::int64_t elements) const;

  void* data_ = nullptr;
  std::int64_t rows_ = 1;
  std::int64_t cols_ = 1;
  std::int64_t row_stride_ = 1;
  std::int64_t col_stride_ = 1;
  io::ElementType type_ = io::ElementType::float32;
  int rank_ = 0;
  Memory memory_ = Memory::host;
  int cuda_device_ = -1;
  Py_buffer buffer_{};             // of host memory
  nb::ndarray<nb::ro> capsule_{};  // of a device
};

// An argument that may be None.
class OptionalArray {
 public:
  explicit OptionalArray(nb::handle object, bool writable = false) {
    if (!object.is_none()) array_.emplace(object, writable);
  }
  const Array* get() const { return array_ ? &*array_ : nullptr; }
  // A null pointer for None.
  template <io::Scalar T>
  T* output(std::int64_t elements) const {
    return array_ ? array_->output<T>(elements) : nullptr;
  }

 private:
  std::optional<Array> array_;
};

// The CUDA device on which arrays lie, null pointers among them aside; -1 for none. Throws ValueError where they lie on
// several.
int cuda_device_of(std::initializer_list<const Array*> arrays);

// Calls f with the MatrixView of the array's element type.
template <class F>
decltype(auto) visit_points(const Array& array, F&& f) {
  switch (array.type()) {
    case io::ElementType::float32: return f(array.view<float>());
    case io::ElementType::float64: return f(array.view<double>());
    case io::ElementType::uint8: return f(array.view<std::uint8_t>());
    case io::ElementType::int8: return f(array.view<std::int8_t>());
    case io::ElementType::float16: return f(array.view<Float16>());
    case io::ElementType::bfloat16: return f(array.view<BFloat16>());
    default: throw nb::type_error("points are float32, float64, float16, bfloat16, uint8 or int8");
  }
}

}  // namespace kith::python
