// shard.hpp: the rows that a rank searches, possibly none, with their ids in the whole base.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/max_distance.hpp"
#include "kith/index.hpp"
#include "kith/shards.hpp"

namespace kith::mpi {

// Lists of k places without a neighbor.
template <class D>
Neighbors<D> no_neighbors(std::int64_t queries, std::int64_t k, const Metric& metric) {
  Neighbors<D> none;
  none.queries = queries;
  none.k = k;
  none.ids.assign(static_cast<std::size_t>(queries * k), core::kNoNeighbor);
  none.distances.assign(static_cast<std::size_t>(queries * k), core::missing_distance<D>(metric));
  return none;
}

template <Element T>
class Shard {
 public:
  using D = DistanceOf<T>;

  // `rows`, and ids.ids where there are any, must outlive the shard.
  Shard(MatrixView<T> rows, ShardIds ids, const Options& options) : ids_(ids), metric_(options.metric) {
    if (rows.rows > 0) index_.emplace(rows, options);
  }

  const std::optional<kith::Index<T>>& index() const { return index_; }

  // Moves what was found before out of `found`, if that is given.
  Neighbors<D> search(MatrixView<T> queries, std::int64_t k, std::span<const std::int64_t> self,
                      Neighbors<D>* found = nullptr) const {
    if (queries.rows == 0 || !index_)
      return found != nullptr ? std::move(*found) : no_neighbors<D>(queries.rows, k, metric_);
    return search_shard(*index_, queries, ShardQuery<D>{k, ids_, self, found});
  }

  RadiusNeighbors<D> search_radius(MatrixView<T> queries, std::span<const D> radii,
                                   std::span<const std::int64_t> self) const {
    if (queries.rows > 0 && index_) return search_shard_radius(*index_, queries, radii, ids_, self);
    RadiusNeighbors<D> none;
    none.queries = queries.rows;
    none.offsets.assign(static_cast<std::size_t>(queries.rows) + 1, 0);
    return none;
  }

 private:
  ShardIds ids_;
  Metric metric_;
  std::optional<kith::Index<T>> index_;
};

// Packs rows first … first + count − 1 of a view.
template <Element T>
void pack_rows(MatrixView<T> rows, std::int64_t first, std::int64_t count, T* out) {
  for (std::int64_t r = first; r < first + count; ++r)
    for (std::int64_t c = 0; c < rows.cols; ++c) *out++ = rows(r, c);
}

inline std::size_t size_of(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

// count elements of an array from element `first` on.
template <class V>
std::span<V> part(std::vector<V>& values, std::int64_t first, std::int64_t count) {
  return std::span(values).subspan(size_of(first), size_of(count));
}

}  // namespace kith::mpi
