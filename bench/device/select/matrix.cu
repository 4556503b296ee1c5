#include "device/select/matrix.hpp"

#include "common/random_bits.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"

namespace kith::bench::device::select {
namespace {

__global__ void fill_kernel(float* values, std::size_t count, unsigned length, Pattern pattern, unsigned seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    float value = 1.0F;
    if (pattern == Pattern::random || pattern == Pattern::smooth) {
      const std::size_t position = pattern == Pattern::random ? i : i / 64;
      value =
          static_cast<float>(random_bits(position + (static_cast<unsigned long long>(seed) << 40)) >> 40) * 0x1p-24F;
    }
    if (pattern == Pattern::smooth) value += static_cast<float>(i % 64) * 1e-7F;
    if (pattern == Pattern::descending) value = static_cast<float>(length - static_cast<unsigned>(i % length));
    values[i] = value;
  }
}

}  // namespace

void DeviceMatrix::fill(const MatrixShape& shape, unsigned seed) {
  if (values_.size() != shape.values()) values_ = cuda::DeviceBuffer<float>(shape.values(), stream_);
  cuda::launch("fill", fill_kernel, {.blocks = cuda::multiprocessor_count() * 16, .threads = 256}, stream_,
               values_.data(), shape.values(), shape.length, shape.pattern, seed);
  stream_.synchronize();
  shape_ = shape;
}

void DeviceAnswer::reserve(std::size_t count, const cuda::Stream& stream) {
  values = cuda::DeviceBuffer<float>(count, stream);
  ids = cuda::DeviceBuffer<std::int64_t>(count, stream);
}

}  // namespace kith::bench::device::select
