// copy_support.hpp: kernels as lambdas, and tiles to copy.
#pragma once

#include "cuda/runtime/bulk_copy.cuh"
#include "cuda/runtime/warp_roles.cuh"
#include "support.hpp"

namespace kith::test {

namespace device = KITH_BACKEND;

using device::Mbarrier;
using device::Swizzle;
using device::TensorMap;

// The text of the failure of a block that runs this.
inline std::string failure_of(const std::function<void()>& body, unsigned threads, std::size_t shared_bytes = 0) {
  EXPECT_EQ(::emulator::launch("wrong", body, dim3(1), dim3(threads), shared_bytes, nullptr), cudaSuccess);
  return failure();
}

// 64 rows of 128 bytes, each byte 1.
constexpr unsigned kTileRows = 64;
constexpr unsigned kTileBytes = kTileRows * 128;
constexpr std::size_t kTileShared = 2 * kTileBytes + 1024;

class TileSource {
 public:
  TileSource() : rows_(std::vector<unsigned char>(kTileBytes, 1)) {}
  device::TensorShape shape() {
    return {.base = rows_.data(),
            .width = 128,
            .height = kTileRows,
            .row_bytes = 128,
            .box_width = 128,
            .box_height = kTileRows,
            .swizzle = Swizzle::bytes_128};
  }
  TensorMap map() { return device::tensor_map(shape()); }
  const unsigned char* data() { return rows_.data(); }

 private:
  DeviceValues<unsigned char> rows_;
};

// Dynamic shared memory for tiles with a swizzle.
inline unsigned char* tiles() {
  return device::align_shared(device::dynamic_shared<unsigned char>(), 1024);
}

// A barrier of the block for one arrival in each phase, initialized and shown to copies.
inline Mbarrier* one_barrier() {
  KITH_SHARED(Mbarrier, barrier, 1);
  if (threadIdx.x == 0) {
    device::mbarrier_init(barrier, 1);
    device::fence_mbarrier_init();
  }
  __syncthreads();
  return barrier;
}

// All threads wait until thread 0 has brought the tile, again in each phase.
inline void bring(unsigned char* to, const TensorMap& map, Mbarrier* barrier, unsigned phase) {
  if (threadIdx.x == 0) {
    device::mbarrier_arrive_expect(barrier, kTileBytes);
    device::bulk_tensor_copy(to, &map, 0, 0, barrier);
  }
  device::mbarrier_wait(barrier, phase & 1U);
}

}  // namespace kith::test
