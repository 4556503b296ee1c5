// Correct kernels give the right answer under every seed.
#include <cmath>
#include <numeric>

#include "support.hpp"

namespace kith::test {
namespace {

class RightKernels : public EmulatorTest {};

__global__ void sum_kernel(const int* in, int count, int* out) {
  KITH_SHARED(int, warp_sums, 32);
  int sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(count);
       i += gridDim.x * blockDim.x)
    sum += in[i];
  for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(kFullMask, sum, delta);
  if (emulated::lane_id() == 0) warp_sums[emulated::warp_id()] = sum;
  __syncthreads();
  if (emulated::warp_id() == 0) {
    sum = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0;
    sum = __reduce_add_sync(kFullMask, sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

TEST_F(RightKernels, SumByShufflesAndAtomics) {
  std::vector<int> values(10000);
  std::iota(values.begin(), values.end(), -3000);
  DeviceValues<int> in(values);
  const int expected = std::accumulate(values.begin(), values.end(), 0);
  EXPECT_EQ(kSeeds, right_seeds([&] {
              DeviceValues<int> out(std::vector<int>{0});
              launch("sum", sum_kernel, {.blocks = 7, .threads = 256}, nullptr, in.data(), 10000, out.data());
              return out.values()[0] == expected;
            }));
}

__global__ void scan_kernel(double* values) {
  double sum = values[threadIdx.x];
  for (unsigned delta = 1; delta < 8; delta *= 2) {
    const double other = __shfl_up_sync(kFullMask, sum, delta, 8);
    if (threadIdx.x % 8 >= delta) sum += other;
  }
  values[threadIdx.x] = sum;
}

TEST_F(RightKernels, ScanInGroupsOfEight) {
  EXPECT_EQ(kSeeds, right_seeds([] {
              DeviceValues<double> values(std::vector<double>(32, 1.5));
              launch("scan", scan_kernel, {.threads = 32}, nullptr, values.data());
              const std::vector<double> sums = values.values();
              for (std::size_t i = 0; i < 32; ++i)
                if (sums[i] != 1.5 * static_cast<double>(i % 8 + 1)) return false;
              return true;
            }));
}

__global__ void transpose_kernel(const float* in, float* out, unsigned size) {
  KITH_SHARED(float, tile, 16 * 17);
  const unsigned x = blockIdx.x * 16 + threadIdx.x;
  const unsigned y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y * 17 + threadIdx.x] = in[y * size + x];
  __syncthreads();
  out[(blockIdx.x * 16 + threadIdx.y) * size + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x * 17 + threadIdx.y];
}

TEST_F(RightKernels, TransposeWithTwoDimensions) {
  constexpr unsigned kSize = 64;
  std::vector<float> values(kSize * kSize);
  std::iota(values.begin(), values.end(), 0.0F);
  DeviceValues<float> in(values);
  DeviceValues<float> out(values.size());
  const auto body = [from = in.data(), to = out.data()] { transpose_kernel(from, to, kSize); };
  ASSERT_EQ(::emulator::launch("transpose", body, dim3(4, 4), dim3(16, 16), 0, nullptr), cudaSuccess);
  const std::vector<float> transposed = out.values();
  for (unsigned row = 0; row < kSize; ++row)
    for (unsigned column = 0; column < kSize; ++column)
      ASSERT_EQ(transposed[column * kSize + row], values[row * kSize + column]);
}

// The halves of a warp go different ways and meet only among themselves.
__global__ void halves_kernel(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) {
    for (int i = 1; i < 16; i *= 2) value += __shfl_xor_sync(0x0000FFFFU, value, i);
  } else {
    for (int i = 1; i < 4; i *= 2) value += __shfl_xor_sync(0xFFFF0000U, value, i);
    value = __any_sync(0xFFFF0000U, threadIdx.x == 20) != 0 ? value : -1;
  }
  __syncwarp();
  out[threadIdx.x] = value;
}

TEST_F(RightKernels, HalvesOfAWarpDiverge) {
  EXPECT_EQ(kSeeds, right_seeds([] {
              DeviceValues<int> out(32);
              launch("halves", halves_kernel, {.threads = 32}, nullptr, out.data());
              const std::vector<int> values = out.values();
              for (int i = 0; i < 32; ++i) {
                const int expected = i < 16 ? 120 : 4 * (i / 4 * 4) + 6;
                if (values[static_cast<std::size_t>(i)] != expected) return false;
              }
              return true;
            }));
}

// Those that stay name only each other.
TEST_F(RightKernels, LanesLeaveOneByOne) {
  DeviceValues<unsigned> out(32);
  const auto body = [to = out.data()] {
    unsigned mask = kFullMask;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const bool stays = threadIdx.x > lane;
      mask = __ballot_sync(mask, stays ? 1 : 0);
      if (!stays) break;
    }
    to[threadIdx.x] = mask;
  };
  ASSERT_EQ(::emulator::launch("leave", body, dim3(1), dim3(32), 0, nullptr), cudaSuccess);
  const std::vector<unsigned> masks = out.values();
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(masks[lane], lane == 31 ? 0 : kFullMask << (lane + 1)) << lane;
}

__global__ void histogram_kernel(const unsigned* in, unsigned* counts) {
  const unsigned bin = in[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned peers = __match_any_sync(kFullMask, bin);
  if (static_cast<unsigned>(__ffs(static_cast<int>(peers)) - 1) == emulated::lane_id())
    atomicAdd(&counts[bin], static_cast<unsigned>(__popc(peers)));
}

TEST_F(RightKernels, HistogramByMatchAny) {
  std::vector<unsigned> values(1024);
  std::vector<unsigned> expected(7, 0);
  for (unsigned i = 0; i < 1024; ++i) ++expected[values[i] = i * i % 7];
  DeviceValues<unsigned> in(values);
  EXPECT_EQ(kSeeds, right_seeds([&] {
              DeviceValues<unsigned> counts(std::vector<unsigned>(7, 0));
              launch("histogram", histogram_kernel, {.blocks = 8, .threads = 128}, nullptr, in.data(), counts.data());
              return counts.values() == expected;
            }));
}

// A last-block counter: the block that finishes last adds up what the others left.
__global__ void last_block_kernel(int* parts, unsigned* finished, int* total) {
  KITH_SHARED(bool, last, 1);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = static_cast<int>(blockIdx.x);
    __threadfence();
    last[0] = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last[0] || threadIdx.x != 0) return;
  *total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) *total += parts[i];
}

