// lane_blocks.cpp: scores of points in block layout.
// Each coordinate of a row is broadcast to a vector; nothing is summed across lanes.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/lane_blocks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "cpu/simd/compress-inl.hpp"
#include "cpu/simd/forms-inl.hpp"
#include "cpu/simd/lane_blocks.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

// Vectors no longer than a block.
template <class F>
using BlockTag = hn::CappedTag<F, static_cast<std::size_t>(kBlockPoints<F>)>;

// Scores of RowCount rows, `row_step` apart, with the vector of points at `block`.
template <int RowCount, class Form, class F, class V>
HWY_INLINE void vector_scores(Form form, const F* HWY_RESTRICT row, std::int64_t row_step, const F* HWY_RESTRICT block,
                              std::int64_t dims, V* sum) {
  const BlockTag<F> d;
  for (int r = 0; r < RowCount; ++r) sum[r] = hn::Zero(d);
  for (std::int64_t c = 0; c < dims; ++c) {
    const V y = hn::LoadU(d, block + c * kBlockPoints<F>);
    for (int r = 0; r < RowCount; ++r) sum[r] = form.step(d, sum[r], hn::Set(d, row[r * row_step + c]), y);
  }
}

template <class F>
void all_scores(core::Form form, double p, const F* row, const LaneBlocks<F>& points, F* out) {
  const BlockTag<F> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  with_form(form, p, [&](auto op) HWY_ATTR {
    for (std::int64_t first = 0; first < points.points; first += kBlockPoints<F>)
      for (std::int64_t lane = 0; lane < kBlockPoints<F>; lane += lanes) {
        V score[1];
        vector_scores<1>(op, row, 0, points.data + first * points.dims + lane, points.dims, score);
        hn::StoreU(score[0], d, out + first + lane);
      }
  });
}

// Finds the smallest lane, the first point among equals; `at` holds the lanes' points.
template <class F, class V, class U>
HWY_INLINE void reduce_nearest(V best, U at, std::uint32_t* nearest, F* score) {
  const BlockTag<F> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using Index = hn::TFromD<decltype(du)>;
  HWY_ALIGN F values[kBlockPoints<F>];
  HWY_ALIGN Index points[kBlockPoints<F>];
  hn::StoreU(best, d, values);
  hn::StoreU(at, du, points);
  std::size_t least = 0;
  for (std::size_t i = 1; i < hn::Lanes(d); ++i)
    if (values[i] < values[least] || (values[i] == values[least] && points[i] < points[least])) least = i;
  *nearest = static_cast<std::uint32_t>(points[least]);
  *score = values[least];
}

template <int RowCount, class Form, class F>
HWY_INLINE void nearest_of_rows(Form form, const F* row, std::int64_t row_step, const LaneBlocks<F>& points,
                                std::uint32_t* nearest, F* scores) {
  const BlockTag<F> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using V = hn::Vec<decltype(d)>;
  using U = hn::Vec<decltype(du)>;
  using Index = hn::TFromD<decltype(du)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V best[RowCount];
  U at[RowCount];
  for (int r = 0; r < RowCount; ++r) {
    best[r] = hn::Inf(d);
    at[r] = hn::Zero(du);
  }
  for (std::int64_t first = 0; first < points.points; first += lanes) {
    V score[RowCount];
    vector_scores<RowCount>(form, row, row_step, points.data + block_offset<F>(first, points.dims), points.dims, score);
    const auto there = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, points.points - first)));
    const U here = hn::Iota(du, static_cast<Index>(first));
    for (int r = 0; r < RowCount; ++r) {
      const auto better = hn::And(hn::Lt(score[r], best[r]), there);
      best[r] = hn::IfThenElse(better, score[r], best[r]);
      at[r] = hn::IfThenElse(hn::RebindMask(du, better), here, at[r]);
    }
  }
  for (int r = 0; r < RowCount; ++r) reduce_nearest(best[r], at[r], nearest + r, scores + r);
}

template <class F>
std::int64_t all_lengths(core::Form form, double p, const F* row, const LaneBlocks<F>& points, F* out) {
  const BlockTag<F> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using V = hn::Vec<decltype(d)>;
  using U = hn::Vec<decltype(du)>;
  using Index = hn::TFromD<decltype(du)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t end = block_count<F>(points.points) * kBlockPoints<F>;
  std::uint32_t nearest = 0;
  with_form(form, p, [&](auto op) HWY_ATTR {
    V best = hn::Inf(d);
    U at = hn::Zero(du);
    for (std::int64_t first = 0; first < end; first += lanes) {
      V score[1];
      vector_scores<1>(op, row, 0, points.data + block_offset<F>(first, points.dims), points.dims, score);
      if constexpr (std::is_same_v<decltype(op), SquaredForm>) score[0] = hn::Sqrt(score[0]);
      hn::StoreU(hn::IfThenElse(hn::Lt(score[0], hn::Inf(d)), score[0], hn::NaN(d)), d, out + first);
      if (first >= points.points) continue;
      const auto there = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, points.points - first)));
      const auto better = hn::And(hn::Lt(score[0], best), there);
      best = hn::IfThenElse(better, score[0], best);
      at = hn::IfThenElse(hn::RebindMask(du, better), hn::Iota(du, static_cast<Index>(first)), at);
    }
    F score = 0;
    reduce_nearest(best, at, &nearest, &score);
  });
  return nearest;
}

