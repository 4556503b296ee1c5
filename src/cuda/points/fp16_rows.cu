// fp16_rows.cu: column means, largest magnitude and rounding to fp16.
// Cost    each kernel reads the points once, and is bound by memory.
// Order   means are summed in a fixed order, so that the center is deterministic.
#include "cuda/points/fp16_rows.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::inline points {

namespace {

constexpr unsigned kFp16Threads = 256;
constexpr unsigned kFp16Warps = kFp16Threads / kWarp;
constexpr double kMaxFp16 = 65504;
constexpr int kScaledExponent = 12;
// Keeps the product of two scales, and its inverse, within the range of float.
constexpr int kMaxScaleExponent = 60;
constexpr std::int64_t kMaxChunks = 512;      // chunks of rows, each summed by other blocks
constexpr std::int64_t kMaxRowBlocks = 4096;  // blocks of largest_magnitude_kernel

__device__ __forceinline__ double warp_sum(double value) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(kFullMask, value, lanes);
  return value;
}

__device__ __forceinline__ float warp_max(float value) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value = fmaxf(value, __shfl_xor_sync(kFullMask, value, lanes));
  return value;
}

// x − c with a relative error of 2^-53.
__device__ __forceinline__ double centered(const float* row, const float* center, std::int64_t c) {
  const auto x = static_cast<double>(row[c]);
  return center == nullptr ? x : x - static_cast<double>(center[c]);
}

// A block sums 32 columns over a chunk of rows; a warp takes every eighth row.
__global__ void sum_columns_kernel(PointRows<float> rows, std::int64_t dims, std::int64_t chunks, double* sums) {
  KITH_SHARED(double, parts, kFp16Threads);
  const std::int64_t column = blockIdx.x / chunks * kWarp + lane_id();
  const std::int64_t chunk = blockIdx.x % chunks;
  const std::int64_t size = ceil_div(rows.count, chunks);
  const std::int64_t first = chunk * size;
  const std::int64_t last = min(first + size, rows.count);
  double sum = 0;
  if (column < dims)
    for (std::int64_t row = first + warp_id(); row < last; row += kFp16Warps)
      sum += static_cast<double>(rows.data[row * rows.stride + column]);
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (warp_id() > 0 || column >= dims) return;
  for (unsigned warp = 1; warp < kFp16Warps; ++warp) sum += parts[warp * kWarp + lane_id()];
  sums[chunk * dims + column] = sum;
}

__global__ void finish_means_kernel(const double* sums, std::int64_t dims, std::int64_t chunks, std::int64_t count,
                                    float* means) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= dims) return;
  double sum = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += sums[chunk * dims + column];
  means[column] = static_cast<float>(sum / static_cast<double>(count));
}

// The bits of magnitudes have the order of the magnitudes.
__global__ void largest_magnitude_kernel(PointRows<float> rows, std::int64_t dims, const float* center,
                                         unsigned* largest_bits) {
  float largest = 0;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kFp16Warps + warp_id(); row < rows.count;
       row += static_cast<std::int64_t>(gridDim.x) * kFp16Warps)
    for (std::int64_t c = lane_id(); c < dims; c += kWarp)
      largest = fmaxf(largest, static_cast<float>(fabs(centered(rows.data + row * rows.stride, center, c))));
  largest = warp_max(largest);
  if (lane_id() == 0 && largest > 0) atomicMax(largest_bits, __float_as_uint(largest));
}

__device__ __forceinline__ Fp16 rounded_to_fp16(double value) {
  return fp16_of(static_cast<float>(fmin(fmax(value, -kMaxFp16), kMaxFp16)));
}

// A warp takes a row.
__global__ void round_rows_kernel(PointRows<float> rows, std::int64_t dims, const float* center, Fp16Rows output,
                                  float* square_norms) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kFp16Warps + warp_id();
  if (row >= rows.count) return;
  const float* const point = rows.data + row * rows.stride;
  const double unscale = 1 / output.scale;
  core::Fp16Norms squares;
  for (std::int64_t c = lane_id(); c < output.stride; c += kWarp) {
    const double x = c < dims ? centered(point, center, c) : 0.0;
    const Fp16 fp16 = rounded_to_fp16(x * output.scale);
    const auto scaled = static_cast<double>(float_of(fp16));
    const Fp16 fp16_remainder = rounded_to_fp16(x * output.scale - scaled);
    if (output.data != nullptr) output.data[row * output.stride + c] = fp16;
    if (output.remainders != nullptr) output.remainders[row * output.stride + c] = fp16_remainder;
    const double rounded = scaled * unscale;
    const double remainder = static_cast<double>(float_of(fp16_remainder)) * unscale;
    const double lost = x - rounded;
    const double split_lost = x - (rounded + remainder);
    squares.exact += x * x;
    squares.rounded += rounded * rounded;
    squares.lost += lost * lost;
    squares.remainder += remainder * remainder;
    squares.split_lost += split_lost * split_lost;
  }
  squares = {warp_sum(squares.exact), warp_sum(squares.rounded), warp_sum(squares.lost), warp_sum(squares.remainder),
             warp_sum(squares.split_lost)};
  if (lane_id() > 0) return;
  if (output.norms != nullptr) output.norms[row] = core::fp16_norms(squares, dims);
  if (square_norms != nullptr) square_norms[row] = static_cast<float>(squares.exact);
}

}  // namespace

void column_means(const PointRows<float>& rows, std::int64_t dims, float* means, Workspace& workspace) {
  const std::int64_t chunks = std::clamp<std::int64_t>(ceil_div(rows.count, 8 * kFp16Warps), 1, kMaxChunks);
  double* const sums = workspace.allocate<double>(static_cast<std::size_t>(chunks * dims));
  launch("sum_columns", sum_columns_kernel, {.blocks = ceil_div(dims, kWarp) * chunks, .threads = kFp16Threads},
         workspace.stream(), rows, dims, chunks, sums);
  launch("finish_means", finish_means_kernel, {.blocks = ceil_div(dims, kFp16Threads), .threads = kFp16Threads},
         workspace.stream(), sums, dims, chunks, rows.count, means);
}

void largest_magnitude(const PointRows<float>& rows, std::int64_t dims, const float* center, float* largest,
                       cudaStream_t stream) {
  KITH_CUDA(cudaMemsetAsync(largest, 0, sizeof(float), stream));
  launch("largest_magnitude", largest_magnitude_kernel,
         {.blocks = std::min(ceil_div(rows.count, kFp16Warps), kMaxRowBlocks), .threads = kFp16Threads}, stream, rows,
         dims, center, reinterpret_cast<unsigned*>(largest));
}

double fp16_scale(float largest) {
  if (!(largest > 0)) return 1;
  int exponent = kMaxScaleExponent + kScaledExponent;
  if (std::isfinite(largest)) std::frexp(largest, &exponent);
  return std::ldexp(1.0, std::clamp(kScaledExponent - exponent, -kMaxScaleExponent, kMaxScaleExponent));
}

void round_rows(const PointRows<float>& rows, std::int64_t dims, const float* center, const Fp16Rows& output,
                float* square_norms, cudaStream_t stream) {
  launch("round_rows", round_rows_kernel, {.blocks = ceil_div(rows.count, kFp16Warps), .threads = kFp16Threads}, stream,
         rows, dims, center, output, square_norms);
}

}  // namespace kith::KITH_BACKEND::inline points
