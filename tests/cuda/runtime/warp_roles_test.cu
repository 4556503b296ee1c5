// warp_roles_test.cu: mbarriers, plain bulk copies, named barriers and elected lanes.
#include "cuda/runtime/bulk_copy.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/runtime/warp_roles.cuh"
#include "device_test.hpp"

namespace kith::test {
namespace {

using device::launch;
using device::Mbarrier;
using device::Stream;

// Halves of the block take turns at named barriers, and read 256 words that a plain bulk copy brought.
__global__ void turns_kernel(const unsigned* in, unsigned* out) {
  KITH_SHARED(Mbarrier, arrived, 1);
  KITH_SHARED(uint4, words, 64);
  const unsigned half = threadIdx.x / 64;
  if (threadIdx.x == 0) {
    device::mbarrier_init(arrived, 1);
    device::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    device::mbarrier_arrive_expect(arrived, 1024);
    device::bulk_copy(words, in, 1024, arrived);
  }
  while (!device::mbarrier_try_wait(arrived, 0)) {
  }
  unsigned* const values = reinterpret_cast<unsigned*>(words);
  if (half == 1) device::named_barrier_arrive(1, 128);
  for (unsigned turn = 0; turn < 3; ++turn) {
    device::named_barrier_sync(1 + half, 128);
    for (unsigned i = threadIdx.x % 64; i < 256; i += 64) values[i] = 2 * values[i] + half;
    if (half == 0 || turn < 2) device::named_barrier_arrive(2 - half, 128);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += 128) out[i] = values[i];
}

class WarpRoles : public DeviceTest {
 protected:
  // Both what the device is and what the kernels were compiled for.
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    cudaFuncAttributes compiled{};
    KITH_CUDA(cudaFuncGetAttributes(&compiled, reinterpret_cast<const void*>(turns_kernel)));
    if (compiled.ptxVersion < 90) GTEST_SKIP() << "mbarriers need kernels for sm_90 or later";
  }
};

TEST_F(WarpRoles, TakeTurnsAtNamedBarriers) {
  std::vector<unsigned> values(256);
  std::vector<unsigned> expected(256);
  for (unsigned i = 0; i < 256; ++i) {
    values[i] = i;
    expected[i] = 64 * i + 21;  // doubled six times, one added every second time
  }
  for_each_schedule([&] {
    const Stream stream;
    const DeviceArray<unsigned> in(values, stream);
    DeviceArray<unsigned> out(std::vector<unsigned>(256), stream);
    launch("turns", turns_kernel, {.threads = 128}, stream, in.data(), out.data());
    EXPECT_EQ(out.values(), expected);
  });
}

__global__ void elect_kernel(unsigned* elected) {
  for (unsigned turn = 0; turn < 2; ++turn)
    if (device::elect_one()) atomicAdd(&elected[2 * device::warp_id() + turn], 1 + device::lane_id());
}

TEST_F(WarpRoles, ElectOneLaneAndTheSameAgain) {
  for_each_schedule([] {
    const Stream stream;
    DeviceArray<unsigned> elected(std::vector<unsigned>(8), stream);
    launch("elect", elect_kernel, {.threads = 128}, stream, elected.data());
    const std::vector<unsigned> lanes = elected.values();
    for (std::size_t warp = 0; warp < 4; ++warp) {
      EXPECT_GE(lanes[2 * warp], 1U);
      EXPECT_LE(lanes[2 * warp], device::kWarp);
      EXPECT_EQ(lanes[2 * warp], lanes[2 * warp + 1]);
    }
  });
}

}  // namespace
}  // namespace kith::test