template <class F>
void nearest(core::Form form, double p, Rows<F> rows, const LaneBlocks<F>& points, std::uint32_t* out, F* scores) {
  constexpr int kRowsAtOnce = 4;  // for each load of points
  with_form(form, p, [&](auto op) HWY_ATTR {
    std::int64_t r = 0;
    for (; r + kRowsAtOnce <= rows.count; r += kRowsAtOnce)
      nearest_of_rows<kRowsAtOnce>(op, rows.data + r * rows.stride, rows.stride, points, out + r, scores + r);
    for (; r < rows.count; ++r) nearest_of_rows<1>(op, rows.data + r * rows.stride, 0, points, out + r, scores + r);
  });
}

template <class F>
ScanResult scan(core::Form form, double p, const F* row, const LaneBlocks<F>& points, const F* lengths,
                const LengthInterval<F>* intervals, std::int64_t count, F limit, F* kept_scores,
                OffsetOf<F>* kept_points) {
  const BlockTag<F> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  ScanResult result{0, 0};
  with_form(form, p, [&](auto op) HWY_ATTR {
    const V bound = hn::Set(d, limit);
    for (std::int64_t s = 0; s < count; ++s) {
      const LengthInterval<F> interval = intervals[s];
      const V low = hn::Set(d, interval.low);
      const V high = hn::Set(d, interval.high);
      for (std::int64_t at = interval.first / lanes * lanes; at < interval.last; at += lanes) {
        // Lanes before and after the interval belong to other clusters.
        const auto ahead = static_cast<std::size_t>(std::max<std::int64_t>(0, interval.first - at));
        const auto until = static_cast<std::size_t>(std::min(lanes, interval.last - at));
        const V length = hn::LoadU(d, lengths + at);
        const auto inside = hn::And(hn::AndNot(hn::FirstN(d, ahead), hn::FirstN(d, until)),
                                    hn::And(hn::Ge(length, low), hn::Le(length, high)));
        if (hn::AllFalse(d, inside)) {
          if (lengths[std::max(at, interval.first)] < interval.low) break;
          continue;
        }
        result.scored += static_cast<std::int64_t>(hn::CountTrue(d, inside));
        V score[1];
        vector_scores<1>(op, row, 0, points.data + block_offset<F>(at, points.dims), points.dims, score);
        const auto keep = hn::AndNot(hn::Gt(score[0], bound), inside);
        if (hn::AllFalse(d, keep)) continue;
        hn::StoreU(compress(score[0], keep), d, kept_scores + result.kept);
        hn::StoreU(compress(hn::Iota(du, static_cast<OffsetOf<F>>(at)), hn::RebindMask(du, keep)), du,
                   kept_points + result.kept);
        result.kept += static_cast<std::int64_t>(hn::CountTrue(d, keep));
      }
    }
  });
  return result;
}

template <class F>
std::int64_t count_within(const F* values, std::int64_t count, F limit) {
  const hn::ScalableTag<F> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto most = hn::Set(d, limit);
  std::size_t found = 0;
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) found += hn::CountTrue(d, hn::Le(hn::LoadU(d, values + i), most));
  if (i < count) {
    const auto there = hn::FirstN(d, static_cast<std::size_t>(count - i));
    found += hn::CountTrue(d, hn::And(there, hn::Le(hn::MaskedLoad(there, d, values + i), most)));
  }
  return static_cast<std::int64_t>(found);
}

// Bisects between the extremes, a few times: more precision would cost more than it saves.
template <class F>
F kth_bound(const F* values, std::int64_t count, std::int64_t k) {
  constexpr int kHalvings = 10;
  const F infinity = std::numeric_limits<F>::infinity();
  const hn::ScalableTag<F> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto least = hn::Inf(d);
  auto most = hn::Neg(hn::Inf(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto there = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - i)));
    const auto value = hn::MaskedLoad(there, d, values + i);
    const auto finite = hn::And(there, hn::Lt(hn::Abs(value), hn::Inf(d)));
    least = hn::IfThenElse(finite, hn::Min(least, value), least);
    most = hn::IfThenElse(finite, hn::Max(most, value), most);
  }
  F low = hn::GetLane(hn::MinOfLanes(d, least));
  F high = hn::GetLane(hn::MaxOfLanes(d, most));
  if (!(low < infinity) || count_within(values, count, high) < k) return infinity;
  for (int i = 0; i < kHalvings; ++i) {
    const F middle = low + (high - low) / 2;
    const std::int64_t found = count_within(values, count, middle);
    (found >= k ? high : low) = middle;
    if (found == k) break;
  }
  return high;
}

