#include "device_matrix.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"

namespace kith::select_bench {
namespace {

// splitmix64: every place has its own number, whoever makes it.
__device__ unsigned long long random_bits(unsigned long long place) {
  unsigned long long bits = (place + 1) * 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

__global__ void fill_kernel(float* values, std::size_t count, unsigned length, Pattern pattern, unsigned seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    float value = 1.0F;
    if (pattern == Pattern::random || pattern == Pattern::smooth) {
      const std::size_t place = pattern == Pattern::random ? i : i / 64;
      value = static_cast<float>(random_bits(place + (static_cast<unsigned long long>(seed) << 40)) >> 40) * 0x1p-24F;
    }
    if (pattern == Pattern::smooth) value += static_cast<float>(i % 64) * 1e-7F;
    if (pattern == Pattern::descending) value = static_cast<float>(length - static_cast<unsigned>(i % length));
    values[i] = value;
  }
}

}  // namespace

void DeviceMatrix::fill(const Shape& shape, unsigned seed) {
  if (shape == shape_ && seed == seed_) return;
  if (values_.size() < shape.values()) {
    values_ = {};
    values_ = cuda::DeviceBuffer<float>(shape.values(), stream_);
  }
  cuda::launch("fill", fill_kernel, {.blocks = cuda::multiprocessor_count() * 16, .threads = 256}, stream_,
               values_.data(), shape.values(), shape.length, shape.pattern, seed);
  stream_.synchronize();
  shape_ = shape;
  seed_ = seed;
}

std::vector<float> DeviceMatrix::copy_row(std::int64_t row) const {
  std::vector<float> values(shape_.length);
  KITH_CUDA(cudaMemcpy(values.data(), values_.data() + row * shape_.length, values.size() * sizeof(float),
                       cudaMemcpyDeviceToHost));
  return values;
}

void Answer::reserve(std::size_t count, const cuda::Stream& stream) {
  if (values.size() >= count) return;
  values = {};
  ids = {};
  values = cuda::DeviceBuffer<float>(count, stream);
  ids = cuda::DeviceBuffer<std::int64_t>(count, stream);
}

}  // namespace kith::select_bench
