// lane_blocks.hpp: kernels over points in blocks of 64 bytes per coordinate: coordinate c of all points of a block is
// contiguous, so that a vector holds one coordinate of several points. Scores are as in kernels.hpp.
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

// The offset of coordinate 0 of a point; coordinate c is c · kBlockPoints elements further.
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

// The points among [first, last) of a block layout whose length is in [low, high]; NaN is not. Lengths descend.
template <class F>
struct LengthInterval {
  std::int64_t first;
  std::int64_t last;
  F low;
  F high;
};

// Writes the scores of all points and of the last block's unused lanes: out has block_count · kBlockPoints elements.
void block_scores(core::Form form, double p, const float* row, const LaneBlocks<float>& points, float* out);
void block_scores(core::Form form, double p, const double* row, const LaneBlocks<double>& points, double* out);

// As block_scores, but with the roots of squared scores and NaN for infinities; returns the point of the smallest.
std::int64_t block_lengths(core::Form form, double p, const float* row, const LaneBlocks<float>& points, float* out);
std::int64_t block_lengths(core::Form form, double p, const double* row, const LaneBlocks<double>& points, double* out);

// Finds for each row the point of the smallest score, the first of equal ones, and that score.
void nearest_points(core::Form form, double p, Rows<float> rows, const LaneBlocks<float>& points,
                    std::uint32_t* nearest, float* scores);
void nearest_points(core::Form form, double p, Rows<double> rows, const LaneBlocks<double>& points,
                    std::uint32_t* nearest, double* scores);

// Appends the scores in the intervals that are not above the limit, and their points. NaN is kept. The buffers must
// hold all of them and kSlack more. `lengths` has those of all points; kSlack more elements may be read.
struct ScanResult {
  std::int64_t kept;
  std::int64_t scored;  // points whose length was in an interval
};
ScanResult scan_intervals(core::Form form, double p, const float* row, const LaneBlocks<float>& points,
                          const float* lengths, const LengthInterval<float>* intervals, std::int64_t count, float limit,
                          float* kept_scores, std::uint32_t* kept_points);
ScanResult scan_intervals(core::Form form, double p, const double* row, const LaneBlocks<double>& points,
                          const double* lengths, const LengthInterval<double>* intervals, std::int64_t count,
                          double limit, double* kept_scores, std::uint64_t* kept_points);

// A bound that at least k of the values do not exceed, close to the k-th smallest; infinity if fewer than k are finite.
// count ≥ k.
float bound_kth(const float* values, std::int64_t count, std::int64_t k);
double bound_kth(const double* values, std::int64_t count, std::int64_t k);

// Lists the i below count whose lengths[i] − radii[i] is not above theta, and returns their number. NaN is listed.
// kSlack more elements of lengths and radii may be read, and of `list` written.
std::int64_t list_within(const float* lengths, const float* radii, std::int64_t count, float theta,
                         std::uint32_t* list);
std::int64_t list_within(const double* lengths, const double* radii, std::int64_t count, double theta,
                         std::uint64_t* list);

}  // namespace kith::cpu
