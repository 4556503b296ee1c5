// quadratic_form.cpp: four rows of the matrix at a time, whose products with the differences of sixteen base rows stay
// in registers.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/quadratic_form.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/simd/quadratic_form.hpp"
#include "kith/pair_metric.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using RowTag = hn::CappedTag<double, static_cast<std::size_t>(kPanelRows)>;
using RowVec = hn::Vec<RowTag>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(RowTag()));
constexpr std::int64_t kVectors = kPanelRows / kLanes;

// Adds what `Rows` rows of the matrix contribute, from row i on.
template <std::int64_t Rows>
HWY_INLINE void add_rows(const double* HWY_RESTRICT upper, std::int64_t i, std::int64_t dims,
                         const double* HWY_RESTRICT deltas, double* HWY_RESTRICT out) {
  const RowTag d;
  for (std::int64_t v = 0; v < kVectors; ++v) {
    RowVec sum[Rows];
    for (RowVec& each : sum) each = hn::Zero(d);
    for (std::int64_t j = i; j < dims; ++j) {
      const RowVec delta = hn::LoadU(d, deltas + j * kPanelRows + v * kLanes);
#pragma GCC unroll 4
      for (std::int64_t r = 0; r < Rows; ++r)
        sum[r] = hn::Add(sum[r], hn::Mul(hn::Set(d, upper[(i + r) * dims + j]), delta));
    }
    RowVec total = hn::LoadU(d, out + v * kLanes);
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < Rows; ++r)
      total = hn::Add(total, hn::Mul(hn::LoadU(d, deltas + (i + r) * kPanelRows + v * kLanes), sum[r]));
    hn::StoreU(total, d, out + v * kLanes);
  }
}

}  // namespace

void forms_of_panel(const double* upper, const double* query, const double* panel, std::int64_t dims, double* deltas,
                    double* out) {
  const RowTag d;
  for (std::int64_t c = 0; c < dims; ++c) {
    const RowVec x = hn::Set(d, query[c]);
    for (std::int64_t v = 0; v < kVectors; ++v) {
      const std::int64_t at = c * kPanelRows + v * kLanes;
      hn::StoreU(hn::Sub(x, hn::LoadU(d, panel + at)), d, deltas + at);
    }
  }
  std::fill_n(out, kPanelRows, 0.0);
  constexpr std::int64_t kRows = 4;
  std::int64_t i = 0;
  for (; i + kRows <= dims; i += kRows) add_rows<kRows>(upper, i, dims, deltas, out);
  for (; i < dims; ++i) add_rows<1>(upper, i, dims, deltas, out);
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(forms_of_panel);

void quadratic_forms(const double* upper, const double* query, const double* panel, std::int64_t dims, double* deltas,
                     double* out) {
  HWY_DYNAMIC_DISPATCH(forms_of_panel)(upper, query, panel, dims, deltas, out);
}

}  // namespace kith::cpu
#endif
