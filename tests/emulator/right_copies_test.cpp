// Correct kernels with copies in flight give the right answer under every seed.
#include "copy_support.hpp"

namespace kith::test {
namespace {

class RightCopies : public EmulatorTest {};

// A warp that spins alone lets copies land.
TEST_F(RightCopies, SpinningForACopyEnds) {
  TileSource source;
  DeviceValues<unsigned char> out(32);
  EXPECT_EQ(kSeeds, right_seeds([&] {
              const auto body = [map = source.map(), to = out.data()] {
                Mbarrier* barrier = one_barrier();
                if (threadIdx.x == 0) {
                  device::mbarrier_arrive_expect(barrier, kTileBytes);
                  device::bulk_tensor_copy(tiles(), &map, 0, 0, barrier);
                }
                while (!device::mbarrier_try_wait(barrier, 0)) {
                }
                to[threadIdx.x] = tiles()[threadIdx.x];
              };
              EXPECT_EQ(::emulator::launch("spin", body, dim3(1), dim3(32), kTileShared, nullptr), cudaSuccess);
              return out.values() == std::vector<unsigned char>(32, 1);
            }));
}

}  // namespace
}  // namespace kith::test
