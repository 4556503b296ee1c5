// warpgroup_kernels.cuh: matrix products by bulk copies and wgmma, for the tests of both on a device and emulated.
#pragma once

#include "cuda/runtime/bulk_copy.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/runtime/warp_roles.cuh"
#include "cuda/runtime/wgmma.cuh"

namespace kith::test {

namespace device = KITH_BACKEND;

using device::Mbarrier;
using device::Swizzle;
using device::TensorMap;
using device::WgmmaElement;
using device::WgmmaOperand;
using device::WgmmaSum;

// Elements as the host writes them. bf16 is the upper half of a float.
template <WgmmaElement kElement>
constexpr unsigned kElementBytes = device::kIsFloatProduct<kElement> ? 2 : 1;

// Writes the sums of a warpgroup, whose first row this is.
template <class Sum, unsigned kSums>
__device__ void store_sums(const Sum (&sums)[kSums], unsigned row, Sum* out) {
  const unsigned warp = threadIdx.x % device::kWarpgroup / device::kWarp;
  const unsigned g = device::lane_id() / 4;
  const unsigned t = device::lane_id() % 4;
  for (unsigned i = 0; i < kSums; ++i)
    out[(row + 16 * warp + g + i / 2 % 2 * 8) * (2 * kSums) + i / 4 * 8 + 2 * t + i % 2] = sums[i];
}

// One warpgroup multiplies 64 rows by kColumns rows, over the bytes of one swizzle (32 without one).
template <WgmmaElement kElement, Swizzle kSwizzle, unsigned kColumns, bool kInRegisters>
__global__ void __launch_bounds__(128)
    product_kernel(const __grid_constant__ TensorMap left, const __grid_constant__ TensorMap right,
                   const unsigned* left_words, WgmmaSum<kElement>* out) {
  constexpr unsigned kSpan = kSwizzle == Swizzle::none ? 32 : static_cast<unsigned>(kSwizzle);
  constexpr unsigned kBox = kSwizzle == Swizzle::none ? 16 : kSpan;
  constexpr unsigned kLeftBytes = 64 * kSpan;
  KITH_SHARED(Mbarrier, arrived, 1);
  unsigned char* const tiles = device::align_shared(device::dynamic_shared<unsigned char>(), 1024);
  if (threadIdx.x == 0) {
    device::mbarrier_init(arrived, 1);
    device::fence_mbarrier_init();
    device::mbarrier_arrive_expect(arrived, kLeftBytes + kColumns * kSpan);
    for (unsigned byte = 0; byte < kSpan; byte += kBox) {
      const int x = static_cast<int>(byte / kElementBytes<kElement>);
      device::bulk_tensor_copy(tiles + 64 * byte, &left, x, 0, arrived);
      device::bulk_tensor_copy(tiles + kLeftBytes + kColumns * byte, &right, x, 0, arrived);
    }
  }
  __syncthreads();
  device::mbarrier_wait(arrived, 0);

  const auto operand = [&](const unsigned char* tile, unsigned rows) {
    return kSwizzle == Swizzle::none ? WgmmaOperand(tile, 16 * rows, 128) : WgmmaOperand(tile, kSwizzle);
  };
  const WgmmaOperand left_tile = operand(tiles, 64);
  const WgmmaOperand right_tile = operand(tiles + kLeftBytes, kColumns);
  WgmmaSum<kElement> sums[kColumns / 2];
  unsigned words[kSpan / 32][4];
  if constexpr (kInRegisters)
    for (unsigned step = 0; step < kSpan / 32; ++step)
      for (unsigned i = 0; i < 4; ++i)
        words[step][i] = left_words[(device::warp_id() * 16 + device::lane_id() / 4 + i % 2 * 8) * (kSpan / 4) +
                                    step * 8 + i / 2 * 4 + device::lane_id() % 4];
  for (unsigned step = 0; step < kSpan / 32; ++step) {
    if constexpr (kInRegisters) {
      device::wgmma_fence(sums, words[step]);
      device::wgmma<kElement>(sums, words[step], right_tile.further(32 * step), step > 0);
    } else {
      device::wgmma_fence(sums);
      device::wgmma<kElement>(sums, left_tile.further(32 * step), right_tile.further(32 * step), step > 0);
    }
  }
  device::wgmma_commit();
  device::wgmma_wait<0>(sums);
  store_sums(sums, 0, out);
}

// A block multiplies 128 rows by 64 rows, over any number of coordinates. A lane of the first warpgroup brings 128
// bytes of all rows at a time to a ring of stages; each of two warpgroups multiplies 64 rows and has one group of
// products in flight when it starts the next.
struct GemmShape {
  static constexpr unsigned kThreads = 3 * device::kWarpgroup;
  static constexpr unsigned kStages = 3;
  static constexpr unsigned kRows = 128;
  static constexpr unsigned kColumns = 64;
  static constexpr unsigned kStepBytes = 128;  // of each row
  static constexpr unsigned kLeftBytes = kRows * kStepBytes;
  static constexpr unsigned kStageBytes = kLeftBytes + kColumns * kStepBytes;
  static constexpr unsigned kSharedBytes = kStages * kStageBytes + 1024;
};

// Position in the ring, and the parity of the phase that fills it.
struct RingPosition {
  unsigned stage = 0;
  unsigned parity = 0;

