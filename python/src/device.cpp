// Arrays that lie on a CUDA device, and what is done there with them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "bindings.hpp"
#include "cuda_streams.hpp"
#include "kith/error.hpp"
#include "kith/index.hpp"
#include "topk.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

// A matrix on a device, row-major; `array` keeps its memory. Strides count elements.
struct DeviceArray {
  std::uintptr_t data = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::string dtype;
  int device = 0;
  nb::ndarray<nb::ro> array;

  template <class T>
  T* elements() const {
    return reinterpret_cast<T*>(data);  // NOLINT: an address that came as a number
  }
  template <class T>
  MatrixView<T> view() const {
    return MatrixView<T>::on_device(elements<const T>(), rows, cols, row_stride);
  }
};

std::string dtype_name(nb::dlpack::dtype dtype) {
  const auto code = static_cast<nb::dlpack::dtype_code>(dtype.code);
  const char* kind = code == nb::dlpack::dtype_code::Float  ? "float"
                     : code == nb::dlpack::dtype_code::Int  ? "int"
                     : code == nb::dlpack::dtype_code::UInt ? "uint"
                                                            : "other";
  return kind + std::to_string(dtype.bits);
}

// From what __dlpack__() returned.
DeviceArray from_dlpack(const nb::ndarray<nb::ro>& array) {
  if (array.ndim() != 2) throw nb::value_error("a matrix on a device must have two dimensions");
  DeviceArray made;
  made.data = reinterpret_cast<std::uintptr_t>(array.data());  // NOLINT: see elements()
  made.rows = static_cast<std::int64_t>(array.shape(0));
  made.cols = static_cast<std::int64_t>(array.shape(1));
  made.row_stride = made.rows > 1 ? array.stride(0) : made.cols;
  made.dtype = dtype_name(array.dtype());
  made.device = array.device_id();
  made.array = array;
  return made;
}

// Calls f with a null pointer to the elements' type.
template <class F>
decltype(auto) visit_dtype(const DeviceArray& array, F&& f) {
  if (array.dtype == "float32") return f(static_cast<float*>(nullptr));
  if (array.dtype == "float64") return f(static_cast<double*>(nullptr));
  throw nb::type_error(("points on a device are float32 or float64, not " + array.dtype).c_str());
}

void require_same(const DeviceArray& base, const DeviceArray& other, const char* name) {
  if (other.device != base.device)
    throw Error(ErrorCode::invalid_argument, std::string(name) + " lies on device " + std::to_string(other.device) +
                                                 " but the base on device " + std::to_string(base.device));
  if (other.dtype != base.dtype)
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + " is " + other.dtype + " but the base is " + base.dtype);
}

void* handle(std::uintptr_t stream) {
  return reinterpret_cast<void*>(stream);  // NOLINT: a handle that came as a number
}

template <class T>
using SharedDeviceIndex = std::shared_ptr<const kith::Index<T>>;

class DeviceIndex {
 public:
  DeviceIndex(DeviceArray base, const Options& options, std::uintptr_t stream) : base_(std::move(base)) {
    visit_dtype(base_, [&]<class T>(T*) {
      index_ = watched(nb::none(), [&] {
        const CurrentDevice current(base_.device);
        return std::make_shared<const kith::Index<T>>(base_.view<T>(), options, handle(stream));
      });
    });
  }
  DeviceIndex(const DeviceIndex&) = delete;
  DeviceIndex& operator=(const DeviceIndex&) = delete;
  // Searches may still be under way on some stream.
  ~DeviceIndex() {
    try {
      const nb::gil_scoped_release released;
      const CurrentDevice current(base_.device);
      drain_device();
      index_ = SharedDeviceIndex<float>();
    } catch (const Error&) {
      index_ = SharedDeviceIndex<float>();  // no device: nothing is under way
    }
  }

  // Enqueued on the stream; see kith::Index.
  SearchReport search(const DeviceArray& queries, std::int64_t k, const DeviceArray& distances, const DeviceArray& ids,
                      std::uintptr_t stream) const {
    require_queries(queries);
    return std::visit(
        [&]<class T>(const SharedDeviceIndex<T>& index) {
          return watched(nb::none(), [&] {
            const CurrentDevice current(base_.device);
            return index->search_into(queries.view<T>(), k,
                                      {ids.elements<std::int64_t>(), distances.elements<T>(), Memory::device},
                                      handle(stream));
          });
        },
        index_);
  }

