// search, distances and explain.
#include "kith/search.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings.hpp"
#include "buffer.hpp"
#include "fork.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

// Distances and ids of queries × k, into memory that the caller has made.
SearchReport search_into(nb::handle base, nb::handle queries, std::int64_t k, const Options& options,
                         nb::handle distances, nb::handle ids, nb::handle progress) {
  const Buffer base_buffer(base, false);
  const Buffer query_buffer(queries, false);
  const Buffer distance_buffer(distances, true);
  const Buffer id_buffer(ids, true);
  return visit_points(base_buffer, [&]<Element T>(MatrixView<T> base_view) {
    const MatrixView<T> query_view = query_buffer.view<T>();
    DistanceOf<T>* distances_out = distance_buffer.output<DistanceOf<T>>(query_view.rows * k);
    std::int64_t* ids_out = id_buffer.output<std::int64_t>(query_view.rows * k);
    return watched(progress, [&] {
      return kith::search_into(base_view, query_view, k, {ids_out, distances_out}, after_fork(options));
    });
  });
}

nb::object distance_matrix(nb::handle base, nb::handle queries, const Options& options, nb::handle progress) {
  const Buffer base_buffer(base, false);
  const Buffer query_buffer(queries, false);
  return visit_points(base_buffer, [&]<Element T>(MatrixView<T> base_view) {
    return owned_array(
        watched(progress, [&] { return kith::distances(base_view, query_buffer.view<T>(), after_fork(options)); }));
  });
}

DType dtype_named(const std::string& name) {
  for (const DType dtype : {DType::float32, DType::float64, DType::uint8, DType::int8})
    if (name == to_string(dtype)) return dtype;
  throw nb::type_error(("dtype " + name + " is not one of float32, float64, uint8, int8").c_str());
}

}  // namespace

void bind_search(nb::module_& module) {
  module.def("search", &search_into, nb::arg("base"), nb::arg("queries"), nb::arg("k"), nb::arg("options"),
             nb::arg("distances"), nb::arg("ids"), nb::arg("progress").none());
  module.def("distances", &distance_matrix, nb::arg("base"), nb::arg("queries"), nb::arg("options"),
             nb::arg("progress").none());
  module.def(
      "explain",
      [](std::int64_t rows, std::int64_t queries, std::int64_t dims, std::int64_t k, const std::string& dtype,
         const Options& options) {
        return kith::explain({rows, queries, dims, k, dtype_named(dtype)}, options);
      },
      nb::arg("rows"), nb::arg("queries"), nb::arg("dims"), nb::arg("k"), nb::arg("dtype"), nb::arg("options"));
}

}  // namespace kith::python
