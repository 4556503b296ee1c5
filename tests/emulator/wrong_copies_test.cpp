// Mistakes with mbarriers, bulk copies, named barriers and register limits are found.
#include <algorithm>

#include "copy_support.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

class WrongCopies : public EmulatorTest {};

// mbarriers

TEST_F(WrongCopies, WaitForAPhaseThatNeverComes) {
  const auto body = [] {
    Mbarrier* barrier = one_barrier();
    device::mbarrier_wait(barrier, 0);
  };
  expect_parts(failure_of(body, 64), {"threads 0-63 waiting for the mbarrier at byte 0 of copy_support.hpp:barrier",
                                      "phase 0 lacks 1 of 1 arrivals and 0 bytes", "wrong_copies_test.cpp"});
}

TEST_F(WrongCopies, SpinForAPhaseThatNeverComes) {
  const auto body = [] {
    Mbarrier* barrier = one_barrier();
    while (!device::mbarrier_try_wait(barrier, 0)) {
    }
  };
  expect_parts(failure_of(body, 32), {"makes no progress"});
}

TEST_F(WrongCopies, WaitInOneLaneWhileOthersNeedIt) {
  const auto body = [] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x == 0) device::mbarrier_wait(barrier, 0);
    __syncwarp();
  };
  expect_parts(failure_of(body, 32), {"thread 0 waiting for the mbarrier", "threads 1-31 in __syncwarp"});
}

TEST_F(WrongCopies, MoreArrivalsThanExpected) {
  const auto body = [] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x < 2) device::mbarrier_arrive_expect(barrier, 128);
  };
  expect_parts(failure_of(body, 32), {"more than its 1 arrivals in phase 0"});
}

// An arrival too many where no bytes are expected ends the next phase as well, which some thread misses.
TEST_F(WrongCopies, PhasesThatEndBeforeTheLastWasSeen) {
  const auto body = [] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x >= 32) device::mbarrier_wait(barrier, 0);
    __syncwarp();
    if (threadIdx.x == 0) {
      device::mbarrier_arrive(barrier);
      device::mbarrier_arrive(barrier);
    }
  };
  const int right = right_seeds([&] {
    ::emulator::reset();
    EXPECT_EQ(::emulator::launch("twice", body, dim3(1), dim3(64), 0, nullptr), cudaSuccess);
    return cudaDeviceSynchronize() == cudaSuccess;
  });
  EXPECT_LT(right, kSeeds);
}

TEST_F(WrongCopies, MoreBytesThanABarrierCounts) {
  const auto body = [] {
    KITH_SHARED(Mbarrier, barrier, 1);
    device::mbarrier_init(barrier, 2);
    device::mbarrier_arrive_expect(barrier, (1U << 20U) - 1);
    device::mbarrier_arrive_expect(barrier, 1);
  };
  expect_parts(failure_of(body, 1), {"is to expect 1048576 bytes", "2^20 - 1"});
}

TEST_F(WrongCopies, BarrierWithoutInitialization) {
  const auto body = [] {
    KITH_SHARED(Mbarrier, barrier, 1);
    device::mbarrier_arrive(barrier);
  };
  expect_parts(failure_of(body, 32), {"arrive: the mbarrier at byte 0 of", "is not initialized"});
}

TEST_F(WrongCopies, BarrierInitializedTwice) {
  const auto body = [] {
    KITH_SHARED(Mbarrier, barrier, 1);
    device::mbarrier_init(barrier, 1);
  };
  expect_parts(failure_of(body, 2), {"is initialized twice, at wrong_copies_test.cpp"});
}

TEST_F(WrongCopies, BarrierOverwritten) {
  const auto body = [] {
    Mbarrier* barrier = one_barrier();
    barrier->state = 0;
    device::mbarrier_arrive(barrier);
  };
  expect_parts(failure_of(body, 1), {"something else was written to the mbarrier"});
}

TEST_F(WrongCopies, BarrierNotShownToCopies) {
  TileSource source;
  const auto body = [map = source.map()] {
    KITH_SHARED(Mbarrier, barrier, 1);
    device::mbarrier_init(barrier, 1);
    bring(tiles(), map, barrier, 0);
  };
  expect_parts(failure_of(body, 1, kTileShared), {"uses an mbarrier without a fence after its initialization"});
}

// Bytes

template <unsigned kExpected>
std::string failure_expecting() {
  TileSource source;
  const auto body = [map = source.map()] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x == 0) {
      device::mbarrier_arrive_expect(barrier, kExpected);
      device::bulk_tensor_copy(tiles(), &map, 0, 0, barrier);
    }
    device::mbarrier_wait(barrier, 0);
  };
  return failure_of(body, 32, kTileShared);
}

TEST_F(WrongCopies, FewerBytesThanExpected) {
  expect_parts(failure_expecting<kTileBytes + 128>(),
               {"waiting for the mbarrier", "lacks 0 of 1 arrivals and 128 bytes"});
}

TEST_F(WrongCopies, MoreBytesThanExpected) {
  expect_parts(failure_expecting<kTileBytes - 128>(), {"got 128 bytes more than its arrivals announced"});
}

