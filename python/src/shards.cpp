// Searches of a shard, and lists of shards put together. Answers are NumPy arrays; lists come as such.
#include "kith/shards.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "bindings.hpp"
#include "cuda_streams.hpp"
#include "kith/error.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

std::span<const std::int64_t> ids_in(const Array& array) {
  return {array.output<std::int64_t>(array.rows()), static_cast<std::size_t>(array.rows())};
}

// None for no ids.
std::span<const std::int64_t> ids_in(const OptionalArray& array) {
  return array.get() != nullptr ? ids_in(*array.get()) : std::span<const std::int64_t>();
}

// What other shards gave, copied out of the caller's arrays; both are None for nothing.
template <class D>
Neighbors<D> found_before(const OptionalArray& distances, const OptionalArray& ids, std::int64_t queries,
                          std::int64_t k) {
  Neighbors<D> found;
  if (ids.get() == nullptr) return found;
  const std::int64_t count = queries * k;
  const std::int64_t* first_id = ids.output<std::int64_t>(count);
  const D* first_distance = distances.output<D>(count);
  found.queries = queries;
  found.k = k;
  found.ids.assign(first_id, first_id + count);
  found.distances.assign(first_distance, first_distance + count);
  return found;
}

template <class D>
nb::tuple answer_of(Neighbors<D> found) {
  const auto rows = static_cast<std::size_t>(found.queries);
  const auto places = static_cast<std::size_t>(found.k);
  return nb::make_tuple(std::move(found.report), owned_array(std::move(found.distances), {rows, places}),
                        owned_array(std::move(found.ids), {rows, places}));
}

template <class D>
nb::tuple answer_of(RadiusNeighbors<D> found) {
  return nb::make_tuple(std::move(found.report), owned_array(std::move(found.distances)),
                        owned_array(std::move(found.ids)), owned_array(std::move(found.offsets)));
}

// (report, distances, ids), queries × k.
nb::tuple search_block(nb::handle base, nb::handle queries, const Options& options, std::int64_t k,
                       std::int64_t first_id, nb::handle ids, nb::handle self, nb::handle found_distances,
                       nb::handle found_ids, std::uintptr_t stream) {
  const Array base_array(base, false);
  const Array query_array(queries, false);
  const OptionalArray id_array(ids);
  const OptionalArray self_array(self);
  const OptionalArray distances_before(found_distances);
  const OptionalArray ids_before(found_ids);
  const int device = cuda_device_of({&base_array, &query_array});
  return visit_points(base_array, [&]<Element T>(MatrixView<T> points) {
    using D = DistanceOf<T>;
    const MatrixView<T> asked = query_array.view<T>();
    const Neighbors<D> before = found_before<D>(distances_before, ids_before, asked.rows, k);
    const ShardQuery<D> query{k, {first_id, ids_in(id_array)}, ids_in(self_array), before.k > 0 ? &before : nullptr};
    return answer_of(watched(nb::none(), [&] {
      const CurrentDevice current(device);
      const kith::Index<T> shard(points, options, cuda_stream(stream));
      return search_shard(shard, asked, query);
    }));
  });
}

// (report, distances, ids, offsets)
nb::tuple search_block_radius(nb::handle base, nb::handle queries, const Options& options, nb::handle radii,
                              std::int64_t first_id, nb::handle ids, nb::handle self, std::uintptr_t stream) {
  const Array base_array(base, false);
  const Array query_array(queries, false);
  const Array radius_array(radii, false);
  const OptionalArray id_array(ids);
  const OptionalArray self_array(self);
  const int device = cuda_device_of({&base_array, &query_array});
  return visit_points(base_array, [&]<Element T>(MatrixView<T> points) {
    using D = DistanceOf<T>;
    const MatrixView<T> asked = query_array.view<T>();
    const std::span<const D> each(radius_array.output<D>(radius_array.rows()),
                                  static_cast<std::size_t>(radius_array.rows()));
    return answer_of(watched(nb::none(), [&] {
      const CurrentDevice current(device);
      const kith::Index<T> shard(points, options, cuda_stream(stream));
      return search_shard_radius(shard, asked, each, {first_id, ids_in(id_array)}, ids_in(self_array));
    }));
  });
}

