// listed_distances.hpp: distances of one query and listed base rows by a PairMetric, those of pair_search.hpp bit for
// bit: the rows are gathered, and filled in as any other tile is.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/order.hpp"
#include "custom/tile_distances.hpp"
#include "kith/pair_metric.hpp"

namespace kith::custom {

// Of one thread.
template <Element T>
class ListedDistances {
 public:
  using D = DistanceOf<T>;

  ListedDistances(const PairMetric& metric, const MatrixView<T>& base)
      : base_(base), gathered_(nullptr, 0, base.cols), tile_(metric, gathered_, nullptr) {}
  ListedDistances(const ListedDistances&) = delete;
  ListedDistances& operator=(const ListedDistances&) = delete;

  // Replaces hits by those of the listed rows, in their order.
  void compute(const MatrixView<T>& queries, std::int64_t query, std::span<const std::int64_t> ids,
               std::vector<core::Hit<D>>& hits) {
    constexpr std::int64_t kMost = 16 * kPanelRows;
    hits.clear();
    tile_.set_queries(queries, query, 1, "queries");
    const auto count = static_cast<std::int64_t>(ids.size());
    for (std::int64_t first = 0; first < count; first += kMost) {
      const std::int64_t rows = count - first < kMost ? count - first : kMost;
      const auto listed = ids.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows));
      gather(listed);
      const double* distances = tile_.distances(0, rows);
      for (std::int64_t i = 0; i < rows; ++i)
        hits.push_back({static_cast<D>(distances[i]), listed[static_cast<std::size_t>(i)]});
    }
  }

 private:
  void gather(std::span<const std::int64_t> ids) {
    const std::int64_t dims = base_.cols;
    rows_.resize(ids.size() * static_cast<std::size_t>(dims));
    T* to = rows_.data();
    for (const std::int64_t id : ids)
      for (std::int64_t c = 0; c < dims; ++c) *to++ = base_(id, c);
    gathered_ = {rows_.data(), static_cast<std::int64_t>(ids.size()), dims};
  }

  const MatrixView<T>& base_;
  std::vector<T> rows_;
  MatrixView<T> gathered_;  // what the tile looks at
  TileDistances<T> tile_;
};

}  // namespace kith::custom