template <class F>
std::int64_t within(const F* lengths, const F* radii, std::int64_t count, F theta, OffsetOf<F>* list) {
  const BlockTag<F> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto limit = hn::Set(d, theta);
  std::int64_t listed = 0;
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto there = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - i)));
    const auto least = hn::Sub(hn::LoadU(d, lengths + i), hn::LoadU(d, radii + i));
    const auto keep = hn::AndNot(hn::Gt(least, limit), there);
    if (hn::AllFalse(d, keep)) continue;
    hn::StoreU(compress(hn::Iota(du, static_cast<OffsetOf<F>>(i)), hn::RebindMask(du, keep)), du, list + listed);
    listed += static_cast<std::int64_t>(hn::CountTrue(d, keep));
  }
  return listed;
}

}  // namespace

static constexpr auto& all_scores_f32 = all_scores<float>;
static constexpr auto& all_scores_f64 = all_scores<double>;
static constexpr auto& all_lengths_f32 = all_lengths<float>;
static constexpr auto& all_lengths_f64 = all_lengths<double>;
static constexpr auto& nearest_f32 = nearest<float>;
static constexpr auto& nearest_f64 = nearest<double>;
static constexpr auto& scan_f32 = scan<float>;
static constexpr auto& scan_f64 = scan<double>;
static constexpr auto& kth_f32 = kth_bound<float>;
static constexpr auto& kth_f64 = kth_bound<double>;
static constexpr auto& within_f32 = within<float>;
static constexpr auto& within_f64 = within<double>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(all_scores_f32);
HWY_EXPORT(all_scores_f64);
HWY_EXPORT(all_lengths_f32);
HWY_EXPORT(all_lengths_f64);
HWY_EXPORT(nearest_f32);
HWY_EXPORT(nearest_f64);
HWY_EXPORT(scan_f32);
HWY_EXPORT(scan_f64);
HWY_EXPORT(kth_f32);
HWY_EXPORT(kth_f64);
HWY_EXPORT(within_f32);
HWY_EXPORT(within_f64);

void block_scores(core::Form form, double p, const float* row, const LaneBlocks<float>& points, float* out) {
  HWY_DYNAMIC_DISPATCH(all_scores_f32)(form, p, row, points, out);
}
void block_scores(core::Form form, double p, const double* row, const LaneBlocks<double>& points, double* out) {
  HWY_DYNAMIC_DISPATCH(all_scores_f64)(form, p, row, points, out);
}

std::int64_t block_lengths(core::Form form, double p, const float* row, const LaneBlocks<float>& points, float* out) {
  return HWY_DYNAMIC_DISPATCH(all_lengths_f32)(form, p, row, points, out);
}
std::int64_t block_lengths(core::Form form, double p, const double* row, const LaneBlocks<double>& points,
                           double* out) {
  return HWY_DYNAMIC_DISPATCH(all_lengths_f64)(form, p, row, points, out);
}

void nearest_points(core::Form form, double p, Rows<float> rows, const LaneBlocks<float>& points,
                    std::uint32_t* nearest, float* scores) {
  HWY_DYNAMIC_DISPATCH(nearest_f32)(form, p, rows, points, nearest, scores);
}
void nearest_points(core::Form form, double p, Rows<double> rows, const LaneBlocks<double>& points,
                    std::uint32_t* nearest, double* scores) {
  HWY_DYNAMIC_DISPATCH(nearest_f64)(form, p, rows, points, nearest, scores);
}

ScanResult scan_intervals(core::Form form, double p, const float* row, const LaneBlocks<float>& points,
                          const float* lengths, const LengthInterval<float>* intervals, std::int64_t count, float limit,
                          float* kept_scores, std::uint32_t* kept_points) {
  return HWY_DYNAMIC_DISPATCH(scan_f32)(form, p, row, points, lengths, intervals, count, limit, kept_scores,
                                        kept_points);
}
ScanResult scan_intervals(core::Form form, double p, const double* row, const LaneBlocks<double>& points,
                          const double* lengths, const LengthInterval<double>* intervals, std::int64_t count,
                          double limit, double* kept_scores, std::uint64_t* kept_points) {
  return HWY_DYNAMIC_DISPATCH(scan_f64)(form, p, row, points, lengths, intervals, count, limit, kept_scores,
                                        kept_points);
}

float bound_kth(const float* values, std::int64_t count, std::int64_t k) {
  return HWY_DYNAMIC_DISPATCH(kth_f32)(values, count, k);
}
double bound_kth(const double* values, std::int64_t count, std::int64_t k) {
  return HWY_DYNAMIC_DISPATCH(kth_f64)(values, count, k);
}

std::int64_t list_within(const float* lengths, const float* radii, std::int64_t count, float theta,
                         std::uint32_t* list) {
  return HWY_DYNAMIC_DISPATCH(within_f32)(lengths, radii, count, theta, list);
}
std::int64_t list_within(const double* lengths, const double* radii, std::int64_t count, double theta,
                         std::uint64_t* list) {
  return HWY_DYNAMIC_DISPATCH(within_f64)(lengths, radii, count, theta, list);
}

}  // namespace kith::cpu
#endif
