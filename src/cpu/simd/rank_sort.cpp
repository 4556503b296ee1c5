// rank_sort.cpp: sorts a few distinct integers by rank: the position of each is the number of smaller ones, which
// vectors count without a branch. Cost: quadratic, but several times faster than std::sort for some dozens of values.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/rank_sort.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "cpu/simd/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void sort_by_ranks(std::int64_t* values, std::int64_t count, std::int64_t* sorted) {
  const hn::ScalableTag<std::int64_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = count; i < count + lanes; ++i) values[i] = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = hn::Set(d, values[i]);
    std::size_t rank = 0;
    for (std::int64_t j = 0; j < count; j += lanes) rank += hn::CountTrue(d, hn::Lt(hn::LoadU(d, values + j), value));
    sorted[rank] = values[i];
  }
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(sort_by_ranks);

void rank_sort(std::int64_t* values, std::int64_t count, std::int64_t* sorted) {
  HWY_DYNAMIC_DISPATCH(sort_by_ranks)(values, count, sorted);
}

}  // namespace kith::cpu
#endif
