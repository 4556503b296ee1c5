// block_hits-inl.hpp: which blocks of scores in registers are written: those with one below its query's limit. Included
// once per instruction set.
#if defined(KITH_CPU_SIMD_BLOCK_HITS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CPU_SIMD_BLOCK_HITS_INL_
#undef KITH_CPU_SIMD_BLOCK_HITS_INL_
#else
#define KITH_CPU_SIMD_BLOCK_HITS_INL_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "cpu/simd/kernels.hpp"
#include "cpu/simd/register_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {

// Sets the sign bit of some lane if a score is below the limit, or the limit is infinite. By subtraction, because
// comparisons and minima compete with multiplications for execution units, and additions often do not.
template <class D, class V>
HWY_INLINE V below(D d, const V (&score)[kPanels], V limit) {
  V any = hn::Sub(hn::Set(d, std::numeric_limits<hn::TFromD<D>>::max()), limit);
  for (int i = 0; i < kPanels; i += 2) any = hn::Or3(any, hn::Sub(score[i], limit), hn::Sub(score[i + 1], limit));
  return any;
}

template <class D, class V>
HWY_INLINE bool any_negative(D, V values) {
  const hn::RebindToSigned<D> di;
  return !hn::AllFalse(di, hn::Lt(hn::BitCast(di, values), hn::Zero(di)));
}

// Appends the scores of QueryCount queries from `q` on by the panels of `block`. Returns the end of the list.
template <int QueryCount, class D, class V, class F = hn::TFromD<D>>
HWY_INLINE BlockHit* append_hits(D d, const V (&score)[QueryCount][kPanels], std::int64_t q, std::int64_t block,
                                 const TiledOutput<F>& out, BlockHit* hits) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V any = hn::Zero(d);
  for (int r = 0; r < QueryCount; ++r) any = hn::Or(any, below(d, score[r], hn::Set(d, out.limits[q + r])));
  if (HWY_LIKELY(!any_negative(d, any))) return hits;
  for (int r = 0; r < QueryCount; ++r) {
    if (!any_negative(d, below(d, score[r], hn::Set(d, out.limits[q + r])))) continue;
    F* to = out.scores + (hits - out.hits) * kPanels * lanes;
    for (int i = 0; i < kPanels; ++i) hn::StoreU(score[r][i], d, to + i * lanes);
    *hits++ = {static_cast<std::uint32_t>(q + r), static_cast<std::uint32_t>(block)};
  }
  return hits;
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