  // The same; `values` is null where the operation has none.
  SearchReport reduce(const DeviceArray& queries, std::int64_t k, const std::string& op, const DeviceArray* values,
                      const DeviceArray& out, std::uintptr_t stream) const {
    const ReduceOp operation = parse_reduce_op(op);
    require_queries(queries);
    if (values != nullptr) {
      require_same(base_, *values, "values");
      if (values->rows != base_.rows)
        throw Error(ErrorCode::invalid_argument, "values has " + std::to_string(values->rows) + " rows; the " +
                                                     std::to_string(base_.rows) + " base points have one each");
    }
    const DeviceArray given = values != nullptr ? *values : DeviceArray();
    return std::visit(
        [&]<class T>(const SharedDeviceIndex<T>& index) {
          return watched(nb::none(), [&] {
            const CurrentDevice current(base_.device);
            return index->reduce_into(queries.view<T>(), k, given.view<T>(), operation,
                                      {out.elements<T>(), Memory::device}, handle(stream));
          });
        },
        index_);
  }

  const DeviceArray& base() const { return base_; }

 private:
  void require_queries(const DeviceArray& queries) const {
    require_same(base_, queries, "queries");
    if (queries.cols != base_.cols)
      throw Error(ErrorCode::invalid_argument, "the base has " + std::to_string(base_.cols) +
                                                   " dimensions but the queries have " + std::to_string(queries.cols));
  }

  DeviceArray base_;
  std::variant<SharedDeviceIndex<float>, SharedDeviceIndex<double>> index_;
};

void device_topk(const DeviceArray& matrix, std::int64_t k, bool largest, const std::string& output,
                 const std::string& backend, const std::string& method, std::int64_t memory, const DeviceArray& values,
                 const DeviceArray& ids, std::uintptr_t stream) {
  const TopkOptions options = topk_options(largest, output, backend, method, 0, memory);
  visit_dtype(matrix, [&]<class T>(T*) {
    watched(nb::none(), [&] {
      const CurrentDevice current(matrix.device);
      topk_into(matrix.view<T>(), k, {values.elements<T>(), ids.elements<std::int64_t>(), Memory::device}, options,
                handle(stream));
    });
  });
}

}  // namespace

void bind_device(nb::module_& module) {
  nb::class_<DeviceArray>(module, "DeviceArray")
      .def_static("from_dlpack", &from_dlpack, nb::arg("capsule"))
      .def_ro("data", &DeviceArray::data)
      .def_ro("rows", &DeviceArray::rows)
      .def_ro("cols", &DeviceArray::cols)
      .def_ro("row_stride", &DeviceArray::row_stride)
      .def_ro("dtype", &DeviceArray::dtype)
      .def_ro("device", &DeviceArray::device);

  nb::class_<DeviceIndex>(module, "DeviceIndex")
      .def(nb::init<DeviceArray, const Options&, std::uintptr_t>(), nb::arg("base"), nb::arg("options"),
           nb::arg("stream"))
      .def("search", &DeviceIndex::search, nb::arg("queries"), nb::arg("k"), nb::arg("distances"), nb::arg("ids"),
           nb::arg("stream"))
      .def("reduce", &DeviceIndex::reduce, nb::arg("queries"), nb::arg("k"), nb::arg("op"), nb::arg("values").none(),
           nb::arg("out"), nb::arg("stream"))
      .def_prop_ro("base", &DeviceIndex::base, nb::rv_policy::copy);

  module.def("device_topk", &device_topk, nb::arg("matrix"), nb::arg("k"), nb::arg("largest"), nb::arg("output"),
             nb::arg("backend"), nb::arg("method"), nb::arg("memory"), nb::arg("values"), nb::arg("ids"),
             nb::arg("stream"));
  module.def(
      "synchronize",
      [](int device, std::uintptr_t stream) {
        const nb::gil_scoped_release released;
        const CurrentDevice current(device);
        synchronize(stream);
      },
      nb::arg("device"), nb::arg("stream"));
}

}  // namespace kith::python
