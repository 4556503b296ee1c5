// filter.cpp: the threshold filter, the first half of selection.
// Paper   Hanák 2023, section 4.1 (bits: compare with the k-th value, keep few), on a CPU.
// Idea    Four vectors are tested at once; almost always none of their scores can be among the k nearest, and the loop
//         continues. Otherwise the passing scores are compressed into the row's candidate buffer.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/compress-inl.hpp"
#include "cpu/simd/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

constexpr int kUnroll = 4;

// The candidate buffers and their size so far.
template <class F>
struct Sink {
  F* scores;
  OffsetOf<F>* offsets;
  std::int64_t kept;
};

template <class F, class V, class M>
HWY_INLINE void append(V score, M keep, F raise, OffsetOf<F> first, Sink<F>& sink) {
  const hn::ScalableTag<F> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  // Compresses in a register and stores whole vectors: the compressing store is many times slower on some CPUs.
  hn::StoreU(compress(hn::Add(score, hn::Set(d, raise)), keep), d, sink.scores + sink.kept);
  hn::StoreU(compress(hn::Iota(du, first), hn::RebindMask(du, keep)), du, sink.offsets + sink.kept);
  sink.kept += static_cast<std::int64_t>(hn::CountTrue(d, keep));
}

template <bool HasBias, class F>
FilterResult<F> run(const F* scores, const F* bias, std::int64_t count, F threshold, F raise, OffsetOf<F> first,
                    Sink<F> sink, std::int64_t capacity) {
  const hn::ScalableTag<F> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V limit = hn::Set(d, threshold);
  std::int64_t i = 0;
  for (; i + kUnroll * lanes <= count && sink.kept + kSlack <= capacity; i += kUnroll * lanes) {
    V score[kUnroll];
    for (int u = 0; u < kUnroll; ++u) {
      score[u] = hn::LoadU(d, scores + i + u * lanes);
      if constexpr (HasBias) score[u] = hn::Add(score[u], hn::LoadU(d, bias + i + u * lanes));
    }
    const auto above01 = hn::And(hn::Gt(score[0], limit), hn::Gt(score[1], limit));
    const auto above23 = hn::And(hn::Gt(score[2], limit), hn::Gt(score[3], limit));
    if (HWY_LIKELY(hn::AllTrue(d, hn::And(above01, above23)))) continue;
    for (int u = 0; u < kUnroll; ++u) {
      const auto keep = hn::Not(hn::Gt(score[u], limit));
      if (!hn::AllFalse(d, keep))
        append(score[u], keep, raise, static_cast<OffsetOf<F>>(first + static_cast<OffsetOf<F>>(i + u * lanes)), sink);
    }
  }
  for (; i < count && count - i < kUnroll * lanes && sink.kept + kSlack <= capacity; ++i) {
    const F score = HasBias ? scores[i] + bias[i] : scores[i];
    if (score > threshold) continue;
    sink.scores[sink.kept] = score + raise;
    sink.offsets[sink.kept] = static_cast<OffsetOf<F>>(first + static_cast<OffsetOf<F>>(i));
    ++sink.kept;
  }
  return {i, sink.kept};
}

template <class F>
FilterResult<F> filter_scores(const F* scores, const F* bias, std::int64_t count, F threshold, F raise,
                              OffsetOf<F> first, F* kept_scores, OffsetOf<F>* kept_offsets, std::int64_t capacity) {
  const Sink<F> sink{kept_scores, kept_offsets, 0};
  return bias != nullptr ? run<true>(scores, bias, count, threshold, raise, first, sink, capacity)
                         : run<false>(scores, bias, count, threshold, raise, first, sink, capacity);
}

// Vectors are stored at or before the position they were read from, so nothing unread is overwritten.
template <class F>
std::int64_t compact_in_place(F* scores, OffsetOf<F>* offsets, std::int64_t count, F threshold) {
  const hn::ScalableTag<F> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto limit = hn::Set(d, threshold);
  std::int64_t kept = 0;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto score = hn::LoadU(d, scores + i);
    const auto offset = hn::LoadU(du, offsets + i);
    const auto keep = hn::Not(hn::Gt(score, limit));
    hn::StoreU(compress(score, keep), d, scores + kept);
    hn::StoreU(compress(offset, hn::RebindMask(du, keep)), du, offsets + kept);
    kept += static_cast<std::int64_t>(hn::CountTrue(d, keep));
  }
  for (; i < count; ++i) {
    if (scores[i] > threshold) continue;
    scores[kept] = scores[i];
    offsets[kept++] = offsets[i];
  }
  return kept;
}

template <class F>
std::int64_t count_up_to(const F* values, std::int64_t count, F limit) {
  const hn::ScalableTag<F> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto bound = hn::Set(d, limit);
  std::size_t found = 0;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) found += hn::CountTrue(d, hn::Le(hn::LoadU(d, values + i), bound));
  for (; i < count; ++i) found += values[i] <= limit ? 1 : 0;
  return static_cast<std::int64_t>(found);
}

}  // namespace

static constexpr auto& filter_f32 = filter_scores<float>;
static constexpr auto& filter_f64 = filter_scores<double>;
static constexpr auto& compact_f32 = compact_in_place<float>;
static constexpr auto& compact_f64 = compact_in_place<double>;
static constexpr auto& count_f32 = count_up_to<float>;
static constexpr auto& count_f64 = count_up_to<double>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(filter_f32);
HWY_EXPORT(filter_f64);
HWY_EXPORT(compact_f32);
HWY_EXPORT(compact_f64);
HWY_EXPORT(count_f32);
HWY_EXPORT(count_f64);

FilterResult<float> filter(const float* scores, const float* bias, std::int64_t count, float threshold, float raise,
                           std::uint32_t first, float* kept_scores, std::uint32_t* kept_offsets,
                           std::int64_t capacity) {
  return HWY_DYNAMIC_DISPATCH(filter_f32)(scores, bias, count, threshold, raise, first, kept_scores, kept_offsets,
                                          capacity);
}

FilterResult<double> filter(const double* scores, const double* bias, std::int64_t count, double threshold,
                            double raise, std::uint64_t first, double* kept_scores, std::uint64_t* kept_offsets,
                            std::int64_t capacity) {
  return HWY_DYNAMIC_DISPATCH(filter_f64)(scores, bias, count, threshold, raise, first, kept_scores, kept_offsets,
                                          capacity);
}

std::int64_t compact(float* scores, std::uint32_t* offsets, std::int64_t count, float threshold) {
  return HWY_DYNAMIC_DISPATCH(compact_f32)(scores, offsets, count, threshold);
}

std::int64_t compact(double* scores, std::uint64_t* offsets, std::int64_t count, double threshold) {
  return HWY_DYNAMIC_DISPATCH(compact_f64)(scores, offsets, count, threshold);
}

std::int64_t count_at_most(const float* values, std::int64_t count, float limit) {
  return HWY_DYNAMIC_DISPATCH(count_f32)(values, count, limit);
}

std::int64_t count_at_most(const double* values, std::int64_t count, double limit) {
  return HWY_DYNAMIC_DISPATCH(count_f64)(values, count, limit);
}

}  // namespace kith::cpu
#endif
