#include "buffer.hpp"

#include <string_view>

namespace kith::python {

Buffer::Buffer(nb::handle object, bool writable) {
  const int flags = writable ? PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE : PyBUF_STRIDES | PyBUF_FORMAT;
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(view_, other.view_);
  return *this;
}

Buffer::~Buffer() {
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

io::ElementType Buffer::type_of(const Py_buffer& view) {
  const std::string_view format = view.format != nullptr ? view.format : "B";
  if (format == "f") return io::ElementType::float32;
  if (format == "d") return io::ElementType::float64;
  if (format == "B" || format == "?") return io::ElementType::uint8;
  if (format == "b") return io::ElementType::int8;
  if (format == "i") return io::ElementType::int32;
  if (format == "l" || format == "q") return io::ElementType::int64;
  throw nb::type_error(("elements of format '" + std::string(format) + "' are not supported").c_str());
}

void Buffer::require(io::ElementType type, std::int64_t elements) const {
  if (this->type() != type || PyBuffer_IsContiguous(&view_, 'C') == 0 || view_.len != elements * view_.itemsize)
    throw nb::value_error(
        ("an output must be packed and hold " + std::to_string(elements) + " elements of " + io::to_string(type))
            .c_str());
}

}  // namespace kith::python
