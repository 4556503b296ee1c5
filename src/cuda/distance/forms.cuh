// forms.cuh: the operators of a score (Hanák, 3.3: a matrix product with other operators). scores.hpp has the table.
//   combine(sum, x, y)  adds a coordinate
//   join(a, b)          adds two sums over different coordinates
//   finish(sum, bias)   returns the score; only products read the bias
// Coordinates that are zero in both points add nothing to any form, so sums may be padded with them. NaN makes a score
// NaN or counts as a mismatch; a maximum skips it.
#pragma once

#include "core/key.hpp"
#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::distance {

// Costs two operations a coordinate.
template <class F>
struct SquaredForm {
  static constexpr bool kHasBias = false;
  __device__ __forceinline__ F combine(F sum, F x, F y) const {
    const F difference = x - y;
    return fma(difference, difference, sum);
  }
  __device__ __forceinline__ F join(F a, F b) const { return a + b; }
  __device__ __forceinline__ F finish(F sum, F /*bias*/) const { return sum; }
};

// Inner products, scale −1, and expanded squares, scale −2. Costs one operation a coordinate.
template <class F>
struct ProductForm {
  static constexpr bool kHasBias = true;
  F scale;
  __device__ __forceinline__ F combine(F sum, F x, F y) const { return fma(x, y, sum); }
  __device__ __forceinline__ F join(F a, F b) const { return a + b; }
  __device__ __forceinline__ F finish(F sum, F bias) const { return fma(scale, sum, bias); }
};

template <class F>
struct AbsoluteForm {
  static constexpr bool kHasBias = false;
  __device__ __forceinline__ F combine(F sum, F x, F y) const { return sum + fabs(x - y); }
  __device__ __forceinline__ F join(F a, F b) const { return a + b; }
  __device__ __forceinline__ F finish(F sum, F /*bias*/) const { return sum; }
};

template <class F>
struct MaximumForm {
  static constexpr bool kHasBias = false;
  __device__ __forceinline__ F combine(F sum, F x, F y) const { return fmax(sum, fabs(x - y)); }
  __device__ __forceinline__ F join(F a, F b) const { return fmax(a, b); }
  __device__ __forceinline__ F finish(F sum, F /*bias*/) const { return sum; }
};

template <class F>
struct MismatchForm {
  static constexpr bool kHasBias = false;
  __device__ __forceinline__ F combine(F sum, F x, F y) const { return x != y ? sum + F{1} : sum; }
  __device__ __forceinline__ F join(F a, F b) const { return a + b; }
  __device__ __forceinline__ F finish(F sum, F /*bias*/) const { return sum; }
};

// Divides with one rounding, as the compiler does unless told otherwise: ScoreBounds counts on it.
template <class F>
struct RatioForm {
  static constexpr bool kHasBias = false;
  __device__ __forceinline__ F combine(F sum, F x, F y) const { return sum + core::ratio_term(x, y); }
  __device__ __forceinline__ F join(F a, F b) const { return a + b; }
  __device__ __forceinline__ F finish(F sum, F /*bias*/) const { return sum; }
};

// Computes exp2(p·log2|x−y|), much shorter than pow(); zero becomes log2(0) = −∞ and zero again. ScoreBounds covers the
// error: a few roundings for each unit of the exponent.
template <class F>
struct PowerForm {
  static constexpr bool kHasBias = false;
  F p;
  __device__ __forceinline__ F combine(F sum, F x, F y) const { return sum + exp2(p * log2(fabs(x - y))); }
  __device__ __forceinline__ F join(F a, F b) const { return a + b; }
  __device__ __forceinline__ F finish(F sum, F /*bias*/) const { return sum; }
};

// Loops around a power or a division, which take dozens of instructions, are not unrolled.
template <class Form>
constexpr bool kIsLong = false;
template <class F>
constexpr bool kIsLong<PowerForm<F>> = true;
template <class F>
constexpr bool kIsLong<RatioForm<F>> = true;

// Calls body(form) with the operators of `form`; `expanded` turns squares into products with bias.
template <class F, class Body>
void with_form(core::Form form, bool expanded, double p, Body body) {
  switch (form) {
    case core::Form::squared: return expanded ? body(ProductForm<F>{F{-2}}) : body(SquaredForm<F>{});
    case core::Form::absolute: return body(AbsoluteForm<F>{});
    case core::Form::maximum: return body(MaximumForm<F>{});
    case core::Form::power: return body(PowerForm<F>{static_cast<F>(p)});
    case core::Form::mismatch: return body(MismatchForm<F>{});
    case core::Form::ratio: return body(RatioForm<F>{});
    case core::Form::dot: return body(ProductForm<F>{F{-1}});
  }
}

}  // namespace kith::KITH_BACKEND::distance
