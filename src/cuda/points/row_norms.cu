// row_norms.cu: a group of eight lanes takes a row (key_lanes.cuh), which is read once, or twice where it has a mean.
#include "cuda/points/row_norms.hpp"

#include "cuda/points/key_lanes.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::inline points {
namespace {

template <class F>
__global__ void __launch_bounds__(KeyLanes::kThreads)
    row_facts_kernel(PointRows<F> rows, std::int64_t dims, double* square_norms, double* means) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * KeyLanes::kGroups + threadIdx.x / core::kLanes;
  const F* x = rows.data + min(row, rows.count - 1) * rows.stride;
  double mean = 0;
  if (means != nullptr) {
    double sum = 0;
    for (std::int64_t c = group_lane(); c < dims; c += core::kLanes) sum += static_cast<double>(x[c]);
    mean = combine_group(sum, core::Form::squared) / static_cast<double>(dims);
  }
  double sum = 0;
  for (std::int64_t c = group_lane(); c < dims; c += core::kLanes) {
    const double at = static_cast<double>(x[c]) - mean;
    sum += at * at;
  }
  const double square_norm = combine_group(sum, core::Form::squared);
  if (row >= rows.count || group_lane() != 0) return;
  square_norms[row] = square_norm;
  if (means != nullptr) means[row] = mean;
}

}  // namespace

template <class F>
void row_facts(const PointRows<F>& rows, std::int64_t dims, double* square_norms, double* means, cudaStream_t stream) {
  launch("row_facts", row_facts_kernel<F>,
         {.blocks = ceil_div(rows.count, KeyLanes::kGroups), .threads = KeyLanes::kThreads}, stream, rows, dims,
         square_norms, means);
}

template void row_facts(const PointRows<float>&, std::int64_t, double*, double*, cudaStream_t);
template void row_facts(const PointRows<double>&, std::int64_t, double*, double*, cudaStream_t);

}  // namespace kith::KITH_BACKEND::inline points
