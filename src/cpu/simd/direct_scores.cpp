// direct_scores.cpp: scores of base rows read as they lie, a vector along the coordinates.
// The way for few queries: nothing is packed, so the base streams through once at memory speed.
// Cost  one load and the form's step per coordinate, plus one sum across lanes per pair.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/direct_scores.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/forms-inl.hpp"
#include "cpu/simd/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

// One score. Four sums hide the latency of the step; coordinates past the last whole vector are read one by one into
// zero-filled vectors, which no form counts.
template <class Form, class F>
HWY_INLINE F pair_score(Form form, const F* HWY_RESTRICT x, const F* HWY_RESTRICT y, std::int64_t dims) {
  const hn::ScalableTag<F> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  std::int64_t c = 0;
  for (; c + 4 * lanes <= dims; c += 4 * lanes) {
    sum0 = form.step(d, sum0, hn::LoadU(d, x + c), hn::LoadU(d, y + c));
    sum1 = form.step(d, sum1, hn::LoadU(d, x + c + lanes), hn::LoadU(d, y + c + lanes));
    sum2 = form.step(d, sum2, hn::LoadU(d, x + c + 2 * lanes), hn::LoadU(d, y + c + 2 * lanes));
    sum3 = form.step(d, sum3, hn::LoadU(d, x + c + 3 * lanes), hn::LoadU(d, y + c + 3 * lanes));
  }
  for (; c + lanes <= dims; c += lanes) sum0 = form.step(d, sum0, hn::LoadU(d, x + c), hn::LoadU(d, y + c));
  if (c < dims) {
    HWY_ALIGN F tail_x[HWY_MAX_BYTES / sizeof(F)] = {};
    HWY_ALIGN F tail_y[HWY_MAX_BYTES / sizeof(F)] = {};
    for (std::int64_t i = 0; c + i < dims; ++i) {
      tail_x[i] = x[c + i];
      tail_y[i] = y[c + i];
    }
    sum1 = form.step(d, sum1, hn::Load(d, tail_x), hn::Load(d, tail_y));
  }
  return hn::GetLane(form.combine(d, form.join(form.join(sum0, sum1), form.join(sum2, sum3))));
}

template <class F>
void scores(core::Form form, double p, Rows<F> queries, Rows<F> base, std::int64_t dims, F* out,
            std::int64_t out_stride) {
  with_form(form, p, [&](auto op) HWY_ATTR {
    for (std::int64_t q = 0; q < queries.count; ++q) {
      const F* query = queries.data + q * queries.stride;
      for (std::int64_t j = 0; j < base.count; ++j)
        out[q * out_stride + j] = pair_score(op, query, base.data + j * base.stride, dims);
    }
  });
}

}  // namespace

void scores_f32(core::Form form, double p, Rows<float> queries, Rows<float> base, std::int64_t dims, float* out,
                std::int64_t out_stride) {
  scores(form, p, queries, base, dims, out, out_stride);
}

void scores_f64(core::Form form, double p, Rows<double> queries, Rows<double> base, std::int64_t dims, double* out,
                std::int64_t out_stride) {
  scores(form, p, queries, base, dims, out, out_stride);
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(scores_f32);
HWY_EXPORT(scores_f64);

void direct_scores(core::Form form, double p, Rows<float> queries, Rows<float> base, std::int64_t dims, float* out,
                   std::int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(scores_f32)(form, p, queries, base, dims, out, out_stride);
}

void direct_scores(core::Form form, double p, Rows<double> queries, Rows<double> base, std::int64_t dims, double* out,
                   std::int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(scores_f64)(form, p, queries, base, dims, out, out_stride);
}

}  // namespace kith::cpu
#endif
