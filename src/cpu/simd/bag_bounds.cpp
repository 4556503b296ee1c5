// bag_bounds.cpp: differences of counts, a text in one or two vectors.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/bag_bounds.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/simd/bag_bounds.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSymbols = 32;

#if HWY_TARGET == HWY_SCALAR
static void bag_bounds_all(const std::uint8_t* counts, const std::uint8_t* others, std::size_t stride,
                           std::int64_t count, double* out) {
  for (std::int64_t i = 0; i < count; ++i, others += stride) {
    int more = 0;
    int less = 0;
    for (std::size_t at = 0; at < kSymbols; ++at) {
      more += std::max(counts[at] - others[at], 0);
      less += std::max(others[at] - counts[at], 0);
    }
    out[i] = std::max(more, less);
  }
}
#else
static void bag_bounds_all(const std::uint8_t* counts, const std::uint8_t* others, std::size_t stride,
                           std::int64_t count, double* out) {
  const hn::CappedTag<std::uint8_t, kSymbols> d;
  const hn::Repartition<std::uint64_t, decltype(d)> sums;
  const std::size_t lanes = hn::Lanes(d);
  for (std::int64_t i = 0; i < count; ++i, others += stride) {
    auto more = hn::Zero(sums);
    auto less = hn::Zero(sums);
    for (std::size_t at = 0; at < kSymbols; at += lanes) {
      const auto mine = hn::LoadU(d, counts + at);
      const auto other = hn::LoadU(d, others + at);
      more = hn::Add(more, hn::SumsOf8(hn::SaturatedSub(mine, other)));
      less = hn::Add(less, hn::SumsOf8(hn::SaturatedSub(other, mine)));
    }
    const auto most = std::max(hn::GetLane(hn::SumOfLanes(sums, more)), hn::GetLane(hn::SumOfLanes(sums, less)));
    out[i] = static_cast<double>(most);
  }
}
#endif

}  // namespace
}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(bag_bounds_all);

void bag_bounds(const std::uint8_t* counts, const std::uint8_t* others, std::size_t stride, std::int64_t count,
                double* out) {
  HWY_DYNAMIC_DISPATCH(bag_bounds_all)(counts, others, stride, count, out);
}

}  // namespace kith::cpu
#endif
