// direct_scores.cpp: scores of unpacked base rows, with vectors along the coordinates.
// Idea  for few queries: nothing is packed, so the base is read once at memory bandwidth.
// Rows that are not stored in working precision are widened on their way into registers.
// Cost  one load and the form's step per vector of coordinates, plus one sum across lanes per pair.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/direct_scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/forms-inl.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/simd/load_float-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

// Rows scored at the same time, to hide the latency of the additions.
constexpr int kRowsAtOnce = 4;

// Scores RowCount base rows that are `step` elements apart; scores are out_step apart. Coordinates past the last whole
// vector are read as zeros on both sides, which add nothing in any form.
template <int RowCount, class Form, class F, class T>
HWY_INLINE void row_scores(Form form, const F* HWY_RESTRICT x, const T* HWY_RESTRICT y, std::int64_t step,
                           std::int64_t dims, F* HWY_RESTRICT out, std::int64_t out_step) {
  const hn::ScalableTag<F> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sum[RowCount];
  for (V& value : sum) value = hn::Zero(d);
  std::int64_t c = 0;
  for (; c + lanes <= dims; c += lanes) {
    const V query = hn::LoadU(d, x + c);
    for (int r = 0; r < RowCount; ++r) sum[r] = form.step(d, sum[r], query, load_float(d, y + r * step + c));
  }
  if (c < dims) {
    const auto rest = static_cast<std::size_t>(dims - c);
    const V query = load_first(d, x + c, rest);
    for (int r = 0; r < RowCount; ++r) sum[r] = form.step(d, sum[r], query, load_float(d, y + r * step + c, rest));
  }
  for (int r = 0; r < RowCount; ++r) out[r * out_step] = hn::GetLane(form.combine(d, sum[r]));
}

// Rows scored at the same time are a quarter of the tile apart: several memory streams have more bandwidth than one.
template <class T, class F>
void scores(core::Form form, double p, Rows<F> queries, Rows<T> base, std::int64_t dims, F* out,
            std::int64_t out_stride) {
  with_form(form, p, [&](auto op) HWY_ATTR {
    const std::int64_t apart = base.count / kRowsAtOnce;
    for (std::int64_t q = 0; q < queries.count; ++q) {
      const F* query = queries.data + q * queries.stride;
      F* to = out + q * out_stride;
      for (std::int64_t j = 0; j < apart; ++j)
        row_scores<kRowsAtOnce>(op, query, base.data + j * base.stride, apart * base.stride, dims, to + j, apart);
      for (std::int64_t j = kRowsAtOnce * apart; j < base.count; ++j)
        row_scores<1>(op, query, base.data + j * base.stride, 0, dims, to + j, 0);
    }
  });
}

}  // namespace

static constexpr auto& scores_f32 = scores<float, float>;
static constexpr auto& scores_f64 = scores<double, double>;
static constexpr auto& scores_f16 = scores<Float16, float>;
static constexpr auto& scores_bf16 = scores<BFloat16, float>;
static constexpr auto& scores_u8 = scores<std::uint8_t, float>;
static constexpr auto& scores_i8 = scores<std::int8_t, float>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(scores_f32);
HWY_EXPORT(scores_f64);
HWY_EXPORT(scores_f16);
HWY_EXPORT(scores_bf16);
HWY_EXPORT(scores_u8);
HWY_EXPORT(scores_i8);

#define KITH_DIRECT_SCORES(T, F, function)                                                                \
  template <>                                                                                             \
  void direct_scores(core::Form form, double p, Rows<F> queries, Rows<T> base, std::int64_t dims, F* out, \
                     std::int64_t out_stride) {                                                           \
    HWY_DYNAMIC_DISPATCH(function)(form, p, queries, base, dims, out, out_stride);                        \
  }
KITH_DIRECT_SCORES(float, float, scores_f32)
KITH_DIRECT_SCORES(double, double, scores_f64)
KITH_DIRECT_SCORES(Float16, float, scores_f16)
KITH_DIRECT_SCORES(BFloat16, float, scores_bf16)
KITH_DIRECT_SCORES(std::uint8_t, float, scores_u8)
KITH_DIRECT_SCORES(std::int8_t, float, scores_i8)
#undef KITH_DIRECT_SCORES

}  // namespace kith::cpu
#endif
