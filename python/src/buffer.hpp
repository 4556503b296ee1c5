// buffer.hpp: memory that a Python object shows through the buffer protocol, held as long as this lives.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "kith/io.hpp"
#include "kith/matrix.hpp"

namespace kith::python {

class Buffer {
 public:
  Buffer(nb::handle object, bool writable);
  Buffer(Buffer&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();  // with the GIL held

  io::ElementType type() const { return type_of(view_); }
  int rank() const { return view_.ndim; }
  std::int64_t rows() const { return view_.ndim > 0 ? view_.shape[0] : 1; }
  std::int64_t cols() const { return view_.ndim > 1 ? view_.shape[1] : 1; }
  std::int64_t row_stride() const { return view_.ndim > 0 ? view_.strides[0] / view_.itemsize : 1; }
  std::int64_t col_stride() const { return view_.ndim > 1 ? view_.strides[1] / view_.itemsize : 1; }
  const void* data() const { return view_.buf; }

  // A dimension of one element may have any stride, and NumPy gives it some.
  template <Element T>
  MatrixView<T> view() const {
    return {static_cast<const T*>(view_.buf), rows(), cols(), rows() > 1 ? row_stride() : cols(),
            cols() > 1 ? col_stride() : 1};
  }
  // Throws ValueError unless it is packed and has that many elements of T.
  template <io::Scalar T>
  T* output(std::int64_t elements) const {
    require(io::element_type_of<T>(), elements);
    return static_cast<T*>(view_.buf);
  }

 private:
  static io::ElementType type_of(const Py_buffer& view);
  void require(io::ElementType type, std::int64_t elements) const;

  Py_buffer view_{};
};

// Calls f with the MatrixView of the buffer's element type.
template <class F>
decltype(auto) visit_points(const Buffer& buffer, F&& f) {
  switch (buffer.type()) {
    case io::ElementType::float32: return f(buffer.view<float>());
    case io::ElementType::float64: return f(buffer.view<double>());
    case io::ElementType::uint8: return f(buffer.view<std::uint8_t>());
    case io::ElementType::int8: return f(buffer.view<std::int8_t>());
    default: throw nb::type_error("points are float32, float64, uint8 or int8");
  }
}

}  // namespace kith::python