  __device__ void advance() {
    if (++stage < GemmShape::kStages) return;
    stage = 0;
    parity ^= 1U;
  }
};

template <WgmmaElement kElement>
__device__ void fill_stages(const TensorMap* left, const TensorMap* right, unsigned steps, unsigned char* tiles,
                            Mbarrier* full, Mbarrier* empty) {
  RingPosition at;
  for (unsigned step = 0; step < steps; ++step, at.advance()) {
    unsigned char* const stage = tiles + at.stage * GemmShape::kStageBytes;
    const int x = static_cast<int>(step * GemmShape::kStepBytes / kElementBytes<kElement>);
    device::mbarrier_wait(&empty[at.stage], at.parity ^ 1U);
    device::mbarrier_arrive_expect(&full[at.stage], GemmShape::kStageBytes);
    device::bulk_tensor_copy(stage, left, x, static_cast<int>(blockIdx.x * GemmShape::kRows), &full[at.stage]);
    device::bulk_tensor_copy(stage + GemmShape::kLeftBytes, right, x, 0, &full[at.stage]);
  }
}

template <WgmmaElement kElement>
__device__ void multiply_stages(unsigned steps, const unsigned char* tiles, Mbarrier* full, Mbarrier* empty,
                                WgmmaSum<kElement>* out) {
  const unsigned consumer = threadIdx.x / device::kWarpgroup - 1;
  WgmmaSum<kElement> sums[GemmShape::kColumns / 2];
  RingPosition at;
  RingPosition released;
  for (unsigned step = 0; step < steps; ++step, at.advance()) {
    const unsigned char* const stage = tiles + at.stage * GemmShape::kStageBytes;
    const WgmmaOperand left(stage + consumer * (GemmShape::kLeftBytes / 2), Swizzle::bytes_128);
    const WgmmaOperand right(stage + GemmShape::kLeftBytes, Swizzle::bytes_128);
    device::mbarrier_wait(&full[at.stage], at.parity);
    device::wgmma_fence(sums);
    KITH_UNROLL for (unsigned byte = 0; byte < GemmShape::kStepBytes; byte += 32)
        device::wgmma<kElement>(sums, left.further(byte), right.further(byte), step > 0 || byte > 0);
    device::wgmma_commit();
    device::wgmma_wait<1>();
    if (step == 0) continue;
    if (device::lane_id() == 0) device::mbarrier_arrive(&empty[released.stage]);
    released.advance();
  }
  device::wgmma_wait<0>(sums);
  store_sums(sums, blockIdx.x * GemmShape::kRows + consumer * 64, out);
}

template <WgmmaElement kElement>
__global__ void __launch_bounds__(GemmShape::kThreads, 1)
    gemm_kernel(const __grid_constant__ TensorMap left, const __grid_constant__ TensorMap right, unsigned steps,
                WgmmaSum<kElement>* out) {
  KITH_SHARED(Mbarrier, full, GemmShape::kStages);
  KITH_SHARED(Mbarrier, empty, GemmShape::kStages);
  unsigned char* const tiles = device::align_shared(device::dynamic_shared<unsigned char>(), 1024);
  if (threadIdx.x == 0) {
    for (unsigned stage = 0; stage < GemmShape::kStages; ++stage) {
      device::mbarrier_init(&full[stage], 1);
      device::mbarrier_init(&empty[stage], 8);  // warps that multiply
    }
    device::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < device::kWarpgroup) {
    device::lower_register_limit<40>();
    if (device::warp_id() == 0 && device::elect_one()) fill_stages<kElement>(&left, &right, steps, tiles, full, empty);
  } else {
    device::raise_register_limit<232>();
    multiply_stages<kElement>(steps, tiles, full, empty, out);
  }
}

}  // namespace kith::test