// The bytes of one of two copies end the phase: the other one lands in the next.
TEST_F(WrongCopies, OneOfTwoCopiesExpected) {
  TileSource source;
  const auto body = [map = source.map()] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x == 0) {
      device::mbarrier_arrive_expect(barrier, kTileBytes);
      device::bulk_tensor_copy(tiles(), &map, 0, 0, barrier);
      device::bulk_tensor_copy(tiles() + kTileBytes, &map, 0, 0, barrier);
    }
    device::mbarrier_wait(barrier, 0);
  };
  const std::string text = failure_of(body, 32, kTileShared);
  EXPECT_TRUE(text.find("landed after its phase") != std::string::npos ||
              text.find("the block ended") != std::string::npos)
      << text;
}

TEST_F(WrongCopies, BlockEndsBeforeItsCopy) {
  TileSource source;
  const auto body = [map = source.map()] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x == 0) device::bulk_tensor_copy(tiles(), &map, 0, 0, barrier);
  };
  const std::string text = failure_of(body, 32, kTileShared);
  expect_parts(text, {"the block ended"});
}

// Tensor maps

TEST_F(WrongCopies, BoxesThatDoNotExist) {
  TileSource source;
  const auto refuses = [&](const std::vector<std::string>& mentions, auto change) {
    device::TensorShape shape = source.shape();
    change(shape);
    EXPECT_TRUE(fails_with(ErrorCode::internal, mentions, [&] { device::tensor_map(shape); }));
  };
  refuses({"row = 256", "those of the swizzle"}, [](auto& shape) { shape.box_width = 256; });
  refuses({"box_width = 512", "1 to 256"}, [](auto& shape) {
    shape.box_width = 512;
    shape.swizzle = Swizzle::none;
  });
  refuses({"box_height = 257"}, [](auto& shape) { shape.box_height = 257; });
  refuses({"row = 8", "multiple of 16"}, [](auto& shape) {
    shape.box_width = 8;
    shape.swizzle = Swizzle::none;
  });
  refuses({"row_bytes = 136", "multiple of 16"}, [](auto& shape) { shape.row_bytes = 136; });
  refuses({"row_bytes = 64", "hold a row"}, [](auto& shape) { shape.row_bytes = 64; });
  refuses({"base = ", "multiple of 16"},
          [](auto& shape) { shape.base = static_cast<const unsigned char*>(shape.base) + 8; });
}

// Destinations

std::string failure_copying_to(unsigned offset, std::size_t shared_bytes, Swizzle swizzle) {
  TileSource source;
  device::TensorShape shape = source.shape();
  shape.swizzle = swizzle;
  const auto body = [map = device::tensor_map(shape), offset] { bring(tiles() + offset, map, one_barrier(), 0); };
  return failure_of(body, 32, shared_bytes);
}

TEST_F(WrongCopies, MisalignedDestination) {
  expect_parts(failure_copying_to(128, kTileShared, Swizzle::bytes_128), {"aligned to 1024"});
  ::emulator::reset();
  expect_parts(failure_copying_to(64, kTileShared, Swizzle::none), {"aligned to 128"});
}

// Dynamic shared memory is not aligned for a swizzle by itself.
TEST_F(WrongCopies, DestinationThatNobodyAligned) {
  TileSource source;
  const auto body = [map = source.map()] { bring(device::dynamic_shared<unsigned char>(), map, one_barrier(), 0); };
  expect_parts(failure_of(body, 32, kTileShared), {"aligned to 1024"});
}

TEST_F(WrongCopies, DestinationBeyondSharedMemory) {
  expect_parts(failure_copying_to(0, kTileBytes, Swizzle::bytes_128), {"brings 8192 bytes, more than there are"});
}

TEST_F(WrongCopies, TwoCopiesToOneTile) {
  TileSource source;
  const auto body = [map = source.map()] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x == 0) {
      device::mbarrier_arrive_expect(barrier, 2 * kTileBytes);
      device::bulk_tensor_copy(tiles(), &map, 0, 0, barrier);
      device::bulk_tensor_copy(tiles(), &map, 0, 0, barrier);
    }
    device::mbarrier_wait(barrier, 0);
  };
  expect_parts(failure_of(body, 32, kTileShared), {"goes where another copy in flight goes"});
}

template <bool kFence>
bool copies_over_stores() {
  TileSource source;
  ::emulator::reset();
  const auto body = [map = source.map()] {
    Mbarrier* barrier = one_barrier();
    tiles()[threadIdx.x] = 7;
    if constexpr (kFence) device::fence_proxy_async();
    __syncthreads();
    bring(tiles(), map, barrier, 0);
  };
  EXPECT_EQ(::emulator::launch("over", body, dim3(1), dim3(32), kTileShared, nullptr), cudaSuccess);
  const bool right = cudaDeviceSynchronize() == cudaSuccess;
  if (!right) expect_parts(::emulator::last_failure(), {"overwrites what threads wrote, without a fence_proxy_async"});
  return right;
}

