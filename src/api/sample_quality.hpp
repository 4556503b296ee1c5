// sample_quality.hpp: how good an approximate answer is, by an exact search of some of its queries.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kith/quality.hpp"
#include "kith/search.hpp"

namespace kith::api {

inline constexpr std::int64_t kQualitySample = 1000;

// `distances`: of the answer, queries × k. Queries are evenly spread.
template <Element T>
SearchQuality sample_quality(const MatrixView<T>& base, const MatrixView<T>& queries, std::int64_t k,
                             const DistanceOf<T>* distances, Options options) {
  SearchQuality quality;
  quality.queries = std::min(kQualitySample, queries.rows);
  const std::int64_t step = queries.rows / quality.queries;
  const MatrixView<T> sample(queries.data, quality.queries, queries.cols, step * queries.row_stride,
                             queries.col_stride);
  options.method = Method::automatic;
  options.statistics = false;
  options.progress = nullptr;
  const auto truth = search(base, sample, k, options);
  std::vector<double> ratios;
  std::int64_t right = 0;
  for (std::int64_t q = 0; q < quality.queries; ++q) {
    const DistanceOf<T> last = truth.distances_of(q).back();
    const DistanceOf<T>* found = distances + q * step * k;
    right += std::count_if(found, found + k, [=](DistanceOf<T> distance) { return distance <= last; });
    constexpr double kUnbounded = std::numeric_limits<double>::infinity();
    ratios.push_back(found[k - 1] == last ? 1
                     : last > 0           ? static_cast<double>(found[k - 1]) / static_cast<double>(last)
                                          : kUnbounded);
  }
  quality.recall = static_cast<double>(right) / static_cast<double>(quality.queries * k);
  quality.ratios = summarize_ratios(std::move(ratios));
  return quality;
}

}  // namespace kith::api
