#include "cuda/points/fp16_store.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::inline points {
namespace {

constexpr unsigned kThreads = 256;

// Lengths are not negative, so their bits are in their order; those of NaN come last.
__device__ void raise(double length, unsigned long long* max_squared_norm) {
  auto bits = static_cast<unsigned long long>(__double_as_longlong(length));
  for (int step = kWarp / 2; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(kFullMask, bits, step));
  if (lane_id() == 0) atomicMax(max_squared_norm, bits);
}

__global__ void __launch_bounds__(kThreads)
    longest_fp16_kernel(const core::Fp16Norms* norms, std::int64_t count, Fp16MaxNorms* max_squared_norm) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const core::Fp16Norms mine = i < count ? norms[i] : core::Fp16Norms{};
  raise(mine.exact, &max_squared_norm->exact);
  raise(mine.rounded, &max_squared_norm->rounded);
  raise(mine.lost, &max_squared_norm->lost);
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
  return frame;
}

Fp16Store::Fp16Store(std::int64_t room, std::int64_t dims, bool bias, cudaStream_t stream,
                     Fp16MaxNorms* max_squared_norm)
    : dims_(dims),
      stream_(stream),
      fp16_(as_size(room * fp16_stride(dims)), stream),
      norms_(as_size(room), stream),
      bias_(bias ? as_size(room) : 0, stream),
      max_squared_norm_(max_squared_norm) {
  if (max_squared_norm_ == nullptr) {
    own_max_norm_ = DeviceBuffer<Fp16MaxNorms>(1, stream);
    max_squared_norm_ = own_max_norm_.data();
    KITH_CUDA(cudaMemsetAsync(max_squared_norm_, 0, sizeof(Fp16MaxNorms), stream));
  }
}

void Fp16Store::prepare(const PointRows<float>& rows, const Fp16Frame& frame) {
  rows_ = {fp16_.data(), norms_.data(), rows.count, fp16_stride(dims_), frame.scale};
  if (rows.count == 0) return;
  round_rows(rows, dims_, frame.center.data(), rows_, bias_.data(), stream_);
  launch("fp16_max_norms", longest_fp16_kernel, {.blocks = ceil_div(rows.count, kThreads), .threads = kThreads},
         stream_, norms_.data(), rows.count, max_squared_norm_);
}

}  // namespace kith::KITH_BACKEND::inline points
