// exact_sums.cpp: the exact key's raw sum for listed base rows, in the order that core/key.hpp fixes, eight lanes at a
// time. All final candidates are compared by it, so it must match core::raw_sum bit for bit on every instruction set:
// products and sums stay separate instructions (no fused multiply-add) and lanes combine in the fixed tree.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/exact_sums.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "core/instantiate.hpp"
#include "cpu/simd/exact_terms-inl.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/simd/load_float-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

using DoubleTag = hn::CappedTag<double, core::kLanes>;
using DoubleVec = hn::Vec<DoubleTag>;
// Vectors that hold the key's eight lanes.
constexpr int kParts = core::kLanes / static_cast<int>(hn::MaxLanes(DoubleTag()));
constexpr int kPartLanes = static_cast<int>(hn::MaxLanes(DoubleTag()));
// Rows summed at the same time, to hide the latency of the additions.
constexpr int kRowsAtOnce = 4;
// Rows of prefetch distance: candidates are scattered, and a memory access takes longer than summing a few rows.
constexpr std::int64_t kPrefetchRows = 3 * kRowsAtOnce;

HWY_INLINE DoubleVec load_double(const double* from) {
  return hn::LoadU(DoubleTag(), from);
}
template <class T>
HWY_INLINE DoubleVec load_double(const T* from) {
  return hn::PromoteTo(DoubleTag(), load_float(hn::Rebind<float, DoubleTag>(), from));
}

// The first coordinates of a part of a row, zeros behind them.
HWY_INLINE DoubleVec load_double(const double* from, std::size_t count) {
  return load_first(DoubleTag(), from, count);
}
template <class T>
HWY_INLINE DoubleVec load_double(const T* from, std::size_t count) {
  return hn::PromoteTo(DoubleTag(), load_float(hn::Rebind<float, DoubleTag>(), from, count));
}

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE double combine_parts(const DoubleVec (&sum)[kParts]) {
  double lane[core::kLanes];
  for (int part = 0; part < kParts; ++part) lane[part] = hn::GetLane(sum[part]);
  return core::combine_lanes(lane);
}
#else
template <class V>
HWY_INLINE auto add_halves(V v) {
  const hn::Half<hn::DFromV<V> > half;
  return hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
}

template <class V>
HWY_INLINE double add_two(V two) {
  return hn::GetLane(two) + hn::ExtractLane(two, 1);
}

// Combines the eight lanes in the tree of core::combine_lanes.
template <class V>
HWY_INLINE double combine_parts(const V (&sum)[kParts]) {
  if constexpr (kParts == 1) {
    return add_two(add_halves(add_halves(sum[0])));
  } else if constexpr (kParts == 2) {
    return add_two(add_halves(hn::Add(sum[0], sum[1])));
  } else {
    return add_two(hn::Add(hn::Add(sum[0], sum[2]), hn::Add(sum[1], sum[3])));
  }
}
#endif

