// ceilings.hpp: what the device can do when it does nothing else, each as work that can be timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/harness/backend.hpp"

namespace kith::bench::device {

using Floats = std::shared_ptr<cuda::DeviceBuffer<float>>;

struct Ceiling {
  std::string name;
  std::string unit;
  double work = 0;            // units · seconds of one run: divided by its seconds it is a rate
  std::function<void()> run;  // enqueued on a stream; what it needs is freed with it
  bool is_kernel = false;     // no ceiling but a kernel of the library alone, to be judged by one
};

struct CeilingResult {
  Ceiling ceiling;
  double ms = 0;  // median
  double rate() const { return ceiling.work / ms * 1e3; }
};

// Sums of all values (a multiple of 4, aligned to 16 bytes), on several grids, in TB/s.
std::vector<Ceiling> read_ceilings(const float* values, std::size_t count, cudaStream_t stream);

// Reads of a large array, matrix products of three precisions (TFLOP/s; none where there is no cuBLASLt) and fused
// multiply-adds in registers (TFMA/s). `quick`: small.
std::vector<Ceiling> device_ceilings(bool quick, cudaStream_t stream);

// Gaussian values, the same in every run.
void fill_gaussian(float* values, std::size_t count, cudaStream_t stream);

// Bytes larger than any L2 cache: reading them leaves nothing else in it.
class CacheFlush {
 public:
  explicit CacheFlush(cudaStream_t stream);
  void enqueue();

 private:
  cudaStream_t stream_;
  cuda::DeviceBuffer<float> values_;
};

}  // namespace kith::bench::device
