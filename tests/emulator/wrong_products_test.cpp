// Mistakes with wgmma are found.
#include "product_support.hpp"

namespace kith::test {
namespace {

class WrongProducts : public EmulatorTest {
 protected:
  // A block of one warpgroup that has a tile and then does this with it.
  template <class Work>
  std::string failure_with_tile(Work work) {
    const auto body = [map = source_.map(), work] {
      Mbarrier* barrier = one_barrier();
      bring(tiles(), map, barrier, 0);
      work();
    };
    return failure_of(body, 128, kTileShared);
  }

  TileSource source_;
};

// Registers

TEST_F(WrongProducts, WithoutFence) {
  const auto work = [] {
    Int8Sums sums;
    multiply_tile(sums, tiles());
  };
  expect_parts(failure_with_tile(work), {"wgmma at wrong_products_test.cpp", "no wgmma.fence orders its sums"});
}

TEST_F(WrongProducts, SumsWrittenAfterTheFence) {
  const auto work = [] {
    Int8Sums sums{};
    device::wgmma_fence(sums);
    sums[3] = 1;
    multiply_tile(sums, tiles());
  };
  expect_parts(failure_with_tile(work), {"its sums changed since wgmma.fence"});
}

TEST_F(WrongProducts, SumsReadAndUsedAgainWithoutFence) {
  const auto work = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
    device::wgmma_wait<0>(sums);
    multiply_tile(sums, tiles());
  };
  expect_parts(failure_with_tile(work), {"no wgmma.fence orders its sums"});
}

TEST_F(WrongProducts, LeftOperandWrittenAfterTheFence) {
  const auto work = [] {
    Int8Sums sums;
    unsigned left[4] = {1, 2, 3, 4};
    device::wgmma_fence(sums, left);
    left[0] = 5;
    device::wgmma<WgmmaElement::int8>(sums, left, WgmmaOperand(tiles(), Swizzle::bytes_128), false);
  };
  expect_parts(failure_with_tile(work), {"its left operand changed since wgmma.fence"});
}

TEST_F(WrongProducts, LeftOperandWrittenInFlight) {
  const auto work = [] {
    Int8Sums sums;
    unsigned left[4] = {1, 2, 3, 4};
    const WgmmaOperand right(tiles(), Swizzle::bytes_128);
    device::wgmma_fence(sums, left);
    device::wgmma<WgmmaElement::int8>(sums, left, right, false);
    left[0] = 5;
    device::wgmma_fence(sums, left);
    device::wgmma<WgmmaElement::int8>(sums, left, right, true);
  };
  expect_parts(failure_with_tile(work), {"a left operand was written before wgmma.wait_group"});
}

TEST_F(WrongProducts, SumsWrittenInFlight) {
  const auto work = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
    sums[0] = 0;
    device::wgmma_wait<0>(sums);
  };
  expect_parts(failure_with_tile(work), {"sums were written before wgmma.wait_group"});
}

TEST_F(WrongProducts, SumsReadInFlight) {
  DeviceValues<int> out(64 * 64);
  const auto body = [map = source_.map(), to = out.data()] {
    bring(tiles(), map, one_barrier(), 0);
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
    store_sums(sums, 0, to);
    device::wgmma_wait<0>(sums);
  };
  EXPECT_EQ(::emulator::launch("early", body, dim3(1), dim3(128), kTileShared, nullptr), cudaSuccess);
  EXPECT_EQ(out.values(), std::vector<int>(64 * 64, -1));
}

TEST_F(WrongProducts, WaitThatDoesNotCoverItsSums) {
  const auto without_commit = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_wait<0>(sums);
  };
  expect_parts(failure_with_tile(without_commit), {"does not cover the sums that it names"});
  ::emulator::reset();
  const auto too_early = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
    device::wgmma_wait<1>(sums);
  };
  expect_parts(failure_with_tile(too_early), {"does not cover the sums that it names"});
}

TEST_F(WrongProducts, NobodyWaits) {
  const auto work = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
  };
  expect_parts(failure_with_tile(work), {"left before a wgmma.wait_group for wgmma at wrong_products_test.cpp"});
}

// Operands in shared memory

