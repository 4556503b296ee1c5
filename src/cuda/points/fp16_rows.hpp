// fp16_rows.hpp: points rounded to fp16, for scores at the speed of tensor cores; the rounding error of each row is
// measured with it (core/fp16_bounds.hpp). What rounding leaves may be rounded to fp16 once more: with these remainders
// three products have twice the digits.
//
//   column_means, largest_magnitude → fp16_scale → round_rows, of the base and of the queries with the base's center
//   distance/ fp16_gemm_scores → scores, each within Fp16Bounds::error of the true one
#pragma once

#include "core/fp16_bounds.hpp"
#include "cuda/points/point_rows.hpp"
#include "cuda/primitives/matrix_multiply.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline points {

// Coordinates of a row in fp16: whole vectors of 16 bytes, the last padded with zeros.
constexpr std::int64_t fp16_stride(std::int64_t dims) {
  return ceil_div(dims, 8) * 8;
}

// Points x as fp16(scale · (x − center)).
struct Fp16Rows {
  Fp16* data = nullptr;              // count × stride
  core::Fp16Norms* norms = nullptr;  // one a row; null where nobody asks for them
  std::int64_t count = 0;
  std::int64_t stride = 0;  // fp16_stride(dims), or more in a base
  double scale = 1;
  Fp16* remainders = nullptr;  // fp16(scale · (x − center) − data), laid out as data; null: none

  Fp16Rows part(std::int64_t first, std::int64_t rows) const {
    return {data + first * stride,
            norms == nullptr ? nullptr : norms + first,
            rows,
            stride,
            scale,
            remainders == nullptr ? nullptr : remainders + first * stride};
  }
};

// Writes the mean of each column, a good center.
void column_means(const PointRows<float>& rows, std::int64_t dims, float* means, Workspace& workspace);

// Writes max |x − center| over all coordinates to one value on the device; without a center, max |x|.
void largest_magnitude(const PointRows<float>& rows, std::int64_t dims, const float* center, float* largest,
                       cudaStream_t stream);

// Returns the power of two that scales `largest` to between 2^11 and 2^12: fp16 has a maximum of almost 2^16, so that
// queries may be 16 times as far from the center as the base, and loses digits below 2^-14.
double fp16_scale(float largest);

// Writes data, remainders and norms of `output`, whose scale is given, and ‖x − center‖² rounded to float: those of
// them that are not null. Coordinates beyond the range of fp16 become its largest value; the norms account for it.
void round_rows(const PointRows<float>& rows, std::int64_t dims, const float* center, const Fp16Rows& output,
                float* square_norms, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::inline points
