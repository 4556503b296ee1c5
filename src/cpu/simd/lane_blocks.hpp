// lane_blocks.hpp: kernels over points stored by blocks of 64 bytes: coordinate c of the points of a block lie side by
// side, so that a vector holds one coordinate of several points. Scores are as in kernels.hpp.
#pragma once

#include <cstdint>

#include "core/key.hpp"
#include "cpu/simd/kernels.hpp"

namespace kith::cpu {

template <class F>
inline constexpr std::int64_t kBlockPoints = 64 / static_cast<std::int64_t>(sizeof(F));

template <class F>
constexpr std::int64_t block_count(std::int64_t points) {
  return (points + kBlockPoints<F> - 1) / kBlockPoints<F>;
}

// Where coordinate 0 of a point lies; coordinate c lies c · kBlockPoints behind it.
template <class F>
constexpr std::int64_t block_offset(std::int64_t point, std::int64_t dims) {
  return point / kBlockPoints<F> * kBlockPoints<F> * dims + point % kBlockPoints<F>;
}

// Points in block layout.
template <class F>
struct LaneBlocks {
  const F* data;
  std::int64_t points;
  std::int64_t dims;
};

// Points [first, last) of a block layout, of which those count whose length is within [low, high]. NaN is not. Lengths
// fall from first to last.
template <class F>
struct LengthInterval {
  std::int64_t first;
  std::int64_t last;
  F low;
  F high;
};

// Scores of all points, those of the last block's unused lanes included: out has block_count · kBlockPoints elements.
void block_scores(core::Form form, double p, const float* row, const LaneBlocks<float>& points, float* out);
void block_scores(core::Form form, double p, const double* row, const LaneBlocks<double>& points, double* out);

// The same with roots of squares, NaN for what is not finite; returns the point of the smallest.
std::int64_t block_lengths(core::Form form, double p, const float* row, const LaneBlocks<float>& points, float* out);
std::int64_t block_lengths(core::Form form, double p, const double* row, const LaneBlocks<double>& points, double* out);

// The point of the smallest score for each row, the first of equal ones, and that score.
void nearest_points(core::Form form, double p, Rows<float> rows, const LaneBlocks<float>& points,
                    std::uint32_t* nearest, float* scores);
void nearest_points(core::Form form, double p, Rows<double> rows, const LaneBlocks<double>& points,
                    std::uint32_t* nearest, double* scores);

// Appends the scores of stretches that are not above the limit, and their points. NaN is kept. There must be room for
// all, and kSlack more. `lengths` are those of all points, kSlack more may be read behind them.
struct ScanResult {
  std::int64_t kept;
  std::int64_t scored;  // points whose length was in the window
};
ScanResult scan_stretches(core::Form form, double p, const float* row, const LaneBlocks<float>& points,
                          const float* lengths, const LengthInterval<float>* stretches, std::int64_t count, float limit,
                          float* kept_scores, std::uint32_t* kept_points);
ScanResult scan_stretches(core::Form form, double p, const double* row, const LaneBlocks<double>& points,
                          const double* lengths, const LengthInterval<double>* stretches, std::int64_t count,
                          double limit, double* kept_scores, std::uint64_t* kept_points);

// A value that at least k of the given ones do not exceed: nearly the k-th smallest. Infinity where fewer than k are
// finite. count is at least k.
float bound_kth(const float* values, std::int64_t count, std::int64_t k);
double bound_kth(const double* values, std::int64_t count, std::int64_t k);

// Lists the i below count whose lengths[i] − radii[i] is not above theta; returns how many. NaN is listed. kSlack more
// elements of both may be read, and of `list` be written.
std::int64_t list_within(const float* lengths, const float* radii, std::int64_t count, float theta,
                         std::uint32_t* list);
std::int64_t list_within(const double* lengths, const double* radii, std::int64_t count, double theta,
                         std::uint64_t* list);

}  // namespace kith::cpu
