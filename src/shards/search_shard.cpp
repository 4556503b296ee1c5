// search_shard.cpp: an index searched as one shard of a larger base.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "api/index_state.hpp"
#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "kith/shards.hpp"

namespace kith {
namespace {

void check_ids(const ShardIds& ids, std::int64_t rows) {
  if (ids.ids.empty()) {
    if (ids.first < 0 || ids.first > std::numeric_limits<std::int64_t>::max() - rows)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the first id of a shard of {} rows is {}; ids are 0 to 2^63 - 1", rows, ids.first));
    return;
  }
  const auto count = static_cast<std::int64_t>(ids.ids.size());
  if (count != rows)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} ids for {} rows of a shard", count, rows));
  for (std::size_t i = 0; i < ids.ids.size(); ++i) {
    if (ids.ids[i] == core::kNoNeighbor)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("row {} of a shard has id -1, which stands for no point", i));
    if (i > 0 && ids.ids[i - 1] >= ids.ids[i])
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("ids of a shard must ascend; row {} has id {} after {}", i, ids.ids[i], ids.ids[i - 1]));
  }
}

// What cannot be told from shards.
template <Element T>
void check_shard(const Index<T>& shard, const MatrixView<T>& queries, std::span<const std::int64_t> self) {
  if (shard.options().method == Method::shifted_sort)
    throw Error(ErrorCode::invalid_argument,
                "method shifted-sort cannot search shards: its neighbors depend on all points of the base");
  if (queries.memory == Memory::device)
    throw Error(ErrorCode::invalid_argument, "queries of a shard on a device; they must be in host memory");
  if (!self.empty() && static_cast<std::int64_t>(self.size()) != queries.rows)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} own ids for {} queries", self.size(), queries.rows));
}

std::int64_t id_of(const ShardIds& ids, std::int64_t row) {
  return ids.ids.empty() ? ids.first + row : ids.ids[static_cast<std::size_t>(row)];
}

// The last distance of each list that is full; no limit where one is not.
template <class D>
std::vector<D> limits_of(const Neighbors<D>& found) {
  std::vector<D> limits(static_cast<std::size_t>(found.queries));
  for (std::size_t q = 0; q < limits.size(); ++q) {
    const std::size_t last = (q + 1) * static_cast<std::size_t>(found.k) - 1;
    limits[q] = found.ids[last] == core::kNoNeighbor ? std::numeric_limits<D>::infinity() : found.distances[last];
  }
  return limits;
}

template <class D>
void check_found(const Neighbors<D>& found, std::int64_t queries, std::int64_t k) {
  const auto places = static_cast<std::size_t>(queries * k);
  if (found.queries != queries || found.k != k || found.ids.size() != places || found.distances.size() != places)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("what was found before has {} × {} places; {} queries and k = {} need {} × {}",
                            found.queries, found.k, queries, k, queries, k));
}

// Lists of rows become lists of ids, without the query itself.
template <class D>
void use_ids(const ShardIds& ids, std::span<const std::int64_t> self, Neighbors<D>& lists) {
  const std::int64_t k = lists.k;
  for (std::int64_t q = 0; q < lists.queries; ++q) {
    std::int64_t* const row = lists.ids.data() + q * k;
    D* const distances = lists.distances.data() + q * k;
    std::int64_t to = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      if (row[i] == core::kNoNeighbor) continue;
      const std::int64_t id = id_of(ids, row[i]);
      if (!self.empty() && id == self[static_cast<std::size_t>(q)]) continue;
      row[to] = id;
      distances[to++] = distances[i];
    }
    std::fill(row + to, row + k, core::kNoNeighbor);
  }
}

}  // namespace

template <Element T>
Neighbors<DistanceOf<T>> search_shard(const Index<T>& shard, MatrixView<T> queries,
                                      const ShardQuery<DistanceOf<T>>& query) {
  using D = DistanceOf<T>;
  return api::guarded([&] {
    const Metric& metric = shard.options().metric;
    check_ids(query.ids, shard.rows());
    check_shard(shard, queries, query.self);
    if (query.k < 1)
      throw Error(ErrorCode::invalid_argument, fmt::format("k = {}; a shard's search needs 1 or more", query.k));
    api::check_output(queries.rows, query.k, sizeof(std::int64_t) + sizeof(D));
    // One more than k, in case that the query is among them.
    const std::int64_t more = query.self.empty() ? 0 : 1;
    const std::int64_t k = query.k < shard.rows() - more ? query.k + more : shard.rows();
    std::vector<D> limits;
    if (query.found != nullptr) {
      check_found(*query.found, queries.rows, query.k);
      if (metric.kind != MetricKind::inner_product) limits = limits_of(*query.found);
    }
    Neighbors<D> lists = OneSearch::search_limited<T>(shard, queries, k, limits);
    use_ids(query.ids, query.self, lists);
    std::vector<NeighborLists<D>> parts = {{lists.ids.data(), lists.distances.data(), k}};
    if (query.found != nullptr) parts.push_back({query.found->ids.data(), query.found->distances.data(), query.k});
    Neighbors<D> merged;
    merged.queries = queries.rows;
    merged.k = query.k;
    const NeighborsView<D> out = api::growing(merged.ids, merged.distances)(queries.rows * query.k);
    merge_neighbors<D>(parts, queries.rows, query.k, metric, out, shard.options().threads);
    merged.report = std::move(lists.report);
    return merged;
  });
}

template <Element T>
RadiusNeighbors<DistanceOf<T>> search_shard_radius(const Index<T>& shard, MatrixView<T> queries,
                                                   std::span<const DistanceOf<T>> radii, const ShardIds& ids,
                                                   std::span<const std::int64_t> self) {
  return api::guarded([&] {
    check_ids(ids, shard.rows());
    check_shard(shard, queries, self);
    RadiusNeighbors<DistanceOf<T>> found = shard.search_radius(queries, radii);
    std::int64_t to = 0;
    for (std::int64_t q = 0; q < found.queries; ++q) {
      const auto at = static_cast<std::size_t>(q);
      const std::int64_t first = found.offsets[at];
      found.offsets[at] = to;
      for (std::int64_t i = first; i < found.offsets[at + 1]; ++i) {
        const std::int64_t id = id_of(ids, found.ids[static_cast<std::size_t>(i)]);
        if (!self.empty() && id == self[at]) continue;
        found.ids[static_cast<std::size_t>(to)] = id;
        found.distances[static_cast<std::size_t>(to++)] = found.distances[static_cast<std::size_t>(i)];
      }
    }
    found.offsets.back() = to;
    found.ids.resize(static_cast<std::size_t>(to));
    found.distances.resize(static_cast<std::size_t>(to));
    return found;
  });
}

#define KITH_INSTANTIATE(T)                                                                  \
  template KITH_API Neighbors<DistanceOf<T>> search_shard(const Index<T>&, MatrixView<T>,    \
                                                          const ShardQuery<DistanceOf<T>>&); \
  template KITH_API RadiusNeighbors<DistanceOf<T>> search_shard_radius(                      \
      const Index<T>&, MatrixView<T>, std::span<const DistanceOf<T>>, const ShardIds&, std::span<const std::int64_t>);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
