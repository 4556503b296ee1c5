#include "read.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"

namespace kith::select_bench {
namespace {

constexpr std::size_t kFlushValues = std::size_t{1} << 27;

__device__ float sum_of(const float4& four) {
  return (four.x + four.y) + (four.z + four.w);
}

// Streamed values are the first to leave the cache again.
template <bool kStream>
__device__ float4 load(const float4* place) {
  return kStream ? __ldcs(place) : *place;
}

// Four loads of each thread in flight. The sum is stored only if it is what it cannot be, so that it is needed.
template <bool kStream>
__global__ void read_kernel(const float4* values, std::size_t count, float* never) {
  constexpr unsigned kLoads = 4;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  float sums[kLoads] = {};
  for (; i + (kLoads - 1) * step < count; i += kLoads * step) {
    float4 loaded[kLoads];
    KITH_UNROLL
    for (unsigned n = 0; n < kLoads; ++n) loaded[n] = load<kStream>(values + i + n * step);
    KITH_UNROLL
    for (unsigned n = 0; n < kLoads; ++n) sums[n] += sum_of(loaded[n]);
  }
  for (; i < count; i += step) sums[0] += sum_of(load<kStream>(values + i));
  const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (sum < 0) *never = sum;
}

template <bool kStream>
void read(const float* values, std::size_t count, unsigned blocks_a_processor, cudaStream_t stream) {
  cuda::launch("read", read_kernel<kStream>,
               {.blocks = cuda::multiprocessor_count() * blocks_a_processor, .threads = 256}, stream,
               reinterpret_cast<const float4*>(values), count / 4, static_cast<float*>(nullptr));
}

}  // namespace

void enqueue_read(const float* values, std::size_t count, unsigned blocks_a_processor, cudaStream_t stream) {
  read<true>(values, count, blocks_a_processor, stream);
}

CacheFlush::CacheFlush(cudaStream_t stream) : stream_(stream), values_(kFlushValues, stream) {}

void CacheFlush::enqueue() {
  // Read again, so that what was written leaves the cache now and not in the timed run.
  KITH_CUDA(cudaMemsetAsync(values_.data(), 0, kFlushValues * sizeof(float), stream_));
  read<false>(values_.data(), kFlushValues, 8, stream_);
}

}  // namespace kith::select_bench
