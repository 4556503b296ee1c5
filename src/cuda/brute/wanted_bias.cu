// wanted_bias.cu: a thread for each point.
#include "cuda/brute/wanted_bias.hpp"

#include <limits>

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

__global__ void wanted_bias_kernel(WantedBias points, float* out) {
  const std::int64_t i = thread_index();
  if (i >= points.count) return;
  const std::int64_t at = points.first + i;
  const float bias = points.bias == nullptr ? 0 : points.bias[i];
  out[i] = (points.wanted[at / 32] >> (at % 32) & 1U) != 0 ? bias : std::numeric_limits<float>::infinity();
}

}  // namespace

void bias_of_wanted(const WantedBias& points, float* out, cudaStream_t stream) {
  launch("wanted_bias", wanted_bias_kernel, thread_each(points.count), stream, points, out);
}

}  // namespace kith::KITH_BACKEND::brute
