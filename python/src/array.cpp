#include "array.hpp"

#include <bit>
#include <string>
#include <string_view>

#include "kith/error.hpp"

namespace kith::python {
namespace {

// The letter of a format of Python's module struct, without a prefix that says this machine's byte order: arrays that
// were read from a file often spell it out. A prefix also fixes the size of 'l', so that the size of integers is asked
// of the buffer.
std::string_view without_native_order(std::string_view format) {
  constexpr std::string_view kNative = std::endian::native == std::endian::little ? "@=<" : "@=>!";
  if (!format.empty() && kNative.find(format.front()) != std::string_view::npos) format.remove_prefix(1);
  return format;
}

// NumPy has no bfloat16: arrays of it come as records of their bits, whose field has the name (BFLOAT16 of _arrays.py).
constexpr std::string_view kBFloat16Bits = "T{H:bfloat16:}";

io::ElementType type_of(const Py_buffer& buffer) {
  const std::string_view whole = buffer.format != nullptr ? buffer.format : "B";
  const std::string_view letter = without_native_order(whole);
  if (letter == "f") return io::ElementType::float32;
  if (letter == "d") return io::ElementType::float64;
  if (letter == "e") return io::ElementType::float16;
  if (letter == kBFloat16Bits) return io::ElementType::bfloat16;
  if (letter == "B" || letter == "?") return io::ElementType::uint8;
  if (letter == "b") return io::ElementType::int8;
  if (letter == "i" || letter == "l" || letter == "q") {
    if (buffer.itemsize == 4) return io::ElementType::int32;
    if (buffer.itemsize == 8) return io::ElementType::int64;
  }
  throw nb::type_error(("elements of format '" + std::string(whole) + "' are not supported").c_str());
}

constexpr nb::dlpack::dtype kDLPackFloat16 = {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
constexpr nb::dlpack::dtype kDLPackBFloat16 = {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};

io::ElementType type_of(nb::dlpack::dtype dtype) {
  if (dtype == nb::dtype<float>()) return io::ElementType::float32;
  if (dtype == nb::dtype<double>()) return io::ElementType::float64;
  if (dtype == kDLPackFloat16) return io::ElementType::float16;
  if (dtype == kDLPackBFloat16) return io::ElementType::bfloat16;
  if (dtype == nb::dtype<std::uint8_t>()) return io::ElementType::uint8;
  if (dtype == nb::dtype<std::int8_t>()) return io::ElementType::int8;
  if (dtype == nb::dtype<std::int64_t>()) return io::ElementType::int64;
  throw nb::type_error("elements on a device are float32, float64, float16, bfloat16, uint8, int8 or int64");
}

}  // namespace

Array::Array(nb::handle object, bool writable) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) {
    take_buffer(object, writable);
  } else {
    take_capsule(object);
  }
}

Array::~Array() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

void Array::take_buffer(nb::handle object, bool writable) {
  const int flags = writable ? PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE : PyBUF_STRIDES | PyBUF_FORMAT;
  if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  data_ = buffer_.buf;
  rank_ = buffer_.ndim;
  if (rank_ > 0) {
    rows_ = buffer_.shape[0];
    row_stride_ = buffer_.strides[0] / buffer_.itemsize;
  }
  if (rank_ > 1) {
    cols_ = buffer_.shape[1];
    col_stride_ = buffer_.strides[1] / buffer_.itemsize;
  }
  type_ = type_of(buffer_);
}

void Array::take_capsule(nb::handle object) {
  capsule_ = nb::cast<nb::ndarray<nb::ro>>(object);
  data_ = const_cast<void*>(capsule_.data());  // NOLINT: an output is the caller's own
  rank_ = static_cast<int>(capsule_.ndim());
  if (rank_ > 0) {
    rows_ = static_cast<std::int64_t>(capsule_.shape(0));
    row_stride_ = capsule_.stride(0);
  }
  if (rank_ > 1) {
    cols_ = static_cast<std::int64_t>(capsule_.shape(1));
    col_stride_ = capsule_.stride(1);
  }
  type_ = type_of(capsule_.dtype());
  memory_ = Memory::device;
  if (capsule_.device_type() != nb::device::cpu::value) cuda_device_ = capsule_.device_id();
}

void Array::require_type(io::ElementType type) const {
  if (type_ != type)
    throw nb::type_error(
        (std::string("an array is ") + io::to_string(type_) + " where the base asks for " + io::to_string(type))
            .c_str());
}

void Array::require_packed(io::ElementType type, std::int64_t elements) const {
  const bool packed = (cols_ == 1 || col_stride_ == 1) && (rows_ <= 1 || row_stride_ == cols_);
  if (type_ != type || !packed || rows_ * cols_ != elements)
    throw nb::value_error(
        ("an output must be packed and hold " + std::to_string(elements) + " elements of " + io::to_string(type))
            .c_str());
}

int cuda_device_of(std::initializer_list<const Array*> arrays) {
  int found = -1;
  for (const Array* array : arrays) {
    if (array == nullptr || array->cuda_device() < 0 || array->cuda_device() == found) continue;
    if (found >= 0)
      throw Error(ErrorCode::invalid_argument, "one array lies on CUDA device " + std::to_string(found) +
                                                   ", another on " + std::to_string(array->cuda_device()) +
                                                   "; bring them together");
    found = array->cuda_device();
  }
  return found;
}

}  // namespace kith::python
