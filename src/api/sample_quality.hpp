// sample_quality.hpp: how good an approximate answer is, by an exact search of some of its queries.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "kith/quality.hpp"
#include "kith/search.hpp"

namespace kith::api {

// Some of the queries, evenly spread.
template <Element T>
MatrixView<T> sample_of(const MatrixView<T>& queries) {
  constexpr std::int64_t kMost = 1000;
  const std::int64_t count = std::min(kMost, queries.rows);
  return {queries.data,       count,         queries.cols, queries.rows / count * queries.row_stride,
          queries.col_stride, queries.memory};
}

// Options of the same search that is exact, leaves nothing out, and says nothing of itself.
inline Options exact_options(Options options) {
  options.method = Method::automatic;
  options.epsilon = 0;
  options.max_distance = std::numeric_limits<double>::infinity();
  options.statistics = false;
  options.progress = nullptr;
  return options;
}

// `distances`: of an answer to the same queries.
template <class D>
SearchQuality judge_sample(const D* distances, const Neighbors<D>& truth) {
  SearchQuality quality;
  quality.queries = truth.queries;
  const std::int64_t k = truth.k;
  std::vector<double> ratios;
  std::int64_t right = 0;
  for (std::int64_t q = 0; q < quality.queries; ++q) {
    const D last = truth.distances_of(q).back();
    const D* found = distances + q * k;
    right += std::count_if(found, found + k, [=](D distance) { return distance <= last; });
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
