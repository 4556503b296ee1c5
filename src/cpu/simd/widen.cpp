// widen.cpp: contiguous values as floats, at memory bandwidth.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/widen.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/kernels.hpp"
#include "cpu/simd/load_float-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void widen_all(const T* from, std::int64_t count, float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(load_float(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace

static constexpr auto& widen_f16 = widen_all<Float16>;
static constexpr auto& widen_bf16 = widen_all<BFloat16>;
static constexpr auto& widen_u8 = widen_all<std::uint8_t>;
static constexpr auto& widen_i8 = widen_all<std::int8_t>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(widen_f16);
HWY_EXPORT(widen_bf16);
HWY_EXPORT(widen_u8);
HWY_EXPORT(widen_i8);

void widen(const Float16* from, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(widen_f16)(from, count, to);
}

void widen(const BFloat16* from, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(widen_bf16)(from, count, to);
}

void widen(const std::uint8_t* from, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(widen_u8)(from, count, to);
}

void widen(const std::int8_t* from, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(widen_i8)(from, count, to);
}

}  // namespace kith::cpu
#endif
