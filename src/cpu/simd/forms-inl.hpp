// forms-inl.hpp: each form's step for one coordinate, and its reduction of lanes. Included once per instruction set.
#if defined(KITH_CPU_SIMD_FORMS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_FORMS_INL_
#undef KITH_CPU_SIMD_FORMS_INL_
#else
#define KITH_CPU_SIMD_FORMS_INL_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "core/key.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct SquaredForm {
  template <class D, class V>
  HWY_INLINE V step(D, V sum, V x, V y) const {
    const V difference = hn::Sub(x, y);
    return hn::MulAdd(difference, difference, sum);
  }
  template <class D, class V>
  HWY_INLINE V combine(D d, V sum) const {
    return hn::SumOfLanes(d, sum);
  }
};

struct AbsoluteForm : SquaredForm {
  template <class D, class V>
  HWY_INLINE V step(D, V sum, V x, V y) const {
    return hn::Add(sum, hn::Abs(hn::Sub(x, y)));
  }
};

struct MaximumForm {
  template <class D, class V>
  HWY_INLINE V step(D, V sum, V x, V y) const {
    return hn::Max(sum, hn::Abs(hn::Sub(x, y)));
  }
  template <class D, class V>
  HWY_INLINE V combine(D d, V sum) const {
    return hn::MaxOfLanes(d, sum);
  }
};

struct MismatchForm : SquaredForm {
  template <class D, class V>
  HWY_INLINE V step(D d, V sum, V x, V y) const {
    return hn::Add(sum, hn::IfThenElseZero(hn::Ne(x, y), hn::Set(d, hn::TFromD<D>{1})));
  }
};

// |x − y| / (|x| + |y|), as core::ratio_term has it, bit for bit: keys take it too.
template <class D, class V>
HWY_INLINE V ratio_term(D d, V x, V y) {
  using F = hn::TFromD<D>;
  const V one = hn::Set(d, F{1});
  const auto large = hn::Gt(hn::Max(hn::Abs(x), hn::Abs(y)), one);
  const V scale = hn::IfThenElse(large, hn::Set(d, F{0.5}), one);
  const V a = hn::Mul(x, scale);
  const V b = hn::Mul(y, scale);
  const V sum = hn::Add(hn::Abs(a), hn::Abs(b));
  return hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), hn::Div(hn::Abs(hn::Sub(a, b)), sum));
}

struct RatioForm : SquaredForm {
  template <class D, class V>
  HWY_INLINE V step(D d, V sum, V x, V y) const {
    return hn::Add(sum, ratio_term(d, x, y));
  }
};

// Scores of the dot form are negated: the nearest is the smallest.
struct DotForm : SquaredForm {
  template <class D, class V>
  HWY_INLINE V step(D, V sum, V x, V y) const {
    return hn::NegMulAdd(x, y, sum);
  }
};

// |x − y|^p as exp(p·log). Zero is handled separately because its logarithm is not finite; exponents beyond 104 (706 in
// double), where Highway's exp is not defined, give infinity.
struct PowerForm : SquaredForm {
  double p = 2;

  template <class D, class V>
  HWY_INLINE V step(D d, V sum, V x, V y) const {
    using F = hn::TFromD<D>;
    const V magnitude = hn::Abs(hn::Sub(x, y));
    const V exponent = hn::Mul(hn::Set(d, static_cast<F>(p)), hn::CallLog(d, magnitude));
    const V zero_or_power = hn::IfThenZeroElse(hn::Eq(magnitude, hn::Zero(d)), hn::CallExp(d, exponent));
    const auto overflow = hn::Gt(exponent, hn::Set(d, sizeof(F) == 4 ? F{104} : F{706}));
    return hn::Add(sum, hn::IfThenElse(overflow, hn::Inf(d), zero_or_power));
  }
};

// Calls run(form) with the object of a form.
template <class Run>
HWY_INLINE void with_form(core::Form form, double p, Run run) {
  switch (form) {
    case core::Form::squared: return run(SquaredForm{});
    case core::Form::absolute: return run(AbsoluteForm{});
    case core::Form::maximum: return run(MaximumForm{});
    case core::Form::mismatch: return run(MismatchForm{});
    case core::Form::ratio: return run(RatioForm{});
    case core::Form::dot: return run(DotForm{});
    case core::Form::power: {
      PowerForm power;
      power.p = p;
      return run(power);
    }
  }
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