TEST_F(WrongProducts, OperandThatHasNotArrived) {
  const auto body = [map = source_.map()] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x == 0) {
      device::mbarrier_arrive_expect(barrier, kTileBytes);
      device::bulk_tensor_copy(tiles(), &map, 0, 0, barrier);
    }
    __syncthreads();
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
    device::wgmma_wait<0>(sums);
    device::mbarrier_wait(barrier, 0);
  };
  const int right = right_seeds([&] {
    ::emulator::reset();
    EXPECT_EQ(::emulator::launch("early", body, dim3(1), dim3(128), kTileShared, nullptr), cudaSuccess);
    if (cudaDeviceSynchronize() == cudaSuccess) return true;
    expect_parts(::emulator::last_failure(), {"is what a copy has not brought yet"});
    return false;
  });
  EXPECT_LT(right, kSeeds);
}

TEST_F(WrongProducts, OperandWrittenWithoutProxyFence) {
  const auto work = [](bool fence) {
    return [fence] {
      tiles()[threadIdx.x] = 3;
      if (fence) device::fence_proxy_async();
      __syncthreads();
      Int8Sums sums;
      device::wgmma_fence(sums);
      multiply_tile(sums, tiles());
      device::wgmma_commit();
      device::wgmma_wait<0>(sums);
    };
  };
  expect_parts(failure_with_tile(work(false)), {"was written without a fence_proxy_async since"});
  ::emulator::reset();
  const auto right = [map = source_.map(), fenced = work(true)] {
    bring(tiles(), map, one_barrier(), 0);
    fenced();
  };
  EXPECT_EQ(::emulator::launch("right", right, dim3(1), dim3(128), kTileShared, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << ::emulator::last_failure();
}

TEST_F(WrongProducts, OperandOverwrittenByAThread) {
  const auto work = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
    __syncthreads();
    if (threadIdx.x == 0) tiles()[0] = 9;
    device::wgmma_wait<0>(sums);
  };
  expect_parts(failure_with_tile(work), {"an operand of wgmma", "was overwritten before wgmma.wait_group"});
}

TEST_F(WrongProducts, OperandOverwrittenByACopy) {
  const auto body = [map = source_.map()] {
    Mbarrier* barrier = one_barrier();
    bring(tiles(), map, barrier, 0);
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
    bring(tiles(), map, barrier, 1);
    device::wgmma_wait<0>(sums);
  };
  expect_parts(failure_of(body, 128, kTileShared), {"overwrites what a wgmma in flight reads"});
}

TEST_F(WrongProducts, OperandThatIsNoTile) {
  const auto failure_at = [&](unsigned offset) {
    ::emulator::reset();
    return failure_with_tile([offset] {
      Int8Sums sums;
      device::wgmma_fence(sums);
      multiply_tile(sums, tiles() + offset);
    });
  };
  expect_parts(failure_at(128), {"does not start in the first row of a tile aligned to 1024"});
  expect_parts(failure_at(112), {"goes beyond the end of its swizzled rows"});
  expect_parts(failure_at(8), {"not aligned to 16"});
  expect_parts(failure_at(2 * kTileBytes - 1024), {"goes beyond its array of shared memory"});
}

// Who takes part

TEST_F(WrongProducts, LanesDisagree) {
  const auto work = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles() + (threadIdx.x == 40 ? 32 : 0));
  };
  expect_parts(failure_with_tile(work), {"warp 1", "wgmma(0xffffffff), operands #"});
}

TEST_F(WrongProducts, WarpsDisagree) {
  const auto work = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles() + (threadIdx.x / 32 == 2 ? 32 : 0));
    device::wgmma_commit();
    device::wgmma_wait<0>(sums);
  };
  expect_parts(failure_with_tile(work), {"the warps of warpgroup 0 disagree"});
}

TEST_F(WrongProducts, OneWarpIsMissing) {
  const auto work = [] {
    if (threadIdx.x >= 96) return;
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
    device::wgmma_commit();
    device::wgmma_wait<0>(sums);
  };
  expect_parts(failure_with_tile(work),
               {"threads 0-95 waiting for the other warps of warpgroup 0", "threads 96-127 left the kernel"});
}

TEST_F(WrongProducts, WarpgroupIsNotWhole) {
  const auto body = [] {
    Int8Sums sums;
    device::wgmma_fence(sums);
    multiply_tile(sums, tiles());
  };
  expect_parts(failure_of(body, 96, kTileShared), {"fewer than 128 threads"});
}

}  // namespace
}  // namespace kith::test
