// exact_key.cuh: exact keys of single pairs inside a kernel, bit for bit those of distance/exact_keys.hpp, by one lane
// or by a team of eight.
#pragma once

#include "cuda/distance/lane_key.cuh"
#include "cuda/primitives/key.cuh"
#include "cuda/triangle/exact_key.hpp"
#include "cuda/triangle/metric_distance.cuh"

namespace kith::KITH_BACKEND::triangle {

// The rows of a pair, with their means and norms.
template <class F>
struct ExactKeyPair {
  const F* x;
  const F* y;
  unsigned width;  // of the rows, padded or not
  core::RowFacts x_facts;
  core::RowFacts y_facts;
};

template <class F>
__device__ __forceinline__ ExactKeyPair<F> directions_pair(const ExactKeySource<F>& source, unsigned query,
                                                           unsigned point) {
  const auto facts = [](const ExactSet<F>& set, unsigned row) {
    return core::RowFacts{set.means == nullptr ? 0.0 : set.means[row], set.square_norms[row]};
  };
  return {source.queries.rows.data + query * source.queries.rows.stride,
          source.base.rows.data + point * source.base.rows.stride, source.dims, facts(source.queries, query),
          facts(source.base, point)};
}

template <class F, unsigned kTeam, bool kSquares>
__device__ __forceinline__ double striped_raw(const Metric& metric, core::Form form, const ExactKeyPair<F>& pair) {
  const auto x = [&](unsigned c) { return static_cast<double>(pair.x[c]) - pair.x_facts.mean; };
  const auto y = [&](unsigned c) { return static_cast<double>(pair.y[c]) - pair.y_facts.mean; };
  if constexpr (kTeam == core::kLanes) {
    double lane = 0;
    for (unsigned c = team_lane<kTeam>(); c < pair.width; c += kTeam)
      lane = add_term(form, lane, distance::lane_term<kSquares>(form, metric.p, x(c), y(c)));
    return combine_group(lane, form);
  } else {
    return distance::lane_raw<kSquares, 0>(form, metric.p, pair.width, x, y);
  }
}

// Not inlined: eight sums that live across the calls of their terms would take the kernel's registers.
template <class F, unsigned kTeam>
KITH_NOINLINE __device__ double any_striped_raw(const Metric& metric, core::Form form, const ExactKeyPair<F>& pair) {
  return striped_raw<F, kTeam, false>(metric, form, pair);
}

// The key of a pair, with the point's id. With teams, must be called by all lanes of the warp.
template <class F, unsigned kTeam, bool kSquared>
__device__ __forceinline__ KeyOf<F> exact_key(const ExactKeySource<F>& source, const ExactKeyPair<F>& pair,
                                              unsigned point) {
  double distance = 0;
  if constexpr (kSquared) {
    const double raw = striped_raw<F, kTeam, true>(source.metric, core::Form::squared, pair);
    distance = source.metric.kind == MetricKind::sqeuclidean ? raw : sqrt(raw);
  } else {
    const double raw = any_striped_raw<F, kTeam>(source.metric, source.form, pair);
    distance = distance::finish_key(source.metric, raw, pair.x_facts, pair.y_facts, source.dims);
  }
  return make_key(ordered_bits(static_cast<F>(distance), false), point);
}

}  // namespace kith::KITH_BACKEND::triangle
