// half_rows.hpp: points rounded to half precision, for scores at the speed of tensor cores; what that loses is measured
// with them (core/half_bounds.hpp).
//
//   column_means, largest_magnitude → half_scale → round_rows, of the base and of the queries with the base's centre
//   half_gemm_scores → scores, each within HalfBounds::error of the true one
#pragma once

#include "core/half_bounds.hpp"
#include "cuda/distance/scores.hpp"
#include "cuda/runtime/matrix_multiply.hpp"

namespace kith::KITH_BACKEND {

// Coordinates of a row of halfs: whole vectors of 16 bytes, the last filled up with zeros.
constexpr std::int64_t half_stride(std::int64_t dims) {
  return ceil_div(dims, 8) * 8;
}

// Points x as fp16(scale · (x − centre)).
struct HalfRows {
  Half* data = nullptr;              // count × stride
  core::HalfNorms* norms = nullptr;  // one a row
  std::int64_t count = 0;
  std::int64_t stride = 0;  // half_stride(dims), or more in a base
  double scale = 1;

  HalfRows part(std::int64_t first, std::int64_t rows) const {
    return {data + first * stride, norms + first, rows, stride, scale};
  }
};

// The mean of each column, a good centre.
void column_means(const PointRows<float>& rows, std::int64_t dims, float* means, Workspace& workspace);

// max |x − centre| over all coordinates, into one value of the device; no centre is 0.
void largest_magnitude(const PointRows<float>& rows, std::int64_t dims, const float* centre, float* largest,
                       cudaStream_t stream);

// A power of two that takes `largest` to between 2^11 and 2^12: half has a maximum of almost 2^16, so that queries may
// be 16 times as far from the centre as the base, and a minimum of 2^-14 before it loses digits.
double half_scale(float largest);

// Writes the halfs and the norms of `output`, whose scale is given; also ‖x − centre‖² rounded to float where
// `square_norms` is not null. Coordinates beyond half's range become its largest value, which the norms then tell.
void round_rows(const PointRows<float>& rows, std::int64_t dims, const float* centre, const HalfRows& output,
                float* square_norms, cudaStream_t stream);

struct HalfScoreCall {
  HalfRows queries;
  HalfRows base;                   // of the same dimensions; its rows may lie farther apart
  const float* addends = nullptr;  // the base's square_norms: expanded squares; none: products
  float* scores = nullptr;         // queries.count rows of base.count values
  std::int64_t score_stride = 0;
  Workspace& workspace;
};

// −⟨x,y⟩, or ‖y‖² − 2⟨x,y⟩, of the points less their centre, by one matrix product of halfs with sums in float.
void half_gemm_scores(const HalfScoreCall& call);

}  // namespace kith::KITH_BACKEND
