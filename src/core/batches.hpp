// batches.hpp: which base rows and which queries belong together, and what stands where a batch has too few points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "core/key.hpp"
#include "core/max_distance.hpp"
#include "kith/search.hpp"

namespace kith::core {

struct RowRange {
  std::int64_t first;
  std::int64_t count;
};

// Offsets that were checked.
struct Batches {
  std::span<const std::int64_t> base_offsets;
  std::span<const std::int64_t> query_offsets;

  std::int64_t count() const { return static_cast<std::int64_t>(base_offsets.size()) - 1; }
  RowRange base(std::int64_t batch) const { return range(base_offsets, batch); }
  RowRange queries(std::int64_t batch) const { return range(query_offsets, batch); }
  std::int64_t pairs(std::int64_t batch) const { return base(batch).count * queries(batch).count; }

 private:
  static RowRange range(std::span<const std::int64_t> offsets, std::int64_t batch) {
    const auto at = static_cast<std::size_t>(batch);
    return {offsets[at], offsets[at + 1] - offsets[at]};
  }
};

// Marks `count` places of an answer on the host, from `first` on, as those of no neighbor.
template <class D>
void mark_missing(const Metric& metric, const NeighborsView<D>& out, std::int64_t first, std::int64_t count) {
  std::fill_n(out.ids + first, count, kNoNeighbor);
  std::fill_n(out.distances + first, count, returned_value(metric, std::numeric_limits<D>::infinity()));
}

// Makes answers with k places a query, in place, of answers to queries of a batch with k_found ≤ k neighbors each,
// whose ids count from the batch's first row, but for those of places without a neighbor.
template <class D>
void spread_answer(const Metric& metric, std::int64_t k_found, std::int64_t queries, std::int64_t first_row,
                   std::int64_t k, const NeighborsView<D>& out) {
  // From the end, so that nothing is written over before it was moved.
  for (std::int64_t q = queries - 1; q >= 0; --q) {
    for (std::int64_t i = k_found - 1; i >= 0; --i) {
      const std::int64_t id = out.ids[q * k_found + i];
      out.ids[q * k + i] = id < 0 ? id : id + first_row;
      out.distances[q * k + i] = out.distances[q * k_found + i];
    }
    mark_missing(metric, out, q * k + k_found, k - k_found);
  }
}

}  // namespace kith::core
