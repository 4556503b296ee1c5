// metric_distance.cuh: sums over the coordinates of a pair of points, by one lane or by a team of eight: metric
// distances (core/triangle_bounds.hpp) in double, scores in working precision. With teams, functions must be called by
// all lanes of the warp, and all lanes of a team get the sum.
#pragma once

#include "cuda/distance/key_group.cuh"
#include "cuda/distance/score_terms.cuh"
#include "cuda/primitives/scan.cuh"
#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

template <unsigned kTeam>
__device__ __forceinline__ unsigned team_lane() {
  return threadIdx.x % kTeam;
}

// The terms of metric distances, in double. Squares may be fused: TriangleBounds covers any rounding.
template <bool kSquared>
struct DistanceTerms {
  using Squares = DistanceTerms<true>;
  static constexpr bool kSquares = kSquared;
  core::Form form = core::Form::squared;
  double p = 2;

  __device__ __forceinline__ double add(double sum, double x, double y) const {
    if constexpr (kSquared) {
      const double difference = x - y;
      return fma(difference, difference, sum);
    } else {
      return join(sum, distance::any_term(form, p, x, y));
    }
  }
  __device__ __forceinline__ double join(double a, double b) const {
    if (!kSquared && form == core::Form::maximum) return a < b || isnan(b) ? b : a;  // keeps NaN, as a sum does
    return a + b;
  }
};

using distance::ScoreTerms;

template <bool kSquared, class F>
__device__ __forceinline__ DistanceTerms<kSquared> distance_terms(const Space<F>& space) {
  return {space.form, space.metric.p};
}

template <bool kSquared, class F>
__device__ __forceinline__ ScoreTerms<F, kSquared> score_terms(const Space<F>& space) {
  return {space.form, static_cast<F>(space.metric.p)};
}

template <unsigned kTeam, class Terms, class V>
__device__ __forceinline__ V join_team(const Terms& terms, V value) {
  KITH_UNROLL
  for (unsigned step = kTeam / 2; step > 0; step /= 2)
    value = terms.join(value, __shfl_xor_sync(kFullMask, value, static_cast<int>(step)));
  return value;
}

template <unsigned kTeam, class V, class F, class Terms>
__device__ __forceinline__ V sum_of_packs(const Terms& terms, const F* x, const F* y, unsigned width) {
  using Load = Pack<F>;
  V sum = 0;
  for (unsigned c = team_lane<kTeam>() * Load::kSize; c < width; c += kTeam * Load::kSize) {
    const Load a = *reinterpret_cast<const Load*>(x + c);
    const Load b = *reinterpret_cast<const Load*>(y + c);
    KITH_UNROLL
    for (unsigned i = 0; i < Load::kSize; ++i)
      sum = terms.add(sum, static_cast<V>(a.elements[i]), static_cast<V>(b.elements[i]));
  }
  return sum;
}

// The sum over padded rows, loaded 16 bytes at a time and added in V. Whether terms are squares, where the compiler
// does not know it, is tested once and not at every coordinate.
template <unsigned kTeam, class V, class F, class Terms>
__device__ __forceinline__ V sum_of_pair(const Terms& terms, const F* x, const F* y, unsigned width) {
  const V sum = !Terms::kSquares && terms.form == core::Form::squared
                    ? sum_of_packs<kTeam, V>(typename Terms::Squares{}, x, y, width)
                    : sum_of_packs<kTeam, V>(terms, x, y, width);
  return join_team<kTeam>(terms, sum);
}

// The sum over rows of any alignment that have no padding.
template <unsigned kTeam, class F, class Terms>
__device__ __forceinline__ double raw_of_pair(const Terms& terms, const F* x, const F* y, unsigned dims) {
  double sum = 0;
  for (unsigned c = team_lane<kTeam>(); c < dims; c += kTeam)
    sum = terms.add(sum, static_cast<double>(x[c]), static_cast<double>(y[c]));
  return join_team<kTeam>(terms, sum);
}

KITH_NOINLINE __device__ inline double any_metric_distance(const Metric& metric, double raw) {
  return core::metric_distance_of_raw(metric, raw);
}

template <bool kSquared>
__device__ __forceinline__ double metric_distance(const Metric& metric, double raw) {
  if constexpr (kSquared) return raw >= 0 ? sqrt(raw) : any_metric_distance(metric, raw);
  return any_metric_distance(metric, raw);
}

// Members of a cluster are sorted by the upper words of their distances, which fit a sort key beside the cluster. These
// are the smallest and the largest double with the upper word of `distance`; infinity stays infinity.
__device__ __forceinline__ double clear_low_word(double distance) {
  return __longlong_as_double(__double_as_longlong(distance) & ~0xFFFFFFFFLL);
}
__device__ __forceinline__ double set_low_word(double distance) {
  if (!(distance < std::numeric_limits<double>::infinity())) return distance;
  return __longlong_as_double(__double_as_longlong(distance) | 0xFFFFFFFFLL);
}

}  // namespace kith::KITH_BACKEND::triangle
