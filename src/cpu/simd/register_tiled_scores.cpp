// register_tiled_scores.cpp: a tile of scores, six queries by four panels of base rows at a time, sums in registers.
// Paper   Hanák 2023, sections 3.3 and 5.2 ("modified GEMM" with any ⊗ and ⊕), on a CPU.
// Idea    A panel holds one coordinate of as many base rows as a vector has lanes, so no sum crosses lanes and each
//         loaded value is used several times. Scores are compared with the queries' limits while still in
//         registers; almost always none can be among the k nearest, and nothing is written.
// Cost    the form's step per pair and coordinate / lanes; packing is one pass over the base per tile.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/register_tiled_scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/block_hits-inl.hpp"
#include "cpu/simd/forms-inl.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/simd/register_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

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
  store_transposed(d, hn::LoadU(d, from), hn::LoadU(d, from + stride), hn::LoadU(d, from + 2 * stride),
                   hn::LoadU(d, from + 3 * stride), to, to_stride);
}

HWY_INLINE void transpose_square(const double* from, std::int64_t stride, double* to, std::int64_t to_stride) {
  const hn::FixedTag<double, 2> d;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + stride);
  hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + to_stride);
}
#endif

// Packs a panel that has all its rows.
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

// Packs all panels. Rows past the end are zeros, whose scores are computed and never read.
template <class F>
void pack(Rows<F> base, std::int64_t dims, F* panels) {
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
  }
}

template <class F>
std::int64_t block_rows() {
  return kPanels * static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<F>()));
}

// Scores of QueryCount queries from `q` on by the kPanels panels of `block`, with all sums in registers. Appends the
// hits and returns the end of the list.
template <int QueryCount, bool HasBias, class Form, class F>
HWY_INLINE BlockHit* block_scores(Form form, Rows<F> queries, std::int64_t q, const F* HWY_RESTRICT panels,
                                  const F* HWY_RESTRICT bias, std::int64_t block, std::int64_t dims,
                                  const TiledOutput<F>& out, BlockHit* hits) {
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
  if constexpr (HasBias)
    for (int r = 0; r < QueryCount; ++r)
      for (int i = 0; i < kPanels; ++i) sum[r][i] = hn::Add(sum[r][i], hn::LoadU(d, bias + i * lanes));
  return append_hits(d, sum, q, block, out, hits);
}

template <bool HasBias, class F>
std::int64_t all_blocks(core::Form form, double p, Rows<F> queries, const TiledBase<F>& base, std::int64_t dims,
                        const TiledOutput<F>& out) {
  const std::int64_t rows = block_rows<F>();
  BlockHit* hits = out.hits;
  with_form(form, p, [&](auto op) HWY_ATTR {
    for (std::int64_t block = 0; block * rows < base.count; ++block) {
      const F* panels = base.panels + block * rows * dims;
      const F* bias = HasBias ? base.bias + block * rows : nullptr;
      std::int64_t q = 0;
      for (; q + kQueries <= queries.count; q += kQueries)
        hits = block_scores<kQueries, HasBias>(op, queries, q, panels, bias, block, dims, out, hits);
      for (; q < queries.count; ++q)
        hits = block_scores<1, HasBias>(op, queries, q, panels, bias, block, dims, out, hits);
    }
  });
  return hits - out.hits;
}

template <class F>
std::int64_t tiled_scores(core::Form form, double p, Rows<F> queries, const TiledBase<F>& base, std::int64_t dims,
                          const TiledOutput<F>& out) {
  return base.bias != nullptr ? all_blocks<true>(form, p, queries, base, dims, out)
                              : all_blocks<false>(form, p, queries, base, dims, out);
}

}  // namespace

static constexpr auto& pack_f32 = pack<float>;
static constexpr auto& pack_f64 = pack<double>;
static constexpr auto& rows_f32 = block_rows<float>;
static constexpr auto& rows_f64 = block_rows<double>;
static constexpr auto& scores_f32 = tiled_scores<float>;
static constexpr auto& scores_f64 = tiled_scores<double>;

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

void pack_panels(Rows<float> base, std::int64_t dims, float* panels) {
  HWY_DYNAMIC_DISPATCH(pack_f32)(base, dims, panels);
}

void pack_panels(Rows<double> base, std::int64_t dims, double* panels) {
  HWY_DYNAMIC_DISPATCH(pack_f64)(base, dims, panels);
}

std::int64_t register_tiled_scores(core::Form form, double p, Rows<float> queries, const TiledBase<float>& base,
                                   std::int64_t dims, const TiledOutput<float>& out) {
  return HWY_DYNAMIC_DISPATCH(scores_f32)(form, p, queries, base, dims, out);
}

std::int64_t register_tiled_scores(core::Form form, double p, Rows<double> queries, const TiledBase<double>& base,
                                   std::int64_t dims, const TiledOutput<double>& out) {
  return HWY_DYNAMIC_DISPATCH(scores_f64)(form, p, queries, base, dims, out);
}

}  // namespace kith::cpu
#endif
