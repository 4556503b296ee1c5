// register_tiled_scores.cpp: a tile of scores, four queries by four panels of base rows at a time, sums in registers.
// Paper   Hanák 2023, sections 3.3 and 5.2 ("modified GEMM" with any ⊗ and ⊕), on a CPU.
// Idea    A panel holds one coordinate of as many base rows as a vector has lanes, so no sum crosses lanes and each
//         loaded value is used four times.
// Cost    the form's step per pair and coordinate / lanes; packing is one pass over the base per tile.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/register_tiled_scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/forms-inl.hpp"
#include "cpu/simd/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

constexpr int kQueries = 4;
// Sixteen vector registers hold two panels' sums, thirty-two hold four.
constexpr int kPanels = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 4 : 2;

#if HWY_TARGET == HWY_SCALAR
template <class F>
constexpr std::int64_t kSide = 1;

template <class F>
void transpose_square(const F* from, std::int64_t, F* to, std::int64_t) {
  *to = *from;
}
#else
template <class F>
constexpr std::int64_t kSide = 16 / sizeof(F);

// Transposes a square of 16-byte vectors: rows of the base become lanes.
HWY_INLINE void transpose_square(const float* from, std::int64_t stride, float* to, std::int64_t to_stride) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> wide;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + stride);
  const auto c = hn::LoadU(d, from + 2 * stride);
  const auto e = hn::LoadU(d, from + 3 * stride);
  const auto ab_low = hn::BitCast(wide, hn::InterleaveLower(d, a, b));
  const auto ab_high = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
  const auto ce_low = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
  const auto ce_high = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_low, ce_low)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_high, ce_high)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_high, ce_high)), d, to + 3 * to_stride);
}

HWY_INLINE void transpose_square(const double* from, std::int64_t stride, double* to, std::int64_t to_stride) {
  const hn::FixedTag<double, 2> d;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + stride);
  hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + to_stride);
}
#endif

// A panel with all its rows present.
template <class F>
void pack_whole_panel(const F* rows, std::int64_t stride, std::int64_t dims, std::int64_t lanes, F* panel) {
  constexpr std::int64_t side = kSide<F>;
  for (std::int64_t j = 0; j < lanes; j += side) {
    const F* from = rows + j * stride;
    std::int64_t c = 0;
    for (; c + side <= dims; c += side) transpose_square(from + c, stride, panel + c * lanes + j, lanes);
    for (; c < dims; ++c)
      for (std::int64_t i = 0; i < side; ++i) panel[c * lanes + j + i] = from[i * stride + c];
  }
}

// Rows past the end are zeros; their scores are computed and never looked at.
template <class F>
void pack(Rows<F> base, std::int64_t dims, F* panels) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<F>()));
  const std::int64_t padded = (base.count + kPanels * lanes - 1) / (kPanels * lanes) * (kPanels * lanes);
  for (std::int64_t first = 0; first < padded; first += lanes, panels += lanes * dims) {
    if (first + lanes <= base.count) {
      pack_whole_panel(base.data + first * base.stride, base.stride, dims, lanes, panels);
      continue;
    }
    for (std::int64_t c = 0; c < dims; ++c)
      for (std::int64_t j = 0; j < lanes; ++j)
        panels[c * lanes + j] = first + j < base.count ? base.data[(first + j) * base.stride + c] : F{0};
  }
}

// QueryCount queries by kPanels panels, sums in registers throughout.
template <int QueryCount, class Form, class F>
HWY_INLINE void block_scores(Form form, const F* HWY_RESTRICT queries, std::int64_t query_stride,
                             const F* HWY_RESTRICT panels, std::int64_t dims, F* HWY_RESTRICT out,
                             std::int64_t out_stride) {
  const hn::ScalableTag<F> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t panel_size = lanes * dims;
  V sum[QueryCount][kPanels];
  for (auto& row : sum)
    for (V& value : row) value = hn::Zero(d);
  for (std::int64_t c = 0; c < dims; ++c) {
    V y[kPanels];
    for (int i = 0; i < kPanels; ++i) y[i] = hn::LoadU(d, panels + i * panel_size + c * lanes);
    for (int q = 0; q < QueryCount; ++q) {
      const V x = hn::Set(d, queries[q * query_stride + c]);
      for (int i = 0; i < kPanels; ++i) sum[q][i] = form.step(d, sum[q][i], x, y[i]);
    }
  }
  for (int q = 0; q < QueryCount; ++q)
    for (int i = 0; i < kPanels; ++i) hn::StoreU(sum[q][i], d, out + q * out_stride + i * lanes);
}

template <class F>
void scores(core::Form form, double p, Rows<F> queries, const F* panels, std::int64_t base_count, std::int64_t dims,
            F* out, std::int64_t out_stride) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<F>()));
  with_form(form, p, [&](auto op) HWY_ATTR {
    for (std::int64_t j = 0; j < base_count; j += kPanels * lanes) {
      const F* block = panels + j * dims;
      std::int64_t q = 0;
      for (; q + kQueries <= queries.count; q += kQueries)
        block_scores<kQueries>(op, queries.data + q * queries.stride, queries.stride, block, dims,
                               out + q * out_stride + j, out_stride);
      for (; q < queries.count; ++q)
        block_scores<1>(op, queries.data + q * queries.stride, queries.stride, block, dims, out + q * out_stride + j,
                        out_stride);
    }
  });
}

}  // namespace

void pack_f32(Rows<float> base, std::int64_t dims, float* panels) {
  pack(base, dims, panels);
}

void pack_f64(Rows<double> base, std::int64_t dims, double* panels) {
  pack(base, dims, panels);
}

void scores_f32(core::Form form, double p, Rows<float> queries, const float* panels, std::int64_t base_count,
                std::int64_t dims, float* out, std::int64_t out_stride) {
  scores(form, p, queries, panels, base_count, dims, out, out_stride);
}

void scores_f64(core::Form form, double p, Rows<double> queries, const double* panels, std::int64_t base_count,
                std::int64_t dims, double* out, std::int64_t out_stride) {
  scores(form, p, queries, panels, base_count, dims, out, out_stride);
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(pack_f32);
HWY_EXPORT(pack_f64);
HWY_EXPORT(scores_f32);
HWY_EXPORT(scores_f64);

void pack_panels(Rows<float> base, std::int64_t dims, float* panels) {
  HWY_DYNAMIC_DISPATCH(pack_f32)(base, dims, panels);
}

void pack_panels(Rows<double> base, std::int64_t dims, double* panels) {
  HWY_DYNAMIC_DISPATCH(pack_f64)(base, dims, panels);
}

void register_tiled_scores(core::Form form, double p, Rows<float> queries, const float* panels, std::int64_t base_count,
                           std::int64_t dims, float* out, std::int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(scores_f32)(form, p, queries, panels, base_count, dims, out, out_stride);
}

void register_tiled_scores(core::Form form, double p, Rows<double> queries, const double* panels,
                           std::int64_t base_count, std::int64_t dims, double* out, std::int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(scores_f64)(form, p, queries, panels, base_count, dims, out, out_stride);
}

}  // namespace kith::cpu
#endif