HWY_INLINE double largest_of_parts(const DoubleVec (&sum)[kParts]) {
  const DoubleTag d;
  DoubleVec most = sum[0];
  for (int part = 1; part < kParts; ++part) most = hn::Max(most, sum[part]);
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

// Adds the terms of a part of a row, minus its mean.
template <core::Form form, bool HasMeans>
HWY_INLINE void add_part(DoubleVec& sum, DoubleVec x, DoubleVec y, double mean) {
  const DoubleTag d;
  if constexpr (HasMeans) y = hn::Sub(y, hn::Set(d, mean));
  sum = add_term<form>(d, sum, x, y);
}

template <core::Form form, bool HasMeans, int RowCount, class T>
HWY_INLINE void sum_rows(const double* HWY_RESTRICT query, const ExactBase<T>& base, const std::int64_t* ids,
                         double* raw) {
  const DoubleTag d;
  const T* row[RowCount];
  double mean[RowCount];
  DoubleVec sum[RowCount][kParts];
  for (int r = 0; r < RowCount; ++r) {
    row[r] = base.data + ids[r] * base.row_stride;
    mean[r] = HasMeans ? base.means[ids[r]] : 0.0;
    for (int part = 0; part < kParts; ++part) sum[r][part] = hn::Zero(d);
  }
  const std::int64_t whole = base.dims / core::kLanes * core::kLanes;
  for (std::int64_t c = 0; c < whole; c += core::kLanes)
    for (int part = 0; part < kParts; ++part) {
      const DoubleVec x = hn::LoadU(d, query + c + part * kPartLanes);
      for (int r = 0; r < RowCount; ++r)
        add_part<form, HasMeans>(sum[r][part], x, load_double(row[r] + c + part * kPartLanes), mean[r]);
    }
  // Zeros of the query and of rows add nothing to any form.
  for (int part = 0; part < kParts; ++part) {
    const std::int64_t from = whole + part * kPartLanes;
    if (from >= base.dims) break;
    const auto rest = static_cast<std::size_t>(std::min<std::int64_t>(kPartLanes, base.dims - from));
    const DoubleVec x = load_double(query + from, rest);
    for (int r = 0; r < RowCount; ++r)
      add_part<form, HasMeans>(sum[r][part], x, load_double(row[r] + from, rest), mean[r]);
  }
  for (int r = 0; r < RowCount; ++r)
    raw[r] = form == core::Form::maximum ? largest_of_parts(sum[r]) : combine_parts(sum[r]);
}

template <class T>
HWY_INLINE void prefetch_row(const ExactBase<T>& base, std::int64_t id) {
  constexpr std::int64_t kMost = 1024;  // bytes; the hardware prefetches the rest of a longer row
  const auto* from = reinterpret_cast<const char*>(base.data + id * base.row_stride);
  const std::int64_t bytes = std::min(kMost, base.dims * static_cast<std::int64_t>(sizeof(T)));
  for (std::int64_t b = 0; b < bytes; b += 64) hwy::Prefetch(from + b);
}

template <core::Form form, bool HasMeans, class T>
void sum_listed(const double* query, const ExactBase<T>& base, const std::int64_t* ids, std::int64_t count,
                double* raw) {
  std::int64_t i = 0;
  for (; i + kRowsAtOnce <= count; i += kRowsAtOnce) {
    const std::int64_t ahead = i + kPrefetchRows;
    for (std::int64_t next = ahead; next < std::min(count, ahead + kRowsAtOnce); ++next) prefetch_row(base, ids[next]);
    sum_rows<form, HasMeans, kRowsAtOnce>(query, base, ids + i, raw + i);
  }
  for (; i < count; ++i) sum_rows<form, HasMeans, 1>(query, base, ids + i, raw + i);
}

template <class T>
void sums(core::Form form, const double* query, const ExactBase<T>& base, const std::int64_t* ids, std::int64_t count,
          double* raw) {
  using core::Form;
  switch (form) {
    case Form::squared: return sum_listed<Form::squared, false>(query, base, ids, count, raw);
    case Form::absolute: return sum_listed<Form::absolute, false>(query, base, ids, count, raw);
    case Form::maximum: return sum_listed<Form::maximum, false>(query, base, ids, count, raw);
    case Form::mismatch: return sum_listed<Form::mismatch, false>(query, base, ids, count, raw);
    case Form::ratio: return sum_listed<Form::ratio, false>(query, base, ids, count, raw);
    case Form::power: return;  // exact_sums() handles it without vectors
    case Form::dot:
      return base.means != nullptr ? sum_listed<Form::dot, true>(query, base, ids, count, raw)
                                   : sum_listed<Form::dot, false>(query, base, ids, count, raw);
  }
}

}  // namespace

static constexpr auto& sums_f32 = sums<float>;
static constexpr auto& sums_f64 = sums<double>;
static constexpr auto& sums_u8 = sums<std::uint8_t>;
static constexpr auto& sums_i8 = sums<std::int8_t>;
static constexpr auto& sums_f16 = sums<Float16>;
static constexpr auto& sums_bf16 = sums<BFloat16>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {
namespace {

HWY_EXPORT(sums_f32);
HWY_EXPORT(sums_f64);
HWY_EXPORT(sums_u8);
HWY_EXPORT(sums_i8);
HWY_EXPORT(sums_f16);
HWY_EXPORT(sums_bf16);

template <class T>
auto* sums_of() {
  if constexpr (std::is_same_v<T, float>) return &HWY_DYNAMIC_DISPATCH(sums_f32);
  if constexpr (std::is_same_v<T, double>) return &HWY_DYNAMIC_DISPATCH(sums_f64);
  if constexpr (std::is_same_v<T, std::uint8_t>) return &HWY_DYNAMIC_DISPATCH(sums_u8);
  if constexpr (std::is_same_v<T, std::int8_t>) return &HWY_DYNAMIC_DISPATCH(sums_i8);
  if constexpr (std::is_same_v<T, Float16>) return &HWY_DYNAMIC_DISPATCH(sums_f16);
  if constexpr (std::is_same_v<T, BFloat16>) return &HWY_DYNAMIC_DISPATCH(sums_bf16);
}

}  // namespace

template <class T>
void exact_sums(core::Form form, double p, const double* query, const ExactBase<T>& base, const std::int64_t* ids,
                std::int64_t count, double* raw) {
  if (base.col_stride == 1 && form != core::Form::power) return sums_of<T>()(form, query, base, ids, count, raw);
  for (std::int64_t i = 0; i < count; ++i) {
    const T* row = base.data + ids[i] * base.row_stride;
    const double mean = base.means != nullptr ? base.means[ids[i]] : 0.0;
    raw[i] = core::raw_sum(form, p, query, 1, 0.0, row, base.col_stride, mean, base.dims);
  }
}

#define KITH_INSTANTIATE(T)                                                                                           \
  template void exact_sums(core::Form, double, const double*, const ExactBase<T>&, const std::int64_t*, std::int64_t, \
                           double*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
#endif
