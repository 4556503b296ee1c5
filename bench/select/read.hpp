// read.hpp: the ceiling: how fast the device reads when it does nothing else.
#pragma once

#include "cuda/runtime/memory.hpp"

namespace kith::select_bench {

// Grids that are tried, in blocks a multiprocessor.
constexpr unsigned kReadGrids[] = {4, 8, 16, 64};

// Sums `count` values (a multiple of 4, aligned to 16 bytes). Enqueued on the stream.
void enqueue_read(const float* values, std::size_t count, unsigned blocks_a_processor, cudaStream_t stream);

// Bytes larger than any L2 cache: reading them leaves nothing of a matrix in it.
class CacheFlush {
 public:
  explicit CacheFlush(cudaStream_t stream);
  void enqueue();

 private:
  cudaStream_t stream_;
  cuda::DeviceBuffer<float> values_;
};

}  // namespace kith::select_bench
