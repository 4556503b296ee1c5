// Chips: the limits that calls, launches and kernels obey on each, and the instructions that a chip does not have.
#include <stdexcept>

#include "cuda/runtime/async_copy.cuh"
#include "cuda/runtime/bulk_copy.cuh"
#include "cuda/runtime/mbarrier.cuh"
#include "cuda/runtime/tensor_core.cuh"
#include "cuda/runtime/warp_roles.cuh"
#include "cuda/runtime/wgmma.cuh"
#include "support.hpp"

namespace kith::test {
namespace {

class Chips : public EmulatorTest {};

// A kernel of its own for each use: what one opted in to stays.
template <int kUse>
__global__ void kernel_of() {}

const void* address(void (*kernel)()) {
  return reinterpret_cast<const void*>(kernel);
}

cudaError_t try_shared(void (*kernel)(), std::size_t bytes) {
  const cudaError_t error = ::emulator::launch("chip", kernel, dim3(1), dim3(32), bytes, nullptr, address(kernel));
  EXPECT_EQ(cudaGetLastError(), error);
  return error;
}

cudaError_t opt_in(void (*kernel)(), std::size_t bytes) {
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  EXPECT_EQ(cudaGetLastError(), error);
  return error;
}

std::size_t kib(std::size_t count) {
  return count << 10U;
}

cudaDeviceProp properties_of(const char* chip) {
  ::emulator::set_chip(chip);
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  return properties;
}

TEST_F(Chips, HaveTheirProperties) {
  struct Expected {
    const char* chip;
    int major, minor;
    std::size_t optin_kib;
    int threads;
  };
  for (const Expected& expected :
       {Expected{"sm_50", 5, 0, 48, 2048}, Expected{"sm_75", 7, 5, 64, 1024}, Expected{"sm_80", 8, 0, 163, 2048},
        Expected{"sm_86", 8, 6, 99, 1536}, Expected{"sm_89", 8, 9, 99, 1536}, Expected{"sm_90", 9, 0, 227, 2048},
        Expected{"sm_100", 10, 0, 227, 2048}, Expected{"sm_120", 12, 0, 99, 1536}, Expected{"least", 8, 0, 99, 1024},
        Expected{"too_small", 8, 0, 48, 1024}}) {
    SCOPED_TRACE(expected.chip);
    const cudaDeviceProp found = properties_of(expected.chip);
    EXPECT_EQ(found.major, expected.major);
    EXPECT_EQ(found.minor, expected.minor);
    EXPECT_EQ(found.sharedMemPerBlock, kib(48));
    EXPECT_EQ(found.sharedMemPerBlockOptin, kib(expected.optin_kib));
    EXPECT_EQ(found.maxThreadsPerMultiProcessor, expected.threads);
    int value = 0;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
    EXPECT_EQ(value, static_cast<int>(found.sharedMemPerBlockOptin));
    EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
    EXPECT_EQ(value, expected.major);
  }
  EXPECT_STREQ(properties_of("sm_86").name, "Kith emulator sm_86");
}

TEST_F(Chips, UnknownOnesAreAnErrorThatListsAll) {
  try {
    ::emulator::set_chip("sm_1");
    FAIL() << "there is no sm_1";
  } catch (const std::invalid_argument& error) {
    expect_parts(error.what(), {"no chip 'sm_1'", "sm_80", "sm_90", "sm_120", "least"});
  }
}

TEST_F(Chips, LaunchesNeedTheOptIn) {
  ::emulator::set_chip("sm_86");
  void (*const kernel)() = kernel_of<0>;
  EXPECT_EQ(try_shared(kernel, kib(48)), cudaSuccess);
  EXPECT_EQ(try_shared(kernel, kib(48) + 1), cudaErrorInvalidValue);
  ASSERT_EQ(opt_in(kernel, kib(64)), cudaSuccess);
  EXPECT_EQ(try_shared(kernel, kib(64)), cudaSuccess);
  EXPECT_EQ(try_shared(kernel, kib(64) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(try_shared(kernel_of<1>, kib(64)), cudaErrorInvalidValue) << "another kernel did not";
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Chips, TheOptInHasALimit) {
  void (*const kernel)() = kernel_of<2>;
  ::emulator::set_chip("sm_86");
  EXPECT_EQ(opt_in(kernel, kib(99) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(opt_in(kernel, kib(99)), cudaSuccess);
  ::emulator::set_chip("sm_80");
  EXPECT_EQ(opt_in(kernel, kib(163)), cudaSuccess);
  EXPECT_EQ(try_shared(kernel, kib(163)), cudaSuccess);
  ::emulator::set_chip("too_small");
  EXPECT_EQ(opt_in(kernel, kib(48) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(try_shared(kernel, kib(163)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Chips, StaticSharedMemoryCountsAmongTheLimit) {
  const auto body = [] {
    KITH_SHARED(unsigned char, bytes, 2048);
    bytes[0] = 1;
  };
  const auto run = [&](void (*kernel)(), std::size_t bytes) {
    ASSERT_EQ(::emulator::launch("both", body, dim3(1), dim3(1), bytes, nullptr, address(kernel)), cudaSuccess);
  };
  ::emulator::set_chip("sm_86");
  run(kernel_of<3>, kib(46));
  ASSERT_EQ(opt_in(kernel_of<3>, kib(99)), cudaSuccess);
  run(kernel_of<3>, kib(97));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  run(kernel_of<3>, kib(97) + 1);
  expect_parts(failure(), {"static shared memory of 2048 bytes; the limit is 2047"});
  ::emulator::reset();
  run(kernel_of<4>, kib(46) + 1);  // it did not opt in
  expect_parts(failure(), {"static shared memory of 2048 bytes; the limit is 2047"});
}

TEST_F(Chips, OccupancyIsThatOfTheChip) {
  const auto blocks = [](void (*kernel)(), int threads, std::size_t bytes) {
    int count = -1;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, threads, bytes), cudaSuccess);
    return count;
  };
  ::emulator::set_chip("sm_86");
  EXPECT_EQ(blocks(kernel_of<5>, 512, 0), 3);
  EXPECT_EQ(blocks(kernel_of<5>, 32, 0), 16);
  EXPECT_EQ(blocks(kernel_of<5>, 128, kib(32)), 3);
  EXPECT_EQ(blocks(kernel_of<5>, 128, kib(64)), 0) << "without the opt-in";
  ASSERT_EQ(opt_in(kernel_of<5>, kib(64)), cudaSuccess);
  EXPECT_EQ(blocks(kernel_of<5>, 128, kib(64)), 1);
}

// Runs the body by a warpgroup on the chip; returns the failure, or an empty text.
std::string run_on(const char* chip, const std::function<void()>& body) {
  ::emulator::reset();
  ::emulator::set_chip(chip);
  EXPECT_EQ(::emulator::launch("new", body, dim3(1), dim3(128), 0, nullptr), cudaSuccess);
  cudaDeviceSynchronize();
  return ::emulator::last_failure();
}

TEST_F(Chips, CopiesInTheBackgroundAreFromAmpereOn) {
  DeviceValues<int> values(std::vector<int>(128, 7));
  const auto body = [from = values.data()] {
    KITH_SHARED(int, to, 128);
    emulated::SharedAddress<int>(to).copy_async_or_zero(threadIdx.x, from + threadIdx.x, true);
    emulated::commit_copies();
    emulated::wait_for_copies<0>();
  };
  EXPECT_EQ(run_on("sm_80", body), "");
  EXPECT_EQ(run_on("least", body), "");
  expect_parts(run_on("sm_75", body), {"cp.async is not on sm_75: it needs compute capability 8.0"});
}

TEST_F(Chips, ReductionsOfWarpsAreFromAmpereOn) {
  const auto body = [] { __reduce_max_sync(kFullMask, threadIdx.x); };
  EXPECT_EQ(run_on("sm_86", body), "");
  expect_parts(run_on("sm_70", body), {"redux.sync is not on sm_70: it needs compute capability 8.0"});
  const auto match = [] { __match_any_sync(kFullMask, threadIdx.x); };
  EXPECT_EQ(run_on("sm_70", match), "");
  expect_parts(run_on("sm_50", match), {"match.sync is not on sm_50: it needs compute capability 7.0"});
}

TEST_F(Chips, ProductsOfWarpsAreFromAmpereOn) {
  const auto body = [] {
    const unsigned left[4] = {};
    float sums[4] = {};
    emulated::multiply_fragments(left, 0, 0, sums);
  };
  EXPECT_EQ(run_on("sm_120", body), "");
  expect_parts(run_on("sm_75", body), {"mma.m16n8k16 is not on sm_75"});
}

TEST_F(Chips, MbarriersCountThreadsOnAmpereAndBytesFromHopperOn) {
  const auto arrive = [] {
    KITH_SHARED(emulated::Mbarrier, barrier, 1);
    if (threadIdx.x == 0) emulated::mbarrier_init(barrier, 128);
    __syncthreads();
    emulated::mbarrier_arrive(barrier);
  };
  EXPECT_EQ(run_on("sm_80", arrive), "");
  expect_parts(run_on("sm_75", arrive), {"mbarrier.init is not on sm_75"});

  const auto wait = [] {
    KITH_SHARED(emulated::Mbarrier, barrier, 1);
    if (threadIdx.x == 0) emulated::mbarrier_init(barrier, 128);
    __syncthreads();
    emulated::mbarrier_arrive(barrier);
    emulated::mbarrier_wait(barrier, 0);
  };
  EXPECT_EQ(run_on("sm_90", wait), "");
  EXPECT_EQ(run_on("sm_120", wait), "");
  expect_parts(run_on("sm_89", wait), {"mbarrier.try_wait is not on sm_89: it needs compute capability 9.0"});
}

TEST_F(Chips, BulkCopiesAreFromHopperOn) {
  DeviceValues<int> values(std::vector<int>(4, 7));
  const auto body = [from = values.data()] {
    KITH_SHARED(uint4, to, 1);
    KITH_SHARED(emulated::Mbarrier, barrier, 1);
    if (threadIdx.x == 0) {
      emulated::mbarrier_init(barrier, 1);
      if (gridDim.x == 1) ::emulator::bulk_copy(to, from, 16, &barrier->state, ::emulator::Where::current());
    }
  };
  expect_parts(run_on("sm_86", body), {"cp.async.bulk is not on sm_86: it needs compute capability 9.0"});
  expect_parts(run_on("sm_120", body), {"without a fence after its initialization"});  // the instruction is there
}

TEST_F(Chips, ElectedLanesAreFromHopperOn) {
  const auto body = [] { emulated::elect_one(); };
  EXPECT_EQ(run_on("sm_100", body), "");
  expect_parts(run_on("sm_80", body), {"elect.sync is not on sm_80"});
}

TEST_F(Chips, OnlyHopperHasWgmmaAndRegisterLimits) {
  const auto limit = [] { emulated::lower_register_limit<40>(); };
  EXPECT_EQ(run_on("sm_90", limit), "");
  expect_parts(run_on("sm_120", limit), {"setmaxnreg is not on sm_120: it is assembled for sm_90a alone"});
  const auto fence = [] { ::emulator::wgmma_fence({}, ::emulator::Where::current()); };
  EXPECT_EQ(run_on("sm_90", fence), "");
  for (const char* chip : {"sm_80", "sm_89", "sm_100", "sm_120", "least"})
    expect_parts(run_on(chip, fence), {std::string("wgmma.fence is not on ") + chip});
}

}  // namespace
}  // namespace kith::test
