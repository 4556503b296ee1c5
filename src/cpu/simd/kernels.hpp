// kernels.hpp: the SIMD kernels of the CPU backend. Each selects the best instruction set at run time.
// F is float or double, the precision of a fast path. A score is the raw sum of the metric's form, negated for the dot
// form, so that smaller is always nearer; rows are filtered by it.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/key.hpp"
#include "core/sizes.hpp"
#include "kith/float16.hpp"

namespace kith::cpu {

// Rows of `dims` contiguous values, `stride` apart.
template <class F>
struct Rows {
  const F* data;
  std::int64_t count;
  std::int64_t stride;
};

// A candidate's offset in its part of the base, stored beside its score. As wide as F, so that one mask fits both.
template <class F>
using OffsetOf = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

using core::kSlack;
constexpr std::int64_t padded(std::int64_t count) {
  return (count + kSlack - 1) / kSlack * kSlack;
}

// direct_scores.cpp: writes scores to out[q * out_stride + j]; each row of the base, as it is stored, is read once per
// query.
template <class T, class F>
void direct_scores(core::Form form, double p, Rows<F> queries, Rows<T> base, std::int64_t dims, F* out,
                   std::int64_t out_stride);

// widen.cpp: contiguous values as floats, which hold them exactly.
void widen(const Float16* from, std::int64_t count, float* to);
void widen(const BFloat16* from, std::int64_t count, float* to);
void widen(const std::uint8_t* from, std::int64_t count, float* to);
void widen(const std::int8_t* from, std::int64_t count, float* to);

// register_tiled_scores.cpp: scores of packed panels, in which a vector holds one coordinate of several base rows, in
// blocks of tiled_block_rows() rows. A block's scores are appended to `scores`, and the block to `hits`, only if one of
// them is below the query's limit or that limit is infinite. NaN is below no finite limit, nor may a limit be NaN.
// Returns the number of appended blocks; those of a query are in ascending order. panels: padded(count) * dims.
using core::BlockHit;
template <class F>
struct TiledBase {
  const F* panels;
  const F* bias;  // null, or padded(count) values that are added to the scores of their rows
  std::int64_t count;
};
template <class F>
struct TiledOutput {
  F* scores;  // like `hits`, large enough for all blocks of all queries
  BlockHit* hits;
  const F* limits;
};
template <class F>
std::int64_t tiled_block_rows();
void pack_panels(Rows<float> base, std::int64_t dims, float* panels);
void pack_panels(Rows<double> base, std::int64_t dims, double* panels);
std::int64_t register_tiled_scores(core::Form form, double p, Rows<float> queries, const TiledBase<float>& base,
                                   std::int64_t dims, const TiledOutput<float>& out);
std::int64_t register_tiled_scores(core::Form form, double p, Rows<double> queries, const TiledBase<double>& base,
                                   std::int64_t dims, const TiledOutput<double>& out);

// filter.cpp: appends every score (plus its bias, if any) that is not above the threshold, with `raise` added, to
// kept_scores and its position plus `first` to kept_offsets. Stops early when fewer than kSlack elements of `capacity`
// are left. NaN is kept.
template <class F>
struct FilterResult {
  std::int64_t consumed;
  std::int64_t kept;
};
FilterResult<float> filter(const float* scores, const float* bias, std::int64_t count, float threshold, float raise,
                           std::uint32_t first, float* kept_scores, std::uint32_t* kept_offsets, std::int64_t capacity);
FilterResult<double> filter(const double* scores, const double* bias, std::int64_t count, double threshold,
                            double raise, std::uint64_t first, double* kept_scores, std::uint64_t* kept_offsets,
                            std::int64_t capacity);
// Keeps, in place and in order, the scores not above the threshold with their offsets; returns how many. NaN is kept.
// Both arrays are followed by kSlack spare elements.
std::int64_t compact(float* scores, std::uint32_t* offsets, std::int64_t count, float threshold);
std::int64_t compact(double* scores, std::uint64_t* offsets, std::int64_t count, double threshold);
// Counts the values that are at most `limit`; NaN is not.
std::int64_t count_at_most(const float* values, std::int64_t count, float limit);
std::int64_t count_at_most(const double* values, std::int64_t count, double limit);

// rank_sort.cpp: writes `count` distinct values, all below the largest std::int64_t, to `sorted` in ascending order.
// kSlack more elements of `values` may be written.
void rank_sort(std::int64_t* values, std::int64_t count, std::int64_t* sorted);
// The same for pairs of a key and an id. Ids must differ and be below the largest std::int64_t.
void rank_sort_pairs(std::int64_t* keys, std::int64_t* ids, std::int64_t count, std::int64_t* sorted_keys,
                     std::int64_t* sorted_ids);

// exact_sums.cpp: core::raw_sum, bit for bit, of one query (in double, minus its mean) and listed base rows. `means` is
// null or holds the mean of every base row.
template <class T>
struct ExactBase {
  const T* data;
  std::int64_t row_stride;
  std::int64_t col_stride;
  std::int64_t dims;
  const double* means;
};
template <class T>
void exact_sums(core::Form form, double p, const double* query, const ExactBase<T>& base, const std::int64_t* ids,
                std::int64_t count, double* raw);

// exact_panels.cpp: core::raw_sum, bit for bit, of each query and each of `count` rows in the panels of pack_panels(),
// both in double minus their means. Those of query q begin at raw + q * stride; up to kSlack more of each are written.
// Not for form power.
void exact_panel_sums(core::Form form, Rows<double> queries, const double* panels, std::int64_t count,
                      std::int64_t dims, double* raw, std::int64_t stride);
// Turns inner products of a vector and others, with these square norms, into cosine distances, bit for bit those of
// core::finish().
void finish_angles(const double* square_norms, double square_norm, std::int64_t count, double* sums);
// Rounds sums, or their roots, to the type of keys.
void round_sums(const double* sums, std::int64_t count, bool roots, float* out);
void round_sums(const double* sums, std::int64_t count, bool roots, double* out);

// find_beyond.cpp: the index of the first value that is NaN, or whose magnitude exceeds `largest`, or −1.
std::int64_t find_beyond(const float* values, std::int64_t count, float largest);
std::int64_t find_beyond(const double* values, std::int64_t count, double largest);
std::int64_t find_beyond(const Float16* values, std::int64_t count, Float16 largest);
std::int64_t find_beyond(const BFloat16* values, std::int64_t count, BFloat16 largest);

// The instruction sets that this machine supports, best first ("AVX3", "AVX2", ...).
std::vector<std::string> simd_targets();

}  // namespace kith::cpu
