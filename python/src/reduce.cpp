// Reductions over neighbors, and normals.
#include "kith/reduce.hpp"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "bindings.hpp"
#include "buffer.hpp"
#include "fork.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

// `values` is None where the operation has none.
nb::object reduce_neighbors(nb::handle base, nb::handle queries, std::int64_t k, nb::handle values,
                            const std::string& op, const Options& options, nb::handle progress) {
  const ReduceOp operation = parse_reduce_op(op);
  const Buffer base_buffer(base, false);
  const Buffer query_buffer(queries, false);
  const Buffer value_buffer(values.is_none() ? base : values, false);
  return visit_points(base_buffer, [&]<Element T>(MatrixView<T> base_view) {
    using D = DistanceOf<T>;
    const MatrixView<D> value_view = values.is_none() ? MatrixView<D>{} : value_buffer.view<D>();
    return owned_array(watched(progress, [&] {
      return reduce<T>(base_view, query_buffer.view<T>(), k, value_view, operation, after_fork(options)).values;
    }));
  });
}

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
  const Buffer buffer(covariances, false);
  if (buffer.type() == io::ElementType::float32) return normals_of(buffer.view<float>(), dims);
  if (buffer.type() == io::ElementType::float64) return normals_of(buffer.view<double>(), dims);
  throw nb::type_error("covariances are float32 or float64");
}

}  // namespace

void bind_reduce(nb::module_& module) {
  module.def("reduce", &reduce_neighbors, nb::arg("base"), nb::arg("queries"), nb::arg("k"), nb::arg("values").none(),
             nb::arg("op"), nb::arg("options"), nb::arg("progress").none());
  module.def("normals", &least_directions, nb::arg("covariances"), nb::arg("dims"));
  // The canonical name, or ValueError, and whether it needs values.
  module.def(
      "reduce_op",
      [](const std::string& name) {
        const ReduceOp op = parse_reduce_op(name);
        return nb::make_tuple(to_string(op), uses_values(op));
      },
      nb::arg("name"));
}

}  // namespace kith::python
