// Radius search without an index.
#include "radius.hpp"

#include "bindings.hpp"
#include "fork.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

nb::tuple search_radius(nb::handle base, nb::handle queries, nb::handle radii, bool count_only, const Options& options,
                        nb::handle progress) {
  const Buffer base_buffer(base, false);
  const Buffer query_buffer(queries, false);
  const Buffer radius_buffer(radii, false);
  const RadiusOutput output = count_only ? RadiusOutput::count_only : RadiusOutput::neighbors;
  return visit_points(base_buffer, [&]<Element T>(MatrixView<T> base_view) {
    const auto each = radii_of<DistanceOf<T>>(radius_buffer);
    return radius_tuple(watched(progress, [&] {
      return kith::search_radius<T>(base_view, query_buffer.view<T>(), each, output, after_fork(options));
    }));
  });
}

}  // namespace

void bind_radius(nb::module_& module) {
  module.def("search_radius", &search_radius, nb::arg("base"), nb::arg("queries"), nb::arg("radii"),
             nb::arg("count_only"), nb::arg("options"), nb::arg("progress").none());
}

}  // namespace kith::python
