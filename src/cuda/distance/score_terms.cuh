// score_terms.cuh: the terms of scores in working precision where one kernel serves several forms: squares, which most
// searches are of, are known to the compiler, the others are chosen at run time.
#pragma once

#include "cuda/distance/forms.cuh"

namespace kith::KITH_BACKEND::distance {

// Not for products.
template <class F, bool kSquared>
struct ScoreTerms {
  using Squares = ScoreTerms<F, true>;
  static constexpr bool kSquares = kSquared;
  core::Form form = core::Form::squared;
  F p = 2;

  __device__ __forceinline__ F add(F sum, F x, F y) const {
    if constexpr (kSquared) return SquaredForm<F>{}.combine(sum, x, y);
    switch (form) {
      case core::Form::squared: return SquaredForm<F>{}.combine(sum, x, y);
      case core::Form::absolute: return AbsoluteForm<F>{}.combine(sum, x, y);
      case core::Form::maximum: return MaximumForm<F>{}.combine(sum, x, y);
      case core::Form::power: return PowerForm<F>{p}.combine(sum, x, y);
      case core::Form::mismatch: return MismatchForm<F>{}.combine(sum, x, y);
      case core::Form::ratio: return RatioForm<F>{}.combine(sum, x, y);
      case core::Form::dot: break;
    }
    return sum;
  }
  __device__ __forceinline__ F join(F a, F b) const {
    if (!kSquared && form == core::Form::maximum) return fmax(a, b);
    return a + b;
  }
};

}  // namespace kith::KITH_BACKEND::distance
