// key_group.cuh: exact keys inside a kernel: a group of eight lanes (points/key_lanes.cuh) computes the keys of one
// query with a few points at a time.
// Idea    lanes have the query's coordinates once for all points, whose loads are in flight together. A butterfly of
//         shuffles repeats the tree of additions of core/key.hpp (addition commutes, so all eight lanes get the same
//         bits), and eight neighboring floats are one sector of memory.
// Cost    a pair: dims loads of the base point; three double operations and a conversion a coordinate, or what
//         float_pair_sum.cuh says.
#pragma once

#include <type_traits>

#include "cuda/distance/exact_keys.hpp"
#include "cuda/distance/float_pair_sum.cuh"
#include "cuda/points/key_lanes.cuh"
#include "cuda/runtime/properties.hpp"

namespace kith::KITH_BACKEND::distance {

// Not inlined: with all powers and metrics they are long, and used in many kernels.
KITH_NOINLINE __device__ inline double finish_key(const Metric& metric, double raw, const core::RowFacts& x,
                                                  const core::RowFacts& y, std::int64_t dims) {
  return core::finish(metric, raw, x, y, dims);
}

KITH_NOINLINE __device__ inline double any_term(core::Form form, double p, double x, double y) {
  return core::term(form, p, x, y);
}

template <class F>
__device__ core::RowFacts facts_of(const ExactSet<F>& set, std::int64_t row) {
  return {set.means == nullptr ? 0.0 : set.means[row], set.square_norms == nullptr ? 0.0 : set.square_norms[row]};
}

// The terms of a sum. The form is known to the compiler for the common metrics, which have no means either.
template <core::Form kForm>
struct FixedTerms {
  __device__ explicit FixedTerms(const Metric& /*metric*/) {}
  __device__ __forceinline__ double less_mean(double value, double /*mean*/) const { return value; }
  __device__ __forceinline__ double add(double sum, double x, double y) const {
    return add_term(kForm, sum, core::term(kForm, 0, x, y));
  }
  __device__ core::Form form() const { return kForm; }
};

struct AnyTerms {
  Metric metric;
  __device__ explicit AnyTerms(const Metric& of) : metric(of) {}
  __device__ __forceinline__ double less_mean(double value, double mean) const { return value - mean; }
  __device__ __forceinline__ double add(double sum, double x, double y) const {
    return add_term(form(), sum, any_term(form(), metric.p, x, y));
  }
  __device__ core::Form form() const { return core::form_of(metric); }
};

// Terms that are added as pairs of floats; where these do not tell, as FixedTerms.
template <core::Form kForm>
struct FloatPairTerms {
  using Doubles = FixedTerms<kForm>;
  static constexpr core::Form kOf = kForm;
};
template <class Terms>
inline constexpr bool kAreFloatPairs = false;
template <core::Form kForm>
inline constexpr bool kAreFloatPairs<FloatPairTerms<kForm>> = true;

// Calls use(std::type_identity<Terms>{}) with the terms that the call needs, in double.
template <class F, class Use>
void with_terms(const KeyCall<F>& call, Use use) {
  using core::Form;
  if (call.base.means != nullptr) return use(std::type_identity<AnyTerms>{});
  switch (core::form_of(call.metric)) {
    case Form::squared: return use(std::type_identity<FixedTerms<Form::squared>>{});
    case Form::absolute: return use(std::type_identity<FixedTerms<Form::absolute>>{});
    case Form::dot: return use(std::type_identity<FixedTerms<Form::dot>>{});
    default: return use(std::type_identity<AnyTerms>{});
  }
}

// Dimensions up to which pairs of floats tell most keys.
constexpr std::int64_t kFloatPairDims = 2048;

// The same for group_keys().
template <class F, class Use>
void with_group_terms(const KeyCall<F>& call, Use use) {
  using core::Form;
  if constexpr (std::is_same_v<F, float>) {
    const bool wanted = call.arithmetic == KeyArithmetic::of_device ? device_policy().hardware.has_slow_doubles()
                                                                    : call.arithmetic == KeyArithmetic::float_pairs;
    if (wanted && call.base.means == nullptr && call.dims <= kFloatPairDims) {
      switch (core::form_of(call.metric)) {
        case Form::squared: return use(std::type_identity<FloatPairTerms<Form::squared>>{});
        case Form::absolute: return use(std::type_identity<FloatPairTerms<Form::absolute>>{});
        case Form::dot: return use(std::type_identity<FloatPairTerms<Form::dot>>{});
        default: break;
      }
    }
  }
  with_terms(call, use);
}

// Calls use(rows) with the addresses of the base's rows, as they are stored.
template <unsigned kRows, class F, class Use>
__device__ __forceinline__ void with_rows(const KeyCall<F>& call, const std::int64_t (&rows)[kRows], Use use) {
  const auto use_rows = [&](const auto* base, std::int64_t stride) {
    std::remove_reference_t<decltype(base)> y[kRows];
    KITH_UNROLL
    for (unsigned i = 0; i < kRows; ++i) y[i] = base + rows[i] * stride;
    use(y);
  };
  if (std::is_same_v<F, double> || call.base.stored.type == StoredType::none) {
    use_rows(call.base.rows.data, call.base.rows.stride);
  } else {
    with_elements(call.base.stored, [&](const auto* base) { use_rows(base, call.base.stored.stride); });
  }
}

// Adds the lane's coordinates of x and of each row of y to the row's sum.
template <class Terms, unsigned kRows, class X, class Y>
__device__ __forceinline__ void add_coordinates(const Terms& terms, std::int64_t dims, const X* x, double x_mean,
                                                const Y* const (&y)[kRows], const double (&means)[kRows],
                                                double (&sums)[kRows]) {
#pragma unroll 4
  for (std::int64_t c = group_lane(); c < dims; c += core::kLanes) {
    const double coordinate = terms.less_mean(static_cast<double>(x[c]), x_mean);
    KITH_UNROLL
    for (unsigned i = 0; i < kRows; ++i)
      sums[i] = terms.add(sums[i], coordinate, terms.less_mean(widened(y[i][c]), means[i]));
  }
}

// The key of a sum, and whether it is certain.
struct FloatPairKey {
  float key;
  bool certain;
};

template <core::Form kForm>
__device__ __forceinline__ FloatPairKey key_of(const Metric& metric, const FloatPairSum<kForm>& sum,
                                               const core::RowFacts& x, const core::RowFacts& y, std::int64_t dims) {
  const double raw = sum.is_zero() ? 0.0 : sum.value();
  if constexpr (kForm == core::Form::dot) {
    const double bound = sum.bound(dims);
    const auto least = static_cast<float>(finish_key(metric, raw - bound, x, y, dims));
    const auto most = static_cast<float>(finish_key(metric, raw + bound, x, y, dims));
    return {least, sum.has_bound() && __float_as_uint(least) == __float_as_uint(most)};
  } else {
    // Of the sum itself or of its root, which is relatively no farther off.
    const double key = finish_key(metric, raw, x, y, dims);
    const double bound = key * FloatPairSum<kForm>::relative_bound(dims);
    const auto least = static_cast<float>(key - bound);
    return {least, sum.is_zero() || (sum.has_bound() && least == static_cast<float>(key + bound))};
  }
}

// As group_keys(); `certain` is whether the lane's key is right.
template <core::Form kForm, unsigned kRows>
__device__ float group_keys_by_float_pairs(const KeyCall<float>& call, std::int64_t query,
                                           const std::int64_t (&rows)[kRows], bool& certain) {
  const float* const x = call.queries.rows.data + query * call.queries.rows.stride;
  FloatPairSum<kForm> sums[kRows];
  with_rows<kRows>(call, rows, [&](const auto& y) {
#pragma unroll 2
    for (std::int64_t c = group_lane(); c < call.dims; c += core::kLanes) {
      const float coordinate = x[c];
      KITH_UNROLL
      for (unsigned i = 0; i < kRows; ++i) sums[i].add(coordinate, as_float(y[i][c]));
    }
  });
  FloatPairSum<kForm> sum;
  std::int64_t row = rows[0];
  KITH_UNROLL
  for (unsigned i = 0; i < kRows; ++i) {
    sums[i].combine();
    if (i != 0 && group_lane() != i) continue;
    sum = sums[i];
    row = rows[i];
  }
  const FloatPairKey key = key_of(call.metric, sum, facts_of(call.queries, query), facts_of(call.base, row), call.dims);
  certain = key.certain;
  return key.key;
}

// Returns in lane i of a group the key of the group's query and of base row rows[i]; lanes from kRows on repeat the
// first. All lanes of a group have the same query and rows. Must be called by all lanes of the warp.
template <class Terms, unsigned kRows, class F>
__device__ F group_keys(const KeyCall<F>& call, std::int64_t query, const std::int64_t (&rows)[kRows]) {
  static_assert(kRows <= core::kLanes);
  if constexpr (kAreFloatPairs<Terms>) {
    bool certain = false;
    const F key = group_keys_by_float_pairs<Terms::kOf, kRows>(call, query, rows, certain);
    if (__all_sync(kFullMask, certain) != 0) return key;
    return group_keys<typename Terms::Doubles, kRows>(call, query, rows);
  } else {
    const Terms terms(call.metric);
    const core::RowFacts x_facts = facts_of(call.queries, query);
    const F* const x = call.queries.rows.data + query * call.queries.rows.stride;
    double means[kRows];
    KITH_UNROLL
    for (unsigned i = 0; i < kRows; ++i) means[i] = facts_of(call.base, rows[i]).mean;
    double sums[kRows] = {};
    with_rows<kRows>(call, rows,
                     [&](const auto& y) { add_coordinates(terms, call.dims, x, x_facts.mean, y, means, sums); });
    double raw = 0;
    std::int64_t row = rows[0];
    KITH_UNROLL
    for (unsigned i = 0; i < kRows; ++i) {
      const double sum = combine_group(sums[i], terms.form());
      if (i != 0 && group_lane() != i) continue;
      raw = sum;
      row = rows[i];
    }
    return static_cast<F>(finish_key(call.metric, raw, x_facts, facts_of(call.base, row), call.dims));
  }
}

}  // namespace kith::KITH_BACKEND::distance
