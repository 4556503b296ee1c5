// exact_panels.cpp: the exact key's raw sums of all pairs of some queries and the rows of packed panels.
// Idea    a vector holds one coordinate of several rows, and eight vectors the key's eight lanes of their sums, so that
//         nothing is summed across a vector; the lanes combine in the tree of core::combine_lanes.
// Cost    the form's term per pair and coordinate / lanes, and seven additions per pair / lanes.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/exact_panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "core/key.hpp"
#include "cpu/simd/exact_terms-inl.hpp"
#include "cpu/simd/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

using PanelTag = hn::ScalableTag<double>;
using PanelVec = hn::Vec<PanelTag>;

// Queries for each load of a panel: 32 vector registers hold the lanes of three, 16 those of one.
constexpr int kQueries = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 3 : 1;

template <core::Form form>
HWY_INLINE PanelVec combine(const PanelVec* lane) {
  const auto join = [](PanelVec a, PanelVec b)
                        HWY_ATTR { return form == core::Form::maximum ? hn::Max(a, b) : hn::Add(a, b); };
  return join(join(join(lane[0], lane[4]), join(lane[2], lane[6])),
              join(join(lane[1], lane[5]), join(lane[3], lane[7])));
}

// Sums of QueryCount queries with the rows of a panel.
template <core::Form form, int QueryCount>
HWY_INLINE void panel_sums(Rows<double> queries, std::int64_t q, const double* HWY_RESTRICT panel, std::int64_t dims,
                           double* HWY_RESTRICT raw, std::int64_t stride) {
  const PanelTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const double* HWY_RESTRICT query = queries.data + q * queries.stride;
  PanelVec sum[QueryCount][core::kLanes];
  for (auto& row : sum)
    for (PanelVec& lane : row) lane = hn::Zero(d);
  std::int64_t c = 0;
  for (; c + core::kLanes <= dims; c += core::kLanes) {
#pragma GCC unroll 8
    for (int i = 0; i < core::kLanes; ++i) {
      const PanelVec y = hn::LoadU(d, panel + (c + i) * lanes);
      for (int r = 0; r < QueryCount; ++r)
        sum[r][i] = add_term<form>(d, sum[r][i], hn::Set(d, query[r * queries.stride + c + i]), y);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < core::kLanes - 1; ++i) {
    if (c + i >= dims) break;
    const PanelVec y = hn::LoadU(d, panel + (c + i) * lanes);
    for (int r = 0; r < QueryCount; ++r)
      sum[r][i] = add_term<form>(d, sum[r][i], hn::Set(d, query[r * queries.stride + c + i]), y);
  }
  for (int r = 0; r < QueryCount; ++r) hn::StoreU(combine<form>(sum[r]), d, raw + (q + r) * stride);
}

template <core::Form form>
void all_sums(Rows<double> queries, const double* panels, std::int64_t count, std::int64_t dims, double* raw,
              std::int64_t stride) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(PanelTag()));
  for (std::int64_t first = 0; first < count; first += lanes) {
    const double* panel = panels + first * dims;
    std::int64_t q = 0;
    for (; q + kQueries <= queries.count; q += kQueries)
      panel_sums<form, kQueries>(queries, q, panel, dims, raw + first, stride);
    for (; q < queries.count; ++q) panel_sums<form, 1>(queries, q, panel, dims, raw + first, stride);
  }
}

template <class F>
void rounded(const double* sums, std::int64_t count, bool roots, F* out) {
  const PanelTag d;
  const hn::Rebind<F, PanelTag> to;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    PanelVec value = hn::LoadU(d, sums + i);
    if (roots) value = hn::Sqrt(value);
    if constexpr (std::is_same_v<F, double>) {
      hn::StoreU(value, d, out + i);
    } else {
      hn::StoreU(hn::DemoteTo(to, value), to, out + i);
    }
  }
  for (; i < count; ++i) out[i] = static_cast<F>(roots ? std::sqrt(sums[i]) : sums[i]);
}

}  // namespace

// As core::finish() has it, operation by operation.
void angles_of(const double* square_norms, double square_norm, std::int64_t count, double* sums) {
  const PanelTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const PanelVec x = hn::Set(d, square_norm);
  const PanelVec least = hn::Zero(d);
  const PanelVec most = hn::Set(d, 2.0);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const PanelVec y = hn::LoadU(d, square_norms + i);
    const PanelVec product = hn::Mul(x, y);
    const auto usual = hn::And(hn::Gt(product, hn::Set(d, 1e-280)), hn::Lt(product, hn::Set(d, 1e280)));
    PanelVec norms = hn::Sqrt(product);
    if (!hn::AllTrue(d, usual)) norms = hn::IfThenElse(usual, norms, hn::Mul(hn::Sqrt(x), hn::Sqrt(y)));
    PanelVec distance = hn::Sub(hn::Set(d, 1.0), hn::Div(hn::LoadU(d, sums + i), norms));
    distance = hn::IfThenElse(hn::Lt(distance, least), least, distance);
    distance = hn::IfThenElse(hn::Gt(distance, most), most, distance);
    hn::StoreU(distance, d, sums + i);
  }
  const Metric cosine = MetricKind::cosine;
  for (; i < count; ++i) sums[i] = core::finish(cosine, sums[i], {0, square_norm}, {0, square_norms[i]}, 1);
}

void panel_sums_of(core::Form form, Rows<double> queries, const double* panels, std::int64_t count, std::int64_t dims,
                   double* raw, std::int64_t stride) {
  using core::Form;
  switch (form) {
    case Form::squared: return all_sums<Form::squared>(queries, panels, count, dims, raw, stride);
    case Form::absolute: return all_sums<Form::absolute>(queries, panels, count, dims, raw, stride);
    case Form::maximum: return all_sums<Form::maximum>(queries, panels, count, dims, raw, stride);
    case Form::mismatch: return all_sums<Form::mismatch>(queries, panels, count, dims, raw, stride);
    case Form::dot: return all_sums<Form::dot>(queries, panels, count, dims, raw, stride);
    case Form::ratio: return all_sums<Form::ratio>(queries, panels, count, dims, raw, stride);
    case Form::power: return;  // callers take exact_sums()
  }
}
static constexpr auto& rounded_f32 = rounded<float>;
static constexpr auto& rounded_f64 = rounded<double>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(panel_sums_of);
HWY_EXPORT(angles_of);
HWY_EXPORT(rounded_f32);
HWY_EXPORT(rounded_f64);

void exact_panel_sums(core::Form form, Rows<double> queries, const double* panels, std::int64_t count,
                      std::int64_t dims, double* raw, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(panel_sums_of)(form, queries, panels, count, dims, raw, stride);
}
void finish_angles(const double* square_norms, double square_norm, std::int64_t count, double* sums) {
  HWY_DYNAMIC_DISPATCH(angles_of)(square_norms, square_norm, count, sums);
}
void round_sums(const double* sums, std::int64_t count, bool roots, float* out) {
  HWY_DYNAMIC_DISPATCH(rounded_f32)(sums, count, roots, out);
}
void round_sums(const double* sums, std::int64_t count, bool roots, double* out) {
  HWY_DYNAMIC_DISPATCH(rounded_f64)(sums, count, roots, out);
}

}  // namespace kith::cpu
#endif
