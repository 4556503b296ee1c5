// A prepared base of host points.
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <variant>

#include "bindings.hpp"
#include "buffer.hpp"
#include "fork.hpp"
#include "kith/index.hpp"
#include "owned_array.hpp"
#include "radius.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

template <Element T>
using SharedIndex = std::shared_ptr<const kith::Index<T>>;

// Keeps the memory of the base. The index inside is made anew in a forked process, for one thread.
class HostIndex {
  void make(nb::handle progress) {
    visit_points(base_, [&]<Element T>(MatrixView<T> view) {
      index_ = watched(progress, [&] { return std::make_shared<const kith::Index<T>>(view, after_fork(options_)); });
    });
    generation_ = fork_generation();
  }

  template <class F>
  decltype(auto) visit(nb::handle progress, F&& f) {
    if (generation_ != fork_generation()) make(progress);
    const auto index = index_;  // stays while it is searched, whoever makes another
    return std::visit(std::forward<F>(f), index);
  }

 public:
  HostIndex(nb::handle base, const Options& options, nb::handle progress) : base_(base, false), options_(options) {
    make(progress);
  }

  SearchReport search(nb::handle queries, std::int64_t k, nb::handle distances, nb::handle ids, nb::handle progress) {
    const Buffer query_buffer(queries, false);
    const Buffer distance_buffer(distances, true);
    const Buffer id_buffer(ids, true);
    return visit(progress, [&]<Element T>(const SharedIndex<T>& index) {
      const MatrixView<T> view = query_buffer.view<T>();
      DistanceOf<T>* distances_out = distance_buffer.output<DistanceOf<T>>(view.rows * k);
      std::int64_t* ids_out = id_buffer.output<std::int64_t>(view.rows * k);
      return watched(progress, [&] { return index->search_into(view, k, {ids_out, distances_out}); });
    });
  }

  nb::tuple search_self(std::int64_t k, nb::handle progress) {
    return visit(progress, [&]<Element T>(const SharedIndex<T>& index) {
      auto found = watched(progress, [&] { return index->search_self(k); });
      const auto rows = static_cast<std::size_t>(found.queries);
      const auto cols = static_cast<std::size_t>(found.k);
      return nb::make_tuple(owned_array(std::move(found.distances), {rows, cols}),
                            owned_array(std::move(found.ids), {rows, cols}), std::move(found.report));
    });
  }

  nb::tuple search_radius(nb::handle queries, nb::handle radii, bool count_only, nb::handle progress) {
    const RadiusOutput output = count_only ? RadiusOutput::count_only : RadiusOutput::neighbors;
    return visit(progress, [&]<Element T>(const SharedIndex<T>& index) {
      const Buffer radius_buffer(radii, false);
      const std::span<const DistanceOf<T>> each = radii_of<DistanceOf<T>>(radius_buffer);
      if (queries.is_none())
        return radius_tuple(watched(progress, [&] { return index->search_radius_self(each, output); }));
      const Buffer query_buffer(queries, false);
      return radius_tuple(
          watched(progress, [&] { return index->search_radius(query_buffer.view<T>(), each, output); }));
    });
  }

  Plan explain(std::int64_t queries, std::int64_t k) {
    return visit(nb::none(), [&]<Element T>(const SharedIndex<T>& index) { return index->explain(queries, k); });
  }

 private:
  Buffer base_;
  Options options_;
  int generation_ = 0;
  std::variant<SharedIndex<float>, SharedIndex<double>, SharedIndex<std::uint8_t>, SharedIndex<std::int8_t>> index_;
};

}  // namespace

void bind_index(nb::module_& module) {
  nb::class_<HostIndex>(module, "HostIndex")
      .def(nb::init<nb::handle, const Options&, nb::handle>(), nb::arg("base"), nb::arg("options"),
           nb::arg("progress").none())
      .def("search", &HostIndex::search, nb::arg("queries"), nb::arg("k"), nb::arg("distances"), nb::arg("ids"),
           nb::arg("progress").none())
      .def("search_self", &HostIndex::search_self, nb::arg("k"), nb::arg("progress").none())
      .def("search_radius", &HostIndex::search_radius, nb::arg("queries").none(), nb::arg("radii"),
           nb::arg("count_only"), nb::arg("progress").none())
      .def("explain", &HostIndex::explain, nb::arg("queries"), nb::arg("k"));
}

}  // namespace kith::python
