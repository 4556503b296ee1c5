// search, distances and explain without an index.
#include "kith/search.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "array.hpp"
#include "bindings.hpp"
#include "cuda_streams.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

// Distances and ids of queries × k, and flags of certified queries unless these are None, into memory that the caller
// has made.
SearchReport search_into(nb::handle base, nb::handle queries, const Options& options, std::int64_t k,
                         nb::handle distances, nb::handle ids, nb::handle certified, std::uintptr_t stream,
                         nb::handle progress) {
  const Array base_array(base, false);
  const Array query_array(queries, false);
  const Array distances_out(distances, true);
  const Array ids_out(ids, true);
  const OptionalArray certified_out(certified, true);
  const int device = cuda_device_of({&base_array, &query_array, &distances_out, &ids_out});
  return visit_points(base_array, [&]<Element T>(MatrixView<T> base_view) {
    using D = DistanceOf<T>;
    const MatrixView<T> query_view = query_array.view<T>();
    const std::int64_t count = query_view.rows * k;
    const NeighborsView<D> out{ids_out.output<std::int64_t>(count), distances_out.output<D>(count), ids_out.memory(),
                               certified_out.output<std::uint8_t>(query_view.rows)};
    return watched(progress, [&] {
      const CurrentDevice current(device);
      return kith::search_into(base_view, query_view, k, out, options, cuda_stream(stream));
    });
  });
}

// The distances of queries × base, into host memory that the caller has made.
void distances_into(nb::handle base, nb::handle queries, nb::handle distances, const Options& options,
                    std::uintptr_t stream, nb::handle progress) {
  const Array base_array(base, false);
  const Array query_array(queries, false);
  const Array out_array(distances, true);
  const int device = cuda_device_of({&base_array, &query_array});
  visit_points(base_array, [&]<Element T>(MatrixView<T> base_view) {
    const MatrixView<T> query_view = query_array.view<T>();
    auto* out = out_array.output<DistanceOf<T>>(query_view.rows * base_view.rows);
    watched(progress, [&] {
      const CurrentDevice current(device);
      kith::distances_into(base_view, query_view, out, options, cuda_stream(stream));
    });
  });
}

DType dtype_named(const std::string& name) {
  std::string names;
  for (const DType dtype :
       {DType::float32, DType::float64, DType::uint8, DType::int8, DType::float16, DType::bfloat16}) {
    if (name == to_string(dtype)) return dtype;
    names += (names.empty() ? "" : ", ") + std::string(to_string(dtype));
  }
  throw nb::type_error(("dtype " + name + " is not one of " + names).c_str());
}

}  // namespace

void bind_search(nb::module_& module) {
  module.def("search", &search_into, nb::arg("base"), nb::arg("queries"), nb::arg("options"), nb::arg("k"),
             nb::arg("distances"), nb::arg("ids"), nb::arg("certified").none(), nb::arg("stream"),
             nb::arg("progress").none());
  module.def("distances", &distances_into, nb::arg("base"), nb::arg("queries"), nb::arg("distances"),
             nb::arg("options"), nb::arg("stream"), nb::arg("progress").none());
  module.def(
      "explain",
      [](std::int64_t rows, std::int64_t queries, std::int64_t dims, std::int64_t k, const std::string& dtype,
         const Options& options) {
        return kith::explain({rows, queries, dims, k, dtype_named(dtype)}, options);
      },
      nb::arg("rows"), nb::arg("queries"), nb::arg("dims"), nb::arg("k"), nb::arg("dtype"), nb::arg("options"));
  module.def(
      "explain_on",
      [](std::int64_t rows, std::int64_t queries, std::int64_t dims, std::int64_t k, const std::string& dtype,
         const Options& options, const std::string& device) {
        return kith::explain({rows, queries, dims, k, dtype_named(dtype)}, options, device);
      },
      nb::arg("rows"), nb::arg("queries"), nb::arg("dims"), nb::arg("k"), nb::arg("dtype"), nb::arg("options"),
      nb::arg("device"));
}

}  // namespace kith::python
