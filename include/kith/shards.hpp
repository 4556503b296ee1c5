// Search of a base that lies in shards: on several devices or machines, in files, or in whatever else hands out parts.
//
// A distance depends on its query and its point alone, with the same bits on every backend, and no two neighbors of a
// query have the same (distance, id). So the k nearest of a base are the first k of those of its shards, however it is
// cut and in whatever order shards are searched; a shard that is searched twice changes nothing. Shards may have fewer
// than k points. Two searches are not sums of their shards' and are refused: method shifted-sort, whose neighbors
// depend on all points, and metric minkowski where a CPU and a device search shards of one base, for their powers
// differ in the last bit.
#pragma once

#include <cstdint>
#include <span>

#include "kith/export.hpp"
#include "kith/index.hpp"
#include "kith/matrix.hpp"
#include "kith/radius.hpp"
#include "kith/search.hpp"

namespace kith {

// The ids of a shard's rows in the whole base.
struct ShardIds {
  std::int64_t first = 0;               // first, first + 1, …
  std::span<const std::int64_t> ids{};  // unless these are given: one for each row, ascending, any but −1
};

// What a search of a shard goes by, besides its queries.
template <class D>
struct ShardQuery {
  std::int64_t k = 0;
  ShardIds ids{};
  // The id of each query where it is a point of the base, which is no neighbor of its own; or none.
  std::span<const std::int64_t> self{};
  // What other shards gave, k places for each query as search_shard() returns them, or null: the answer is of these
  // shards too. Points that are farther away than the last place of a list need not be looked at.
  const Neighbors<D>* found = nullptr;
};

// The k nearest of each query in a shard and in what was found before, sorted by (distance, id); places for which there
// are no points have id −1 and an infinite distance (inner_product: −∞). Host memory.
template <Element T>
KITH_API Neighbors<DistanceOf<T>> search_shard(const Index<T>& shard, MatrixView<T> queries,
                                               const ShardQuery<DistanceOf<T>>& query);

// All points within the radii, with their ids in the whole base.
template <Element T>
KITH_API RadiusNeighbors<DistanceOf<T>> search_shard_radius(const Index<T>& shard, MatrixView<T> queries,
                                                            std::span<const DistanceOf<T>> radii, const ShardIds& ids,
                                                            std::span<const std::int64_t> self = {});

// Lists of the same queries, places_per_query each, sorted by (distance, id); −1 is no point.
template <class D>
struct NeighborLists {
  const std::int64_t* ids = nullptr;
  const D* distances = nullptr;
  std::int64_t k = 0;
};

// The first k of all lists for each query, each id once. An id with two distances is an Error(bad_data): then its point
// was changed between two searches. `out` has queries × k places. What the order is, the metric says.
template <class D>
KITH_API void merge_neighbors(std::span<const NeighborLists<D>> lists, std::int64_t queries, std::int64_t k,
                              const Metric& metric, NeighborsView<D> out, int threads = 0);

// The same of at most 32 lists, and an answer, in memory of the current device of a backend: enqueued on the stream, a
// cudaStream_t. Nobody waits for what it finds, so an id with two distances has two places there.
template <class D>
KITH_API void merge_neighbors_on_device(std::span<const NeighborLists<D>> lists, std::int64_t queries, std::int64_t k,
                                        const Metric& metric, NeighborsView<D> out, Backend backend, void* stream);

// The same of radius searches: lists are joined and sorted, each id counts once; of numbers alone, sums.
template <class D>
KITH_API RadiusNeighbors<D> merge_radius(std::span<const RadiusNeighbors<D>> parts, const Metric& metric);

}  // namespace kith
