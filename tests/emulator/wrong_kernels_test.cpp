// Wrong kernels are found: by an error that says where, by AddressSanitizer, or by a wrong answer under some seed.
#include <cmath>
#include <string>

#include "support.hpp"

namespace kith::test {
namespace {

class WrongKernels : public EmulatorTest {};

// Each thread passes its number to the next one of the block.
template <bool kBarrier>
__global__ void pass_on_kernel(unsigned* out) {
  KITH_SHARED(unsigned, numbers, 128);
  numbers[threadIdx.x] = threadIdx.x;
  if constexpr (kBarrier) __syncthreads();
  out[threadIdx.x] = numbers[(threadIdx.x + 32) % 128];
}

template <bool kBarrier>
bool passes_on() {
  DeviceValues<unsigned> out(128);
  launch("pass_on", pass_on_kernel<kBarrier>, {.threads = 128}, nullptr, out.data());
  const std::vector<unsigned> values = out.values();
  for (unsigned i = 0; i < 128; ++i)
    if (values[i] != (i + 32) % 128) return false;
  return true;
}

TEST_F(WrongKernels, MissingBarrier) {
  EXPECT_EQ(right_seeds(passes_on<true>), kSeeds);
  EXPECT_LT(right_seeds(passes_on<false>), kSeeds);
}

// Lanes exchange through memory, which a shuffle's lockstep on older devices hid.
template <bool kSync>
__global__ void exchange_kernel(unsigned* out) {
  KITH_SHARED(unsigned, numbers, 32);
  for (unsigned round = 0; round < 4; ++round) {
    numbers[threadIdx.x] = threadIdx.x + round;
    if constexpr (kSync) __syncwarp();
    const unsigned other = numbers[threadIdx.x ^ 1U];
    if constexpr (kSync) __syncwarp();
    out[round * 32 + threadIdx.x] = other;
  }
}

template <bool kSync>
bool exchanges() {
  DeviceValues<unsigned> out(128);
  launch("exchange", exchange_kernel<kSync>, {.threads = 32}, nullptr, out.data());
  const std::vector<unsigned> values = out.values();
  for (unsigned i = 0; i < 128; ++i)
    if (values[i] != ((i % 32) ^ 1U) + i / 32) return false;
  return true;
}

TEST_F(WrongKernels, MissingSyncwarp) {
  EXPECT_EQ(right_seeds(exchanges<true>), kSeeds);
  EXPECT_LT(right_seeds(exchanges<false>), kSeeds);
}

// The same seed gives the same wrong answer.
TEST_F(WrongKernels, AreWrongReproducibly) {
  const auto answer = [] {
    ::emulator::set_seed(11);
    DeviceValues<unsigned> out(128);
    launch("pass_on", pass_on_kernel<false>, {.threads = 128}, nullptr, out.data());
    return out.values();
  };
  EXPECT_EQ(answer(), answer());
}

__global__ void divergent_barrier_kernel() {
  if (threadIdx.x < 48) __syncthreads();
}

TEST_F(WrongKernels, BarrierThatSomeThreadsSkip) {
  launch("divergent", divergent_barrier_kernel, {.blocks = 1, .threads = 128}, nullptr);
  expect_parts(failure(),
               {"kernel divergent", "block (0, 0, 0)",
                "threads 0-47 in __syncthreads at wrong_kernels_test.cpp:", "threads 48-127 left the kernel"});
}

__global__ void two_barriers_kernel() {
  if (threadIdx.x == 5) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST_F(WrongKernels, BarriersInBothBranches) {
  launch("two_barriers", two_barriers_kernel, {.threads = 64}, nullptr);
  expect_parts(failure(),
               {"kernel two_barriers", "threads 0-4, 6-63 in __syncthreads at", "thread 5 in __syncthreads at"});
}

__global__ void left_lane_kernel(int* out) {
  if (threadIdx.x == 7) return;
  out[threadIdx.x] = __shfl_xor_sync(kFullMask, 1, 1);
}

TEST_F(WrongKernels, ShuffleNamesALaneThatLeft) {
  DeviceValues<int> out(32);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ::emulator::reset();
    ::emulator::set_seed(seed);
    launch("left_lane", left_lane_kernel, {.threads = 32}, nullptr, out.data());
    expect_parts(failure(), {"kernel left_lane", "block (0, 0, 0), warp 0", "__shfl_xor_sync(0xffffffff)",
                             "lane 7 left the kernel"});
  }
}

__global__ void short_block_kernel() {
  __syncwarp();
}

TEST_F(WrongKernels, MaskNamesLanesThatTheBlockDoesNotHave) {
  launch("short_block", short_block_kernel, {.threads = 40}, nullptr);
  expect_parts(failure(), {"warp 1", "__syncwarp(0xffffffff)", "lanes 8-31 missing from the block"});
}

__global__ void different_masks_kernel() {
  if (threadIdx.x % 2 == 0) {
    __syncwarp(0x55555555U);
  } else {
    __syncwarp(kFullMask);
  }
}

TEST_F(WrongKernels, LanesWaitWithDifferentMasks) {
  launch("different_masks", different_masks_kernel, {.threads = 32}, nullptr);
  expect_parts(failure(), {"__syncwarp(0xffffffff)", "left the kernel"});
}

__global__ void waits_elsewhere_kernel() {
  if (threadIdx.x < 3) {
    __syncthreads();
  } else if (threadIdx.x == 3) {
    __any_sync(kFullMask, 1);
  } else {
    __all_sync(kFullMask, 1);
  }
}

TEST_F(WrongKernels, LanesWaitAtDifferentPlaces) {
  launch("elsewhere", waits_elsewhere_kernel, {.threads = 32}, nullptr);
  expect_parts(failure(), {"lane 3 in __any_sync(0xffffffff) at", "lanes 0-2 in __syncthreads at",
                           "lanes 4-31 in __all_sync(0xffffffff) at"});
}

__global__ void outside_mask_kernel() {
  __ballot_sync(0x0000FFFFU, 1);
}

TEST_F(WrongKernels, LaneIsNotInItsOwnMask) {
  launch("outside_mask", outside_mask_kernel, {.threads = 32}, nullptr);
  expect_parts(failure(), {"is not in its own mask", "__ballot_sync(0x0000ffff)"});
}

__global__ void undefined_source_kernel(int* out) {
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __shfl_sync(0x0000FFFFU, 5, 20);
}

TEST_F(WrongKernels, ShuffleFromALaneOutsideTheMaskGivesNothing) {
  DeviceValues<int> out(16);
  launch("undefined_source", undefined_source_kernel, {.threads = 32}, nullptr, out.data());
  EXPECT_EQ(out.values(), std::vector<int>(16, -1));
}

__global__ void trap_kernel() {
  if (blockIdx.x == 2 && threadIdx.x == 33) __trap();
}

__global__ void spin_kernel(const unsigned* flag) {
  while (__ldcg(flag) == 0) __nanosleep(100);
}

TEST_F(WrongKernels, WaitingForAnotherBlockIsNoProgress) {
  DeviceValues<unsigned> flag(std::vector<unsigned>{0});
  launch("spin", spin_kernel, {.threads = 1}, nullptr, flag.data());
  expect_parts(failure(), {"kernel spin", "makes no progress"});
}

TEST_F(WrongKernels, Trap) {
  launch("trap", trap_kernel, {.blocks = 4, .threads = 64}, nullptr);
  EXPECT_EQ(failure(), "kernel trap, block (2, 0, 0), thread (33, 0, 0): __trap()");
}

TEST_F(WrongKernels, ExceptionsAndFalseAssumptions) {
  const auto throws = [] { throw std::runtime_error("no such row"); };
  ASSERT_EQ(::emulator::launch("throws", throws, dim3(1), dim3(1), 0, nullptr), cudaSuccess);
  EXPECT_EQ(failure(), "kernel throws, block (0, 0, 0), thread (0, 0, 0): thrown: no such row");
  ::emulator::reset();
  const auto assumes = [] { __builtin_assume(threadIdx.x < 10); };
  ASSERT_EQ(::emulator::launch("assumes", assumes, dim3(1), dim3(20), 0, nullptr), cudaSuccess);
  expect_parts(failure(), {"kernel assumes", "an assumption is false"});
}

// The error stays, carries its text, and keeps what comes after from running.
TEST_F(WrongKernels, ErrorIsSticky) {
  DeviceValues<int> out(std::vector<int>{1});
  launch("trap", trap_kernel, {.blocks = 3, .threads = 64}, nullptr);
  ASSERT_EQ(cudaMemsetAsync(out.data(), 0, sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  expect_parts(cudaGetErrorString(cudaErrorLaunchFailure), {"unspecified launch failure", "block (2, 0, 0)"});
  void* address = nullptr;
  EXPECT_EQ(cudaMalloc(&address, 8), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaFree(address), cudaErrorLaunchFailure);
  ::emulator::reset();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(out.values()[0], 1);
}

TEST_F(WrongKernels, TheLibraryThrowsTheText) {
  launch("trap", trap_kernel, {.blocks = 3, .threads = 64}, nullptr);
  try {
    KITH_CUDA(cudaDeviceSynchronize());
    FAIL();
  } catch (const std::exception& error) {
    expect_parts(error.what(), {"cudaErrorLaunchFailure", "kernel trap", "thread (33, 0, 0)"});
  }
}

// Memory that nobody wrote: NaN, and −1 for integers.
__global__ void unwritten_kernel(const float* in, float* out) {
  KITH_SHARED(float, shared, 32);
  if (threadIdx.x != 3) shared[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x] + (threadIdx.x == 4 ? in[0] : 0) +
                     (threadIdx.x == 5 ? emulated::dynamic_shared<float>()[0] : 0);
}

TEST_F(WrongKernels, ReadsWhatNobodyWrote) {
  DeviceValues<float> in(1);
  DeviceValues<float> out(32);
  for (int run = 0; run < 2; ++run) {
    launch("unwritten", unwritten_kernel, {.blocks = 3, .shared_bytes = 4}, nullptr, in.data(), out.data());
    const std::vector<float> values = out.values();
    for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(std::isnan(values[i]), i >= 3 && i <= 5) << i;
  }
}

__global__ void write_kernel(int* out, unsigned at) {
  out[at] = 1;
}

__global__ void write_shared_kernel(unsigned at) {
  KITH_SHARED(int, shared, 5);
  shared[at] = 1;
}

__global__ void write_dynamic_kernel(unsigned at) {
  emulated::dynamic_shared<int>()[at] = 1;
}

class OutOfBounds : public EmulatorTest {
 protected:
  void SetUp() override {
    EmulatorTest::SetUp();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

// Of five ints there is one at 4 and none at 5.
template <class Launch>
void expect_overflow(Launch launch_at) {
  const auto write = [&](unsigned at) {
    launch_at(at);
    cudaDeviceSynchronize();
  };
  write(4);
  EXPECT_DEATH(write(5), "heap-buffer-overflow");
}

TEST_F(OutOfBounds, Global) {
  KITH_NEEDS_ASAN();
  DeviceValues<int> out(5);
  expect_overflow([&](unsigned at) { launch("write", write_kernel, {.threads = 1}, nullptr, out.data(), at); });
}

TEST_F(OutOfBounds, StaticShared) {
  KITH_NEEDS_ASAN();
  expect_overflow([](unsigned at) { launch("write_shared", write_shared_kernel, {.threads = 1}, nullptr, at); });
}

TEST_F(OutOfBounds, DynamicShared) {
  KITH_NEEDS_ASAN();
  expect_overflow([](unsigned at) {
    launch("write_dynamic", write_dynamic_kernel, {.threads = 1, .shared_bytes = 20}, nullptr, at);
  });
}

TEST_F(OutOfBounds, FreedMemory) {
  KITH_NEEDS_ASAN();
  void* address = nullptr;
  ASSERT_EQ(cudaMallocAsync(&address, 20, nullptr), cudaSuccess);
  launch("write", write_kernel, {.threads = 1}, nullptr, static_cast<int*>(address), 0U);
  ASSERT_EQ(cudaFreeAsync(address, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto write = [&] {
    launch("write", write_kernel, {.threads = 1}, nullptr, static_cast<int*>(address), 0U);
    cudaDeviceSynchronize();
  };
  EXPECT_DEATH(write(), "heap-use-after-free");
}

TEST_F(OutOfBounds, HostTouchesDeviceMemory) {
  KITH_NEEDS_ASAN();
  DeviceValues<int> out(5);
  EXPECT_DEATH(*out.data() = 1, "use-after-poison");
}

}  // namespace
}  // namespace kith::test
