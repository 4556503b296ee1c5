// register_tiled_scores.cpp: a tile of scores, six queries by four panels of base rows at a time, sums in registers.
// Paper   Hanák 2023, sections 3.3 and 5.2 ("modified GEMM" with any ⊗ and ⊕), on a CPU.
// Idea    A panel holds one coordinate of as many base rows as a vector has lanes, so no sum crosses lanes and each
//         loaded value is used several times. Scores are compared with the queries' thresholds while still in
//         registers; almost always none can be among the k nearest, and nothing is written.
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

// Thirty-two vector registers hold the sums of six queries by four panels beside what feeds them, sixteen those of
// four by two.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;
constexpr int kQueries = kManyRegisters ? 6 : 4;
constexpr int kPanels = kManyRegisters ? 4 : 2;

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
void pack(Rows<F> base, std::int64_t dims, const F* last, F* panels) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<F>()));
  const std::int64_t padded = (base.count + kPanels * lanes - 1) / (kPanels * lanes) * (kPanels * lanes);
  for (std::int64_t first = 0; first < padded; first += lanes) {
    if (first + lanes <= base.count) {
      pack_whole_panel(base.data + first * base.stride, base.stride, dims, lanes, panels);
    } else {
      for (std::int64_t c = 0; c < dims; ++c)
        for (std::int64_t j = 0; j < lanes; ++j)
          panels[c * lanes + j] = first + j < base.count ? base.data[(first + j) * base.stride + c] : F{0};
    }
    panels += lanes * dims;
    if (last == nullptr) continue;
    for (std::int64_t j = 0; j < lanes; ++j) panels[j] = first + j < base.count ? last[first + j] : F{0};
    panels += lanes;
  }
}

template <class F>
std::int64_t block_rows() {
  return kPanels * static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<F>()));
}

// QueryCount queries by kPanels panels, sums in registers throughout. `q` and `block` say where in `out` they belong.
template <int QueryCount, class Form, class F>
HWY_INLINE void block_scores(Form form, Rows<F> queries, std::int64_t q, const F* HWY_RESTRICT panels,
                             std::int64_t block, std::int64_t dims, const TiledOutput<F>& out) {
  const hn::ScalableTag<F> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t panel_size = lanes * dims;
  const F* HWY_RESTRICT query = queries.data + q * queries.stride;
  V sum[QueryCount][kPanels];
  for (auto& row : sum)
    for (V& value : row) value = hn::Zero(d);
  for (std::int64_t c = 0; c < dims; ++c) {
    V y[kPanels];
    for (int i = 0; i < kPanels; ++i) y[i] = hn::LoadU(d, panels + i * panel_size + c * lanes);
    for (int r = 0; r < QueryCount; ++r) {
      const V x = hn::Set(d, query[r * queries.stride + c]);
      for (int i = 0; i < kPanels; ++i) sum[r][i] = form.step(d, sum[r][i], x, y[i]);
    }
  }
  for (int r = 0; r < QueryCount; ++r) {
    const V limit = hn::Set(d, out.thresholds[q + r]);
    V least = sum[r][0];
    for (int i = 1; i < kPanels; ++i) least = hn::Min(least, sum[r][i]);
    if (HWY_LIKELY(hn::AllTrue(d, hn::Gt(least, limit)))) continue;
    F* to = out.scores + (q + r) * out.scores_stride + block * kPanels * lanes;
    for (int i = 0; i < kPanels; ++i) hn::StoreU(sum[r][i], d, to + i * lanes);
    out.hits[(q + r) * out.hits_stride + block] = 1;
  }
}

template <class F>
void scores(core::Form form, double p, Rows<F> queries, const F* panels, std::int64_t base_count, std::int64_t dims,
            const TiledOutput<F>& out) {
  const std::int64_t rows = block_rows<F>();
  with_form(form, p, [&](auto op) HWY_ATTR {
    for (std::int64_t block = 0; block * rows < base_count; ++block) {
      const F* block_panels = panels + block * rows * dims;
      std::int64_t q = 0;
      for (; q + kQueries <= queries.count; q += kQueries)
        block_scores<kQueries>(op, queries, q, block_panels, block, dims, out);
      for (; q < queries.count; ++q) block_scores<1>(op, queries, q, block_panels, block, dims, out);
    }
  });
}

}  // namespace

void pack_f32(Rows<float> base, std::int64_t dims, const float* last, float* panels) {
  pack(base, dims, last, panels);
}

void pack_f64(Rows<double> base, std::int64_t dims, const double* last, double* panels) {
  pack(base, dims, last, panels);
}

void scores_f32(core::Form form, double p, Rows<float> queries, const float* panels, std::int64_t base_count,
                std::int64_t dims, const TiledOutput<float>& out) {
  scores(form, p, queries, panels, base_count, dims, out);
}

void scores_f64(core::Form form, double p, Rows<double> queries, const double* panels, std::int64_t base_count,
                std::int64_t dims, const TiledOutput<double>& out) {
  scores(form, p, queries, panels, base_count, dims, out);
}

std::int64_t rows_f32() {
  return block_rows<float>();
}

std::int64_t rows_f64() {
  return block_rows<double>();
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(pack_f32);
HWY_EXPORT(pack_f64);
HWY_EXPORT(rows_f32);
HWY_EXPORT(rows_f64);
HWY_EXPORT(scores_f32);
HWY_EXPORT(scores_f64);

template <>
std::int64_t tiled_block_rows<float>() {
  return HWY_DYNAMIC_DISPATCH(rows_f32)();
}

template <>
std::int64_t tiled_block_rows<double>() {
  return HWY_DYNAMIC_DISPATCH(rows_f64)();
}

void pack_panels(Rows<float> base, std::int64_t dims, const float* last, float* panels) {
  HWY_DYNAMIC_DISPATCH(pack_f32)(base, dims, last, panels);
}

void pack_panels(Rows<double> base, std::int64_t dims, const double* last, double* panels) {
  HWY_DYNAMIC_DISPATCH(pack_f64)(base, dims, last, panels);
}

void register_tiled_scores(core::Form form, double p, Rows<float> queries, const float* panels, std::int64_t base_count,
                           std::int64_t dims, const TiledOutput<float>& out) {
  HWY_DYNAMIC_DISPATCH(scores_f32)(form, p, queries, panels, base_count, dims, out);
}

void register_tiled_scores(core::Form form, double p, Rows<double> queries, const double* panels,
                           std::int64_t base_count, std::int64_t dims, const TiledOutput<double>& out) {
  HWY_DYNAMIC_DISPATCH(scores_f64)(form, p, queries, panels, base_count, dims, out);
}

}  // namespace kith::cpu
#endif
