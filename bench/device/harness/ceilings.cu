#include "device/harness/ceilings.hpp"

#include "cuda/primitives/matrix_multiply.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/workspace.hpp"
#include "device/harness/random.cuh"

namespace kith::bench::device {
namespace {

constexpr unsigned kThreads = 256;
#if defined(KITH_IS_EMULATED)
constexpr std::size_t kFlushValues = std::size_t{1} << 12;
#else
constexpr std::size_t kFlushValues = std::size_t{1} << 27;
#endif
constexpr unsigned kReadGrids[] = {4, 8, 16, 64};  // blocks a multiprocessor

__device__ float sum_of(const float4& four) {
  return (four.x + four.y) + (four.z + four.w);
}

// Streamed values are the first to leave the cache again.
template <bool kStream>
__device__ float4 load(const float4* address) {
  return kStream ? __ldcs(address) : *address;
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
               {.blocks = cuda::multiprocessor_count() * blocks_a_processor, .threads = kThreads}, stream,
               reinterpret_cast<const float4*>(values), count / 4, static_cast<float*>(nullptr));
}

struct Fma {
  static constexpr int kChains = 8;  // independent, so that none waits for another
  static constexpr int kBlocks = 8;  // a multiprocessor
};

template <int kSteps>
__global__ void __launch_bounds__(kThreads) fma_kernel(float factor, float bias, float* never) {
  float sums[Fma::kChains];
  KITH_UNROLL
  for (int i = 0; i < Fma::kChains; ++i) sums[i] = static_cast<float>(threadIdx.x + i);
  for (int step = 0; step < kSteps; ++step) {
    KITH_UNROLL
    for (int i = 0; i < Fma::kChains; ++i) sums[i] = fmaf(sums[i], factor, bias);
  }
  float sum = 0;
  KITH_UNROLL
  for (int i = 0; i < Fma::kChains; ++i) sum += sums[i];
  if (sum < 0) *never = sum;
}

template <int kSteps>
Ceiling fma_ceiling(cudaStream_t stream) {
  const std::int64_t blocks = static_cast<std::int64_t>(cuda::multiprocessor_count()) * Fma::kBlocks;
  const double count = static_cast<double>(blocks) * kThreads * Fma::kChains * kSteps;
  return {"fma", "TFMA/s", count * 1e-12, [=] {
            cuda::launch("fma", fma_kernel<kSteps>, {.blocks = blocks, .threads = kThreads}, stream, 0.5F, 1.0F,
                         static_cast<float*>(nullptr));
          }};
}

__global__ void to_fp16_kernel(const float* from, std::int64_t count, cuda::Fp16* to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) to[i] = cuda::fp16_of(from[i]);
}

__global__ void gaussian_kernel(float* values, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step)
    values[i] = gaussian(i, 1);
}

Floats floats(std::int64_t count, cudaStream_t stream) {
  return std::make_shared<cuda::DeviceBuffer<float>>(static_cast<std::size_t>(count), stream);
}

void add_products(std::int64_t side, cudaStream_t stream, std::vector<Ceiling>& ceilings) {
  if (!cuda::can_multiply()) return;
  const double work = 2.0 * static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side) * 1e-12;
  const std::int64_t count = side * side;
  const Floats left = floats(count, stream);
  const Floats result = floats(count, stream);
  fill_gaussian(left->data(), left->size(), stream);
  auto fp16 = std::make_shared<cuda::DeviceBuffer<cuda::Fp16>>(static_cast<std::size_t>(count), stream);
  cuda::launch("to_fp16", to_fp16_kernel, {.blocks = cuda::ceil_div(count, kThreads), .threads = kThreads}, stream,
               left->data(), count, fp16->data());
  auto workspace = std::make_shared<cuda::Workspace>(stream);
  const auto add = [&](const char* name, const auto& values, bool tf32) {
    ceilings.push_back({name, "TFLOP/s", work, [=] {
                          using Value = std::remove_const_t<std::remove_pointer_t<decltype(values->data())>>;
                          workspace->reset();
                          const cuda::MatrixRows<Value> rows{values->data(), side, side};
                          cuda::multiply(cuda::MultiplyCall<Value>{rows, rows, side, 1, nullptr, result->data(), side,
                                                                   tf32, *workspace});
                        }});
  };
  add("gemm fp32", left, false);
  add("gemm tf32", left, true);
  add("gemm fp16", fp16, false);
}

}  // namespace

std::vector<Ceiling> read_ceilings(const float* values, std::size_t count, cudaStream_t stream) {
  std::vector<Ceiling> ceilings;
  for (const unsigned grid : kReadGrids)
    ceilings.push_back({"read, " + std::to_string(grid) + " blocks a multiprocessor", "TB/s",
                        static_cast<double>(count) * sizeof(float) * 1e-12,
                        [=] { read<true>(values, count, grid, stream); }});
  return ceilings;
}

std::vector<Ceiling> device_ceilings(bool quick, cudaStream_t stream) {
  const Floats values = floats(std::int64_t{1} << (quick ? 16 : 29), stream);
  KITH_CUDA(cudaMemsetAsync(values->data(), 0, values->size() * sizeof(float), stream));
  std::vector<Ceiling> ceilings = read_ceilings(values->data(), values->size(), stream);
  for (Ceiling& ceiling : ceilings) ceiling.run = [run = std::move(ceiling.run), values] { run(); };
  add_products(quick ? 128 : 8192, stream, ceilings);
  ceilings.push_back(quick ? fma_ceiling<1 << 6>(stream) : fma_ceiling<1 << 14>(stream));
  return ceilings;
}

void fill_gaussian(float* values, std::size_t count, cudaStream_t stream) {
  cuda::launch("gaussian", gaussian_kernel, {.blocks = cuda::multiprocessor_count() * 16, .threads = kThreads}, stream,
               values, count);
}

CacheFlush::CacheFlush(cudaStream_t stream) : stream_(stream), values_(kFlushValues, stream) {}

void CacheFlush::enqueue() {
  // Read again, so that what was written leaves the cache now and not in the timed run.
  KITH_CUDA(cudaMemsetAsync(values_.data(), 0, kFlushValues * sizeof(float), stream_));
  read<false>(values_.data(), kFlushValues, 8, stream_);
}

}  // namespace kith::bench::device
