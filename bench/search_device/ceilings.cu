#include "search_device/ceilings.hpp"

#include <utility>

#include "cuda/primitives/matrix_multiply.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "search_device/points.hpp"
#include "search_device/stages.hpp"
#include "select/read.hpp"

namespace kith::search_bench {
namespace {

constexpr unsigned kThreads = 256;

using Floats = std::shared_ptr<cuda::DeviceBuffer<float>>;

Floats floats(std::int64_t count, bool gaussian, cudaStream_t stream) {
  auto made = std::make_shared<cuda::DeviceBuffer<float>>(static_cast<std::size_t>(count), stream);
  if (gaussian) fill_gaussian(made->data(), made->size(), stream);
  return made;
}

struct Fma {
  static constexpr int kChains = 8;  // independent, so that none waits for another
  static constexpr int kSteps = 1 << 14;
  static constexpr int kBlocks = 8;  // a multiprocessor
};

// The sum is stored only if it is what it cannot be, so that it is needed.
__global__ void __launch_bounds__(kThreads) fma_kernel(float factor, float bias, float* never) {
  float sums[Fma::kChains];
  KITH_UNROLL
  for (int i = 0; i < Fma::kChains; ++i) sums[i] = static_cast<float>(threadIdx.x + i);
  for (int step = 0; step < Fma::kSteps; ++step) {
    KITH_UNROLL
    for (int i = 0; i < Fma::kChains; ++i) sums[i] = fmaf(sums[i], factor, bias);
  }
  float sum = 0;
  KITH_UNROLL
  for (int i = 0; i < Fma::kChains; ++i) sum += sums[i];
  if (sum < 0) *never = sum;
}

Ceiling fma_ceiling(cudaStream_t stream) {
  const std::int64_t blocks = static_cast<std::int64_t>(cuda::multiprocessor_count()) * Fma::kBlocks;
  const double count = static_cast<double>(blocks) * kThreads * Fma::kChains * Fma::kSteps;
  return {"fma", "TFMA/s", count * 1e-12, [=] {
            cuda::launch("fma", fma_kernel, {.blocks = blocks, .threads = kThreads}, stream, 0.5F, 1.0F,
                         static_cast<float*>(nullptr));
          }};
}

__global__ void to_fp16_kernel(const float* from, std::int64_t count, cuda::Fp16* to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) to[i] = cuda::fp16_of(from[i]);
}

void add_products(std::int64_t side, cudaStream_t stream, std::vector<Ceiling>& ceilings) {
  if (!cuda::can_multiply()) return;
  const double work = 2.0 * static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side) * 1e-12;
  const std::int64_t count = side * side;
  const Floats left = floats(count, true, stream);
  const Floats result = floats(count, false, stream);
  auto fp16 = std::make_shared<cuda::DeviceBuffer<cuda::Fp16>>(static_cast<std::size_t>(count), stream);
  cuda::launch("to_fp16", to_fp16_kernel, {.blocks = cuda::ceil_div(count, kThreads), .threads = kThreads}, stream,
               left->data(), count, fp16->data());
  auto workspace = std::make_shared<cuda::Workspace>(stream);
  for (const bool tf32 : {false, true}) {
    ceilings.push_back({tf32 ? "gemm tf32" : "gemm fp32", "TFLOP/s", work, [=] {
                          workspace->reset();
                          const cuda::MatrixRows<float> rows{left->data(), side, side};
                          cuda::multiply(cuda::MultiplyCall<float>{rows, rows, side, 1, nullptr, result->data(), side,
                                                                   tf32, *workspace});
                        }});
  }
  ceilings.push_back({"gemm fp16", "TFLOP/s", work, [=] {
                        workspace->reset();
                        const cuda::MatrixRows<cuda::Fp16> rows{fp16->data(), side, side};
                        cuda::multiply(cuda::MultiplyCall<cuda::Fp16>{rows, rows, side, 1, nullptr, result->data(),
                                                                      side, false, *workspace});
                      }});
}

void add_reads(std::int64_t count, cudaStream_t stream, std::vector<Ceiling>& ceilings) {
  const Floats values = floats(count, false, stream);
  KITH_CUDA(cudaMemsetAsync(values->data(), 0, values->size() * sizeof(float), stream));
  for (const unsigned grid : select_bench::kReadGrids)
    ceilings.push_back({"read, " + std::to_string(grid) + " blocks a multiprocessor", "TB/s",
                        static_cast<double>(count) * sizeof(float) * 1e-12,
                        [=] { select_bench::enqueue_read(values->data(), values->size(), grid, stream); }});
}

void add_stages(const Tile& tile, cudaStream_t stream, std::vector<Ceiling>& ceilings) {
  const double work = tile.pairs() * static_cast<double>(tile.dims) * 1e-12;
  for (Stage& stage : all_stages(tile, stream))
    ceilings.push_back({std::move(stage.name), "TFMA/s", work, std::move(stage.run), true});
}

}  // namespace

std::vector<Ceiling> all_ceilings(bool quick, cudaStream_t stream) {
  std::vector<Ceiling> ceilings;
  add_reads(std::int64_t{1} << (quick ? 24 : 29), stream, ceilings);
  add_products(quick ? 1024 : 8192, stream, ceilings);
  ceilings.push_back(fma_ceiling(stream));
  add_stages(quick ? Tile{512, 4096, 128} : Tile{8192, 65536, 128}, stream, ceilings);
  return ceilings;
}

}  // namespace kith::search_bench
