// model.hpp: what a collection should be: points by their ids, searched by an index that is made anew every time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "kith/kith.hpp"
#include "support/random.hpp"

namespace kith::test {

// Sanitizers take memory and time of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsWatched = true;
#else
inline constexpr bool kIsWatched = false;
#endif

template <Element T>
struct ModelPoint {
  std::vector<T> row;
  std::int64_t tag = 0;
};

template <Element T>
using Model = std::map<std::int64_t, ModelPoint<T>>;

// Those of the model's points that `allowed` leaves, in the order of their ids.
template <Element T>
struct Subset {
  std::vector<std::int64_t> ids{};
  Matrix<T> points{};
};

template <Element T>
Subset<T> subset_of(const Model<T>& model, std::int64_t dims, const std::function<bool(std::int64_t)>& allowed) {
  Subset<T> subset;
  std::vector<T> values;
  for (const auto& [id, point] : model) {
    if (!allowed(id)) continue;
    subset.ids.push_back(id);
    values.insert(values.end(), point.row.begin(), point.row.end());
  }
  subset.points = Matrix<T>(static_cast<std::int64_t>(subset.ids.size()), dims, std::move(values));
  return subset;
}

template <Element T>
double missing_distance(const Options& options) {
  return options.metric.kind == MetricKind::inner_product ? -std::numeric_limits<double>::infinity()
                                                          : std::numeric_limits<double>::infinity();
}

// The answer to one query, as collections give it: k places, the last ones empty where there are fewer points.
template <Element T>
std::pair<std::vector<std::int64_t>, std::vector<DistanceOf<T>>> answer(const Subset<T>& subset,
                                                                        const MatrixView<T>& query, std::int64_t k,
                                                                        Options options, std::int64_t left_out = -1) {
  options.pad_missing = false;
  // What shifted-sort finds differs from backend to backend.
  if (options.method != Method::shifted_sort) options.backend = Backend::cpu;
  const std::vector<Method> methods = search_methods(options.backend);
  if (std::find(methods.begin(), methods.end(), options.method) == methods.end()) options.method = Method::automatic;
  std::vector<std::int64_t> ids;
  std::vector<DistanceOf<T>> distances;
  if (!subset.ids.empty()) {
    const std::int64_t here = std::min(k + (left_out == -1 ? 0 : 1), static_cast<std::int64_t>(subset.ids.size()));
    const auto found = search(subset.points.view(), query, here, options);
    for (std::size_t i = 0; i < found.ids.size(); ++i) {
      if (found.ids[i] < 0) continue;
      const std::int64_t id = subset.ids[static_cast<std::size_t>(found.ids[i])];
      if (id == left_out) continue;
      ids.push_back(id);
      distances.push_back(found.distances[i]);
    }
  }
  ids.resize(static_cast<std::size_t>(k), -1);
  distances.resize(ids.size(), static_cast<DistanceOf<T>>(missing_distance<T>(options)));
  return {ids, distances};
}

// Rows of small integers, so that many distances tie.
template <Element T>
Matrix<T> grid_points(std::int64_t rows, std::int64_t dims, Random& random) {
  Matrix<T> points(rows, dims);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t c = 0; c < dims; ++c) points(i, c) = static_cast<T>(static_cast<float>(1 + random.below(6)));
  return points;
}

}  // namespace kith::test
