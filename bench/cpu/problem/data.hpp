// data.hpp: the points of a row. Uniform points are those of `kith gen --kind uniform` with the seeds below, so that
// anybody can make the same files.
#pragma once

#include <cstdint>
#include <vector>

#include "common/check.hpp"
#include "cpu/problem/row.hpp"

namespace kith::bench {

inline constexpr std::uint64_t kBaseSeed = 1;
inline constexpr std::uint64_t kQuerySeed = 2;

// Tight clusters: uniform centers, and points within kClusterRadius of them in every coordinate. At d = 128 the squared
// distance of neighbors is about 1e-6 and a squared norm about 43: float32 cannot tell neighbors apart by norms and
// products.
inline constexpr std::uint64_t kCenterSeed = 3;
inline constexpr std::int64_t kClusters = 100;
inline constexpr double kClusterRadius = 1e-4;

// Colors: this many clusters.
inline constexpr std::int64_t kColors = 400;

// What a row works on.
template <Element T>
struct Problem {
  RowSpec row;
  int threads = 1;
  Matrix<T> base;
  Matrix<T> own_queries;  // empty when the queries are the base

  std::vector<std::int64_t> allowed;  // rows of the base that may be found; all where RowSpec::allowed is 1
  Matrix<T> allowed_base;             // these

  const Matrix<T>& queries() const { return row.self ? base : own_queries; }
  // Of the points that may be found; answers name them by their places in `allowed`.
  Question<T> question() const {
    return {allowed.empty() ? base.view() : allowed_base.view(), queries().view(), row.k, row.self, threads};
  }
};

template <Element T>
Problem<T> make_problem(const RowSpec& row, int threads);

}  // namespace kith::bench