TEST_F(RightKernels, LastBlockFinishes) {
  EXPECT_EQ(kSeeds, right_seeds([] {
              DeviceValues<int> parts(50);
              DeviceValues<unsigned> finished(std::vector<unsigned>{0});
              DeviceValues<int> total(1);
              launch("last", last_block_kernel, {.blocks = 50}, nullptr, parts.data(), finished.data(), total.data());
              return total.values()[0] == 49 * 50 / 2;
            }));
}

__global__ void dynamic_kernel(int* out, unsigned count) {
  int* shared = emulated::dynamic_shared<int>();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) shared[i] = static_cast<int>(i);
  const int votes = __syncthreads_count(threadIdx.x % 3 == 0);
  const int all = __syncthreads_and(threadIdx.x < blockDim.x);
  const int any = __syncthreads_or(threadIdx.x == 1000);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) out[i] = shared[count - 1 - i] + votes + all + any;
}

TEST_F(RightKernels, DynamicSharedMemoryAndCountingBarriers) {
  constexpr unsigned kCount = 50000;
  DeviceValues<int> out(kCount);
  launch("dynamic", dynamic_kernel, {.threads = 96, .shared_bytes = kCount * sizeof(int)}, nullptr, out.data(), kCount);
  const std::vector<int> values = out.values();
  for (unsigned i = 0; i < kCount; ++i) ASSERT_EQ(values[i], static_cast<int>(kCount - 1 - i) + 32 + 1);
}

template <int kStep>
__device__ int* counter() {
  KITH_SHARED(int, value, 1);
  return value;
}

TEST_F(RightKernels, InstancesOfATemplateHaveTheirOwnArrays) {
  DeviceValues<int> out(2);
  const auto body = [to = out.data()] {
    *counter<1>() = 1;
    *counter<2>() = 2;
    to[0] = *counter<1>();
    to[1] = *counter<2>();
  };
  ASSERT_EQ(::emulator::launch("instances", body, dim3(1), dim3(1), 0, nullptr), cudaSuccess);
  EXPECT_EQ(out.values(), (std::vector<int>{1, 2}));
}

// A lock that spins within a block ends, because an atomic lets the others run now and then.
__global__ void lock_kernel(unsigned* lock, int* count) {
  while (atomicCAS(lock, 0U, 1U) != 0) __nanosleep(10);
  ++*count;
  atomicExch(lock, 0U);
}

TEST_F(RightKernels, SpinningWithinABlockEnds) {
  DeviceValues<unsigned> lock(std::vector<unsigned>{0});
  DeviceValues<int> count(std::vector<int>{0});
  launch("lock", lock_kernel, {.blocks = 3, .threads = 128}, nullptr, lock.data(), count.data());
  EXPECT_EQ(count.values()[0], 384);
}

// Two copies under way; the older one is waited for.
__global__ void async_kernel(const float* in, float* out) {
  KITH_SHARED(float, tiles, 2 * 32);
  for (unsigned t = 0; t < 2; ++t) {
    ::emulator::async_copy(&tiles[t * 32 + threadIdx.x], &in[t * 32 + threadIdx.x], sizeof(float));
    ::emulator::async_commit();
  }
  ::emulator::async_wait(1);
  __syncthreads();
  out[threadIdx.x] = tiles[31 - threadIdx.x];
  out[32 + threadIdx.x] = tiles[32 + threadIdx.x];
}

TEST_F(RightKernels, AsynchronousCopyLandsAtItsWait) {
  std::vector<float> values(64);
  std::iota(values.begin(), values.end(), 0.0F);
  DeviceValues<float> in(values);
  DeviceValues<float> out(64);
  launch("async", async_kernel, {.threads = 32}, nullptr, in.data(), out.data());
  const std::vector<float> copied = out.values();
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(copied[i], values[31 - i]);
    EXPECT_TRUE(std::isnan(copied[32 + i])) << "nobody waited for this one";
  }
}

}  // namespace
}  // namespace kith::test
