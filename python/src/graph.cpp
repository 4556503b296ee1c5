// The k-NN graph.
#include "kith/graph.hpp"

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

// (indptr, indices, data, report)
nb::tuple make_graph(nb::handle points, std::int64_t k, const Options& options, const std::string& symmetrize,
                     nb::handle progress) {
  const Buffer buffer(points, false);
  const Symmetrize how = parse_symmetrize(symmetrize);
  return visit_points(buffer, [&]<Element T>(MatrixView<T> view) {
    auto made = watched(progress, [&] { return graph(view, k, how, after_fork(options)); });
    return nb::make_tuple(owned_array(std::move(made.indptr)), owned_array(std::move(made.indices)),
                          owned_array(std::move(made.data)), std::move(made.report));
  });
}

}  // namespace

void bind_graph(nb::module_& module) {
  module.def("graph", &make_graph, nb::arg("points"), nb::arg("k"), nb::arg("options"), nb::arg("symmetrize"),
             nb::arg("progress").none());
}

}  // namespace kith::python
