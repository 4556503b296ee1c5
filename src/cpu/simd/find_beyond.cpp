// find_beyond.cpp: finds the first value that is too large or NaN, at memory bandwidth.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/find_beyond.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "cpu/simd/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

template <class F>
std::int64_t find(const F* values, std::int64_t count, F largest) {
  const hn::ScalableTag<F> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto limit = hn::Set(d, largest);
  auto within = hn::Eq(limit, limit);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) within = hn::And(within, hn::Le(hn::Abs(hn::LoadU(d, values + i)), limit));
  bool all = hn::AllTrue(d, within);
  for (; i < count; ++i) all = all && std::abs(values[i]) <= largest;
  if (all) return -1;
  for (i = 0; std::abs(values[i]) <= largest; ++i) continue;
  return i;
}

// Magnitudes of floating-point numbers have the order of their bits, NaN the largest.
std::int64_t find_bits(const std::uint16_t* values, std::int64_t count, std::uint16_t largest) {
  const hn::ScalableTag<std::uint16_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto magnitude = hn::Set(d, std::uint16_t{0x7FFF});
  auto most = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) most = hn::Max(most, hn::And(hn::LoadU(d, values + i), magnitude));
  const auto is_beyond = [&](std::uint16_t bits) { return (bits & 0x7FFFU) > largest; };
  bool all = hn::AllTrue(d, hn::Eq(hn::Max(most, hn::Set(d, largest)), hn::Set(d, largest)));
  for (; i < count; ++i) all = all && !is_beyond(values[i]);
  if (all) return -1;
  for (i = 0; !is_beyond(values[i]); ++i) continue;
  return i;
}

}  // namespace

static constexpr auto& find_16_bits = find_bits;
static constexpr auto& find_f32 = find<float>;
static constexpr auto& find_f64 = find<double>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(find_f32);
HWY_EXPORT(find_f64);
HWY_EXPORT(find_16_bits);

std::int64_t find_beyond(const float* values, std::int64_t count, float largest) {
  return HWY_DYNAMIC_DISPATCH(find_f32)(values, count, largest);
}

std::int64_t find_beyond(const double* values, std::int64_t count, double largest) {
  return HWY_DYNAMIC_DISPATCH(find_f64)(values, count, largest);
}

std::int64_t find_beyond(const Float16* values, std::int64_t count, Float16 largest) {
  return HWY_DYNAMIC_DISPATCH(find_16_bits)(&values->bits, count, largest.bits);
}

std::int64_t find_beyond(const BFloat16* values, std::int64_t count, BFloat16 largest) {
  return HWY_DYNAMIC_DISPATCH(find_16_bits)(&values->bits, count, largest.bits);
}

std::vector<std::string> simd_targets() {
  // Where there is one, nothing is chosen at run time. Nor is Highway asked: it would print a warning on ARM processors
  // without AES, which it counts as NEON and no kernel uses.
  if constexpr ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0) return {hwy::TargetName(HWY_TARGETS)};
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

}  // namespace kith::cpu
#endif