// Calls f(D{}) with the type of the distances.
template <class F>
nb::tuple visit_distances(const Array& distances, F&& f) {
  if (distances.type() == io::ElementType::float64) return f(double{});
  return f(float{});
}

// (distances, ids) of lists of (distances, ids).
nb::tuple merge(const nb::list& lists, std::int64_t k, const std::string& metric, int threads) {
  std::deque<Array> held;
  for (const nb::handle list : lists) {
    held.emplace_back(list[0], false);
    held.emplace_back(list[1], false);
  }
  if (held.empty()) throw Error(ErrorCode::invalid_argument, "there are no lists to merge");
  const Metric order = parse_metric(metric);
  return visit_distances(held[0], [&]<class D>(D) {
    const std::int64_t queries = held[0].rows();
    std::vector<NeighborLists<D>> parts;
    for (std::size_t i = 0; i < held.size(); i += 2) {
      const std::int64_t places = held[i].cols();
      parts.push_back(
          {held[i + 1].output<std::int64_t>(queries * places), held[i].output<D>(queries * places), places});
    }
    Neighbors<D> merged;
    merged.queries = queries;
    merged.k = k;
    merged.ids.resize(static_cast<std::size_t>(queries * k));
    merged.distances.resize(static_cast<std::size_t>(queries * k));
    watched(nb::none(), [&] {
      merge_neighbors<D>(parts, queries, k, order, {merged.ids.data(), merged.distances.data()}, threads);
    });
    const auto rows = static_cast<std::size_t>(queries);
    const auto places = static_cast<std::size_t>(k);
    return nb::make_tuple(owned_array(std::move(merged.distances), {rows, places}),
                          owned_array(std::move(merged.ids), {rows, places}));
  });
}

// (distances, ids, offsets) of lists of (distances, ids, offsets).
nb::tuple merge_lists(const nb::list& lists, const std::string& metric) {
  std::deque<Array> held;
  for (const nb::handle list : lists) {
    for (int i = 0; i < 3; ++i) held.emplace_back(list[i], false);
  }
  if (held.empty()) throw Error(ErrorCode::invalid_argument, "there are no lists to merge");
  const Metric order = parse_metric(metric);
  return visit_distances(held[0], [&]<class D>(D) {
    std::vector<RadiusNeighbors<D>> parts(held.size() / 3);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const D* distances = held[3 * i].output<D>(held[3 * i].rows());
      const std::span<const std::int64_t> ids = ids_in(held[3 * i + 1]);
      const std::span<const std::int64_t> offsets = ids_in(held[3 * i + 2]);
      parts[i].queries = static_cast<std::int64_t>(offsets.size()) - 1;
      parts[i].offsets.assign(offsets.begin(), offsets.end());
      parts[i].ids.assign(ids.begin(), ids.end());
      parts[i].distances.assign(distances, distances + ids.size());
    }
    RadiusNeighbors<D> merged = watched(nb::none(), [&] { return merge_radius<D>(parts, order); });
    return nb::make_tuple(owned_array(std::move(merged.distances)), owned_array(std::move(merged.ids)),
                          owned_array(std::move(merged.offsets)));
  });
}

}  // namespace

void bind_shards(nb::module_& module) {
  module.def("search_shard", &search_block, nb::arg("base"), nb::arg("queries"), nb::arg("options"), nb::arg("k"),
             nb::arg("first_id"), nb::arg("ids").none(), nb::arg("self_ids").none(), nb::arg("found_distances").none(),
             nb::arg("found_ids").none(), nb::arg("stream"));
  module.def("search_shard_radius", &search_block_radius, nb::arg("base"), nb::arg("queries"), nb::arg("options"),
             nb::arg("radii"), nb::arg("first_id"), nb::arg("ids").none(), nb::arg("self_ids").none(),
             nb::arg("stream"));
  module.def("merge_neighbors", &merge, nb::arg("lists"), nb::arg("k"), nb::arg("metric"), nb::arg("threads"));
  module.def("merge_radius", &merge_lists, nb::arg("lists"), nb::arg("metric"));
}

}  // namespace kith::python