TEST_F(WrongCopies, CopyOverStoresWithoutFence) {
  EXPECT_TRUE(copies_over_stores<true>());
  EXPECT_FALSE(copies_over_stores<false>());
}

TEST_F(WrongCopies, PlainCopyOfOddBytesOrAddresses) {
  TileSource source;
  const auto failure_copying = [&](unsigned offset, unsigned bytes) {
    ::emulator::reset();
    const auto body = [from = source.data() + offset, bytes] {
      Mbarrier* barrier = one_barrier();
      if (threadIdx.x == 0) device::bulk_copy(tiles(), from, bytes, barrier);
    };
    return failure_of(body, 32, kTileShared);
  };
  expect_parts(failure_copying(0, 24), {"has 24 bytes, no multiple of 16"});
  expect_parts(failure_copying(8, 32), {"needs a source aligned to 16"});
}

// Without the wait the tile is still poison, under every order in which the copy has not landed by chance.
template <bool kWait>
bool sees_tile() {
  TileSource source;
  DeviceValues<unsigned char> out(64);
  const auto body = [map = source.map(), to = out.data()] {
    Mbarrier* barrier = one_barrier();
    if (threadIdx.x == 0) {
      device::mbarrier_arrive_expect(barrier, kTileBytes);
      device::bulk_tensor_copy(tiles(), &map, 0, 0, barrier);
    }
    if (kWait || threadIdx.x == 0) device::mbarrier_wait(barrier, 0);
    to[threadIdx.x] = tiles()[threadIdx.x];
  };
  EXPECT_EQ(::emulator::launch("tile", body, dim3(1), dim3(64), kTileShared, nullptr), cudaSuccess);
  const std::vector<unsigned char> seen = out.values();
  return std::all_of(seen.begin(), seen.end(), [](unsigned char byte) { return byte == 1; });
}

TEST_F(WrongCopies, TileReadBeforeItArrives) {
  EXPECT_EQ(right_seeds(sees_tile<true>), kSeeds);
  EXPECT_LT(right_seeds(sees_tile<false>), kSeeds / 2);
}

// Roles of warps

TEST_F(WrongCopies, NamedBarrierThatTooFewReach) {
  const auto body = [] {
    if (threadIdx.x < 32) device::named_barrier_sync(3, 64);
  };
  expect_parts(failure_of(body, 64),
               {"threads 0-31 waiting for named barrier 3, where 32 of 64 threads have come, at wrong_copies_test.cpp",
                "threads 32-63 left the kernel"});
}

TEST_F(WrongCopies, NamedBarrierWithTwoCounts) {
  const auto body = [] { device::named_barrier_sync(1, threadIdx.x < 32 ? 64 : 96); };
  expect_parts(failure_of(body, 96), {"named barrier 1 is for "});
}

TEST_F(WrongCopies, NamedBarrierForPartOfAWarp) {
  expect_parts(failure_of([] { device::named_barrier_sync(1, 48); }, 64), {"whole warps", "48"});
  ::emulator::reset();
  const auto body = [] {
    if (threadIdx.x != 5) device::named_barrier_sync(1, 32);
  };
  expect_parts(failure_of(body, 32), {"bar.sync(0xffffffff)", "lane 5 left the kernel"});
}

TEST_F(WrongCopies, NamedBarrierThatDoesNotExist) {
  expect_parts(failure_of([] { device::named_barrier_sync(16, 32); }, 32), {"1 to 15, not 16"});
}

TEST_F(WrongCopies, MoreRegistersThanThereAre) {
  const auto body = [] {
    if (threadIdx.x < 128)
      device::lower_register_limit<40>();
    else
      device::raise_register_limit<240>();
  };
  expect_parts(failure_of(body, 384), {"setmaxnreg: the block has 66560 registers"});
}

TEST_F(WrongCopies, RegisterLimitsThatDoNotExist) {
  const auto body = [] { ::emulator::set_register_limit(44, false, ::emulator::Where::current()); };
  expect_parts(failure_of(body, 128), {"multiple of 8 from 24 to 256, not 44"});
  ::emulator::reset();
  expect_parts(failure_of([] { device::raise_register_limit<40>(); }, 384), {"setmaxnreg.inc from 168 to 40"});
  ::emulator::reset();
  const auto uneven = [] {
    if (threadIdx.x < 32) device::lower_register_limit<40>();
  };
  expect_parts(failure_of(uneven, 128), {"the warps of warpgroup 0 have different limits"});
}

TEST_F(WrongCopies, ElectedLaneIsNotAlwaysTheFirst) {
  DeviceValues<unsigned> out(2);
  const int first = right_seeds([&] {
    const auto body = [to = out.data()] {
      if (device::elect_one()) to[0] = threadIdx.x;
      if (device::elect_one()) to[1] = threadIdx.x;
    };
    EXPECT_EQ(::emulator::launch("elect", body, dim3(1), dim3(32), 0, nullptr), cudaSuccess);
    EXPECT_EQ(out.values()[0], out.values()[1]) << "the same one each time";
    return out.values()[0] == 0;
  });
  EXPECT_LT(first, kSeeds);
}

}  // namespace
}  // namespace kith::test
