// lengths.cuh: sums over pairs of points, each by one lane or by a team of eight: lengths in double, scores in working
// precision, and raw sums of keys in the order of core/key.hpp. With teams all lanes of the warp call, and all lanes of
// a team get the sum.
#pragma once

#include "cuda/distance/forms.cuh"
#include "cuda/primitives/scan.cuh"
#include "cuda/triangle/space.hpp"

namespace kith::KITH_BACKEND::triangle {

template <unsigned kTeam>
__device__ __forceinline__ unsigned team_lane() {
  return threadIdx.x % kTeam;
}

KITH_NOINLINE __device__ inline double any_length_term(core::Form form, double p, double x, double y) {
  return core::term(form, p, x, y);
}

// The terms of lengths and of keys, in double. Fused where their order is free.
template <bool kSquared>
struct LengthTerms {
  using Squares = LengthTerms<true>;
  static constexpr bool kSquares = kSquared;
  core::Form form = core::Form::squared;
  double p = 2;

  __device__ __forceinline__ double add(double sum, double x, double y) const {
    if constexpr (kSquared) {
      const double difference = x - y;
      return fma(difference, difference, sum);
    } else {
      return join(sum, any_length_term(form, p, x, y));
    }
  }
  __device__ __forceinline__ double join(double a, double b) const {
    if (!kSquared && form == core::Form::maximum) return a < b || isnan(b) ? b : a;  // NaN stays, as in a sum
    return a + b;
  }
};

// The same in working precision, for scores.
template <class F, bool kSquared>
struct ScoreTerms {
  using Squares = ScoreTerms<F, true>;
  static constexpr bool kSquares = kSquared;
  core::Form form = core::Form::squared;
  F p = 2;

  __device__ __forceinline__ F add(F sum, F x, F y) const {
    if constexpr (kSquared) return distance::SquaredForm<F>{}.combine(sum, x, y);
    switch (form) {
      case core::Form::absolute: return distance::AbsoluteForm<F>{}.combine(sum, x, y);
      case core::Form::maximum: return distance::MaximumForm<F>{}.combine(sum, x, y);
      case core::Form::power: return distance::PowerForm<F>{p}.combine(sum, x, y);
      case core::Form::mismatch: return distance::MismatchForm<F>{}.combine(sum, x, y);
      default: return distance::SquaredForm<F>{}.combine(sum, x, y);
    }
  }
  __device__ __forceinline__ F join(F a, F b) const {
    if (!kSquared && form == core::Form::maximum) return fmax(a, b);
    return a + b;
  }
};

template <bool kSquared, class F>
__device__ __forceinline__ LengthTerms<kSquared> length_terms(const Space<F>& space) {
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

// Of padded rows, 16 bytes at a time; V is what is summed up in. Squares, where they are not known to the compiler, are
// asked for once and not at every coordinate.
template <unsigned kTeam, class V, class F, class Terms>
__device__ __forceinline__ V sum_between(const Terms& terms, const F* x, const F* y, unsigned width) {
  const V sum = !Terms::kSquares && terms.form == core::Form::squared
                    ? sum_of_packs<kTeam, V>(typename Terms::Squares{}, x, y, width)
                    : sum_of_packs<kTeam, V>(terms, x, y, width);
  return join_team<kTeam>(terms, sum);
}

// The same where only the first `dims` coordinates are there, wherever the rows lie.
template <unsigned kTeam, class F, class Terms>
__device__ __forceinline__ double raw_between(const Terms& terms, const F* x, const F* y, unsigned dims) {
  double sum = 0;
  for (unsigned c = team_lane<kTeam>(); c < dims; c += kTeam)
    sum = terms.add(sum, static_cast<double>(x[c]), static_cast<double>(y[c]));
  return join_team<kTeam>(terms, sum);
}

KITH_NOINLINE __device__ inline double any_length(const Metric& metric, double raw) {
  return core::length_of_raw(metric, raw);
}

template <bool kSquared>
__device__ __forceinline__ double length_of(const Metric& metric, double raw) {
  if constexpr (kSquared) return raw >= 0 ? sqrt(raw) : any_length(metric, raw);
  return any_length(metric, raw);
}

// Lengths of a cluster are sorted by the upper halves of their bits, which fit a sort's key beside the cluster. Both
// ends of what shares an upper half; above() of what is infinite stays so.
__device__ __forceinline__ double half_below(double length) {
  return __longlong_as_double(__double_as_longlong(length) & ~0xFFFFFFFFLL);
}
__device__ __forceinline__ double half_above(double length) {
  if (!(length < std::numeric_limits<double>::infinity())) return length;
  return __longlong_as_double(__double_as_longlong(length) | 0xFFFFFFFFLL);
}

}  // namespace kith::KITH_BACKEND::triangle
