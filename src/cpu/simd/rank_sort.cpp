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

void sort_pairs_by_ranks(std::int64_t* keys, std::int64_t* ids, std::int64_t count, std::int64_t* sorted_keys,
                         std::int64_t* sorted_ids) {
  const hn::ScalableTag<std::int64_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = count; i < count + lanes; ++i) keys[i] = ids[i] = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto key = hn::Set(d, keys[i]);
    const auto id = hn::Set(d, ids[i]);
    std::size_t rank = 0;
    for (std::int64_t j = 0; j < count; j += lanes) {
      const auto other = hn::LoadU(d, keys + j);
      const auto earlier = hn::And(hn::Eq(other, key), hn::Lt(hn::LoadU(d, ids + j), id));
      rank += hn::CountTrue(d, hn::Or(hn::Lt(other, key), earlier));
    }
    sorted_keys[rank] = keys[i];
    sorted_ids[rank] = ids[i];
  }
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(sort_by_ranks);
HWY_EXPORT(sort_pairs_by_ranks);

void rank_sort(std::int64_t* values, std::int64_t count, std::int64_t* sorted) {
  HWY_DYNAMIC_DISPATCH(sort_by_ranks)(values, count, sorted);
}

void rank_sort_pairs(std::int64_t* keys, std::int64_t* ids, std::int64_t count, std::int64_t* sorted_keys,
                     std::int64_t* sorted_ids) {
  HWY_DYNAMIC_DISPATCH(sort_pairs_by_ranks)(keys, ids, count, sorted_keys, sorted_ids);
}

}  // namespace kith::cpu
#endif
