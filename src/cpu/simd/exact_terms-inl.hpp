// exact_terms-inl.hpp: the term of a coordinate in the exact key, added to a sum: product and sum stay separate
// instructions, as core/key.hpp says. Included once per instruction set.
#if defined(KITH_CPU_SIMD_EXACT_TERMS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_EXACT_TERMS_INL_
#undef KITH_CPU_SIMD_EXACT_TERMS_INL_
#else
#define KITH_CPU_SIMD_EXACT_TERMS_INL_
#endif

#include <hwy/highway.h>

#include "core/key.hpp"
#include "cpu/simd/forms-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Adds this coordinate's term to the sum; x is the query's coordinate. Form power has no vectors.
template <core::Form form, class D, class V>
HWY_INLINE V add_term(D d, V sum, V x, V y) {
  if constexpr (form == core::Form::squared) {
    const V difference = hn::Sub(x, y);
    return hn::Add(sum, hn::Mul(difference, difference));
  } else if constexpr (form == core::Form::absolute) {
    return hn::Add(sum, hn::Abs(hn::Sub(x, y)));
  } else if constexpr (form == core::Form::maximum) {
    return hn::Max(sum, hn::Abs(hn::Sub(x, y)));
  } else if constexpr (form == core::Form::mismatch) {
    return hn::Add(sum, hn::IfThenElseZero(hn::Ne(x, y), hn::Set(d, 1.0)));
  } else if constexpr (form == core::Form::ratio) {
    return hn::Add(sum, ratio_term(d, x, y));
  } else {
    static_assert(form == core::Form::dot);
    return hn::Add(sum, hn::Mul(x, y));
  }
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
