// find_not_finite.cpp: finds the first NaN or infinity, at memory bandwidth.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/find_not_finite.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class F>
std::int64_t find(const F* values, std::int64_t count) {
  const hn::ScalableTag<F> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // x − x is 0 for finite x and NaN otherwise, so the sum stays 0 exactly while all values are finite.
  auto not_finite = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::LoadU(d, values + i);
    not_finite = hn::Add(not_finite, hn::Sub(x, x));
  }
  bool finite = hn::AllTrue(d, hn::Eq(not_finite, hn::Zero(d)));
  for (; i < count; ++i) finite = finite && std::isfinite(values[i]);
  if (finite) return -1;
  for (i = 0; std::isfinite(values[i]); ++i) continue;
  return i;
}

}  // namespace

static constexpr auto& find_f32 = find<float>;
static constexpr auto& find_f64 = find<double>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(find_f32);
HWY_EXPORT(find_f64);

std::int64_t find_not_finite(const float* values, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(find_f32)(values, count);
}

std::int64_t find_not_finite(const double* values, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(find_f64)(values, count);
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

}  // namespace kith::cpu
#endif
