// The names of reductions, and normals.
#include "kith/reduce.hpp"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "array.hpp"
#include "bindings.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

template <class D>
nb::object normals_of(MatrixView<D> covariances, std::int64_t dims) {
  return owned_array(watched(nb::none(), [&] {
    Matrix<D> packed(covariances.rows, covariances.cols);
    for (std::int64_t r = 0; r < covariances.rows; ++r)
      for (std::int64_t c = 0; c < covariances.cols; ++c) packed(r, c) = covariances(r, c);
    return kith::normals(packed, dims);
  }));
}

nb::object least_directions(nb::handle covariances, std::int64_t dims) {
  const Array array(covariances, false);
  if (array.type() == io::ElementType::float32) return normals_of(array.view<float>(), dims);
  if (array.type() == io::ElementType::float64) return normals_of(array.view<double>(), dims);
  throw nb::type_error("covariances are float32 or float64");
}

}  // namespace

void bind_reduce(nb::module_& module) {
  module.def("normals", &least_directions, nb::arg("covariances"), nb::arg("dims"));
  // The canonical name, or ValueError, and whether it needs values.
  module.def(
      "reduce_op",
      [](const std::string& name) {
        const ReduceOp op = parse_reduce_op(name);
        return nb::make_tuple(to_string(op), uses_values(op));
      },
      nb::arg("name"));
  module.def(
      "reduced_columns",
      [](const std::string& op, std::int64_t value_columns, std::int64_t dims) {
        return reduced_columns(parse_reduce_op(op), value_columns, dims);
      },
      nb::arg("op"), nb::arg("value_columns"), nb::arg("dims"));
}

}  // namespace kith::python
