// batches.hpp: offsets of batches, and the answer to a search of batches by one search for each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kith/batches.hpp"
#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

namespace kith::test {

using Offsets = std::vector<std::int64_t>;

inline Offsets offsets_of(const std::vector<std::int64_t>& counts) {
  Offsets offsets{0};
  for (const std::int64_t count : counts) offsets.push_back(offsets.back() + count);
  return offsets;
}

// Numbers of rows, up to `most`, of which every third batch or so has none, one or very few.
inline std::vector<std::int64_t> random_counts(std::size_t batches, std::int64_t most, Random& random) {
  std::vector<std::int64_t> counts(batches);
  for (std::int64_t& count : counts) count = random.below(3) == 0 ? random.below(4) : random.below(most + 1);
  return counts;
}

template <Element T>
Matrix<T> rows_of(const Matrix<T>& points, std::int64_t first, std::int64_t count) {
  const auto begin = points.row(first);
  return {count, points.cols(), std::vector<T>(begin, begin + count * points.cols())};
}

// An answer without any neighbor.
template <class D>
Neighbors<D> no_neighbors(std::int64_t queries, std::int64_t k, const Metric& metric) {
  constexpr D kInfinity = std::numeric_limits<D>::infinity();
  Neighbors<D> none;
  none.queries = queries;
  none.k = k;
  none.ids.assign(static_cast<std::size_t>(queries * k), -1);
  none.distances.assign(none.ids.size(), metric.kind == MetricKind::inner_product ? -kInfinity : kInfinity);
  return none;
}

// The oracle's answer: for each batch the first of the sorted distances, and places that are left are marked.
template <Element T>
Neighbors<DistanceOf<T>> true_batches(const Matrix<T>& base, const Offsets& base_offsets, const Matrix<T>& queries,
                                      const Offsets& query_offsets, std::int64_t k, const Metric& metric, bool self) {
  auto want = no_neighbors<DistanceOf<T>>(queries.rows(), k, metric);
  for (std::size_t b = 0; b + 1 < base_offsets.size(); ++b) {
    const std::int64_t first = base_offsets[b];
    const std::int64_t first_query = query_offsets[b];
    const Matrix<T> points = rows_of(base, first, base_offsets[b + 1] - first);
    const Matrix<T> asked = rows_of(queries, first_query, query_offsets[b + 1] - first_query);
    const std::int64_t found = std::min(k, points.rows() - (self ? 1 : 0));
    if (found < 1 || asked.rows() < 1) continue;
    const auto truth = truth_of(points, asked, metric);
    for (std::int64_t q = 0; q < asked.rows(); ++q) {
      const std::vector<std::int64_t> ids = truth.nearest(q, found, self ? q : -1);
      for (std::int64_t i = 0; i < found; ++i) {
        const auto at = static_cast<std::size_t>((first_query + q) * k + i);
        want.ids[at] = first + ids[static_cast<std::size_t>(i)];
        want.distances[at] = truth.distance(q, ids[static_cast<std::size_t>(i)]);
      }
    }
  }
  return want;
}

}  // namespace kith::test
