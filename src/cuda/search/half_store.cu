#include "cuda/search/half_store.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND {
namespace {

constexpr unsigned kThreads = 256;

// Lengths are not negative, so their bits are in their order; those of NaN come last.
__device__ void raise(double length, unsigned long long* longest) {
  auto bits = static_cast<unsigned long long>(__double_as_longlong(length));
  for (int step = kWarp / 2; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(kFullMask, bits, step));
  if (lane_id() == 0) atomicMax(longest, bits);
}

__global__ void __launch_bounds__(kThreads)
    longest_halfs_kernel(const core::HalfNorms* norms, std::int64_t count, HalfLongest* longest) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const core::HalfNorms mine = i < count ? norms[i] : core::HalfNorms{};
  raise(mine.exact, &longest->exact);
  raise(mine.rounded, &longest->rounded);
  raise(mine.lost, &longest->lost);
}

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

}  // namespace

HalfFrame make_half_frame(const PointRows<float>& rows, std::int64_t dims, bool centred, cudaStream_t stream) {
  HalfFrame frame;
  Workspace scratch(stream);
  if (centred) {
    frame.centre = DeviceBuffer<float>(size(dims), stream);
    column_means(rows, dims, frame.centre.data(), scratch);
  }
  float* const largest = scratch.take<float>(1);
  largest_magnitude(rows, dims, frame.centre.data(), largest, stream);
  float found = 0;
  KITH_CUDA(cudaMemcpyAsync(&found, largest, sizeof(found), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  frame.scale = half_scale(found);
  return frame;
}

HalfStore::HalfStore(std::int64_t room, std::int64_t dims, bool addends, cudaStream_t stream, HalfLongest* longest)
    : dims_(dims),
      stream_(stream),
      halfs_(size(room * half_stride(dims)), stream),
      norms_(size(room), stream),
      addends_(addends ? size(room) : 0, stream),
      longest_(longest) {
  if (longest_ == nullptr) {
    own_longest_ = DeviceBuffer<HalfLongest>(1, stream);
    longest_ = own_longest_.data();
    KITH_CUDA(cudaMemsetAsync(longest_, 0, sizeof(HalfLongest), stream));
  }
}

void HalfStore::prepare(const PointRows<float>& rows, const HalfFrame& frame) {
  rows_ = {halfs_.data(), norms_.data(), rows.count, half_stride(dims_), frame.scale};
  if (rows.count == 0) return;
  round_rows(rows, dims_, frame.centre.data(), rows_, addends_.data(), stream_);
  launch("longest_halfs", longest_halfs_kernel, {.blocks = ceil_div(rows.count, kThreads), .threads = kThreads},
         stream_, norms_.data(), rows.count, longest_);
}

}  // namespace kith::KITH_BACKEND
