// fp16_store.cu: the frame of a base in fp16, and the largest norms of its rows.
#include "cuda/points/fp16_store.hpp"

#include <cmath>

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::inline points {
namespace {

constexpr unsigned kNormThreads = 256;

// The bits of norms, which are not negative, have the order of the norms; NaN comes last. Must be called by all lanes
// of the warp.
__device__ void atomic_max_of_warp(double norm, unsigned long long* max_norms) {
  auto bits = static_cast<unsigned long long>(__double_as_longlong(norm));
  for (int step = kWarp / 2; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(kFullMask, bits, step));
  if (lane_id() == 0) atomicMax(max_norms, bits);
}

__global__ void __launch_bounds__(kNormThreads)
    fp16_max_norms_kernel(const core::Fp16Norms* norms, std::int64_t count, Fp16MaxNorms* max_norms) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kNormThreads + threadIdx.x;
  const core::Fp16Norms mine = i < count ? norms[i] : core::Fp16Norms{};
  atomic_max_of_warp(mine.exact, &max_norms->exact);
  atomic_max_of_warp(mine.rounded, &max_norms->rounded);
  atomic_max_of_warp(mine.lost, &max_norms->lost);
  atomic_max_of_warp(mine.remainder, &max_norms->remainder);
  atomic_max_of_warp(mine.split_lost, &max_norms->split_lost);
}

}  // namespace

Fp16Frame make_fp16_frame(const PointRows<float>& rows, std::int64_t dims, bool centered, cudaStream_t stream) {
  Fp16Frame frame;
  Workspace scratch(stream);
  if (centered) {
    frame.center = DeviceBuffer<float>(as_size(dims), stream);
    column_means(rows, dims, frame.center.data(), scratch);
  }
  float* const largest = scratch.allocate<float>(1);
  largest_magnitude(rows, dims, frame.center.data(), largest, stream);
  float found = 0;
  KITH_CUDA(cudaMemcpyAsync(&found, largest, sizeof(found), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  frame.scale = fp16_scale(found);
  frame.is_finite = std::isfinite(found);
  return frame;
}

Fp16Store::Fp16Store(std::int64_t capacity, std::int64_t dims, bool bias, cudaStream_t stream, Fp16MaxNorms* max_norms,
                     bool remainders)
    : dims_(dims),
      stream_(stream),
      fp16_(as_size(capacity * fp16_stride(dims)), stream),
      remainders_(remainders ? as_size(capacity * fp16_stride(dims)) : 0, stream),
      norms_(as_size(capacity), stream),
      own_bias_(bias ? as_size(capacity) : 0, stream),
      bias_(own_bias_.data()),
      max_norms_(max_norms) {}

Fp16Store::Fp16Store(std::int64_t count, std::int64_t dims, bool bias, const Fp16Frame& frame, Fp16* lent,
                     cudaStream_t stream)
    : dims_(dims),
      stream_(stream),
      lends_(lent != nullptr),
      fp16_(lends_ ? 0 : as_size(count * fp16_stride(dims)), stream),
      own_bias_(bias ? as_size(count) : 0, stream),
      bias_(own_bias_.data()),
      rows_{lends_ ? lent : fp16_.data(), nullptr, count, fp16_stride(dims), frame.scale, nullptr} {
  begin_max_norms();
}

Fp16Store::Fp16Store(const Fp16Store& rounded, cudaStream_t stream)
    : dims_(rounded.dims_),
      stream_(stream),
      remainders_(as_size(rounded.rows_.count * rounded.rows_.stride), stream),
      bias_(rounded.bias_),
      max_norms_(rounded.max_norms_),
      rows_(rounded.rows_) {
  rows_.remainders = remainders_.data();
}

Fp16Store::Fp16Store(const Fp16Store& rounded, const PointRows<float>& rows, const Fp16Frame& frame,
                     cudaStream_t stream)
    : Fp16Store(rounded, stream) {
  round_remainders(rows, 0, frame);
}

void Fp16Store::round(const PointRows<float>& rows, const Fp16Frame& frame) {
  rows_ = {fp16_.data(), norms_.data(), rows.count, fp16_stride(dims_), frame.scale, remainders_.data()};
  round_rows(rows, dims_, frame.center.data(), rows_, own_bias_.data(), stream_);
}

void Fp16Store::begin_max_norms() {
  own_max_norms_ = DeviceBuffer<Fp16MaxNorms>(1, stream_);
  max_norms_ = own_max_norms_.data();
  KITH_CUDA(cudaMemsetAsync(max_norms_, 0, sizeof(Fp16MaxNorms), stream_));
}

void Fp16Store::prepare(const PointRows<float>& rows, const Fp16Frame& frame) {
  if (max_norms_ == nullptr) begin_max_norms();
  round(rows, frame);
  launch("fp16_max_norms", fp16_max_norms_kernel,
         {.blocks = ceil_div(rows.count, kNormThreads), .threads = kNormThreads}, stream_, norms_.data(), rows.count,
         max_norms_);
}

void Fp16Store::prepare_part(const PointRows<float>& rows, std::int64_t first, const Fp16Frame& frame,
                             core::Fp16Norms* norms) {
  if (rows.count == 0) return;
  Fp16Rows output = rows_;
  output.data = lends_ ? nullptr : rows_.data + first * rows_.stride;
  output.norms = norms;
  output.remainders = nullptr;
  round_rows(rows, dims_, frame.center.data(), output, own_bias_.size() == 0 ? nullptr : own_bias_.data() + first,
             stream_);
  launch("fp16_max_norms", fp16_max_norms_kernel,
         {.blocks = ceil_div(rows.count, kNormThreads), .threads = kNormThreads}, stream_, norms, rows.count,
         max_norms_);
}

void Fp16Store::round_remainders(const PointRows<float>& rows, std::int64_t first, const Fp16Frame& frame) {
  if (rows.count == 0) return;
  Fp16Rows output = rows_;
  output.data = nullptr;
  output.norms = nullptr;
  output.remainders = remainders_.data() + first * rows_.stride;
  round_rows(rows, dims_, frame.center.data(), output, nullptr, stream_);
}

}  // namespace kith::KITH_BACKEND::inline points
