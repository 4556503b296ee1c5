#include "cuda/tree/score_scale.hpp"

#include <algorithm>

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::tree {
namespace {

// A lane has a row.
template <class F>
__global__ void sample_magnitudes_kernel(PointRows<F> rows, unsigned dims, unsigned count, F* sample) {
  const unsigned i = threadIdx.x;
  if (i >= core::kScaleSample) return;
  F largest = 0;
  const F* const row = rows.data + (i < count ? i * rows.count / count : 0) * rows.stride;
  for (unsigned c = 0; c < dims; ++c) largest = fmax(largest, fabs(row[c]));
  sample[i] = i < count ? largest : F{0};
}

}  // namespace

template <class F>
void sample_magnitudes(const PointRows<F>& rows, unsigned dims, F* sample, cudaStream_t stream) {
  const auto sampled = static_cast<unsigned>(std::min(rows.count, core::kScaleSample));
  launch("sample_magnitudes", sample_magnitudes_kernel<F>, {.blocks = 1, .threads = kWarp}, stream, rows, dims, sampled,
         sample);
}

template void sample_magnitudes(const PointRows<float>&, unsigned, float*, cudaStream_t);
template void sample_magnitudes(const PointRows<double>&, unsigned, double*, cudaStream_t);

}  // namespace kith::KITH_BACKEND::tree
