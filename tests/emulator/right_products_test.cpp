// Correct kernels with products in flight give the right answer under every seed.
#include "cuda/runtime/warpgroup_problem.hpp"
#include "product_support.hpp"

namespace kith::test {
namespace {

class RightProducts : public EmulatorTest {};

TEST_F(RightProducts, ProductOfATile) {
  TileSource source;
  DeviceValues<int> out(64 * 64);
  EXPECT_EQ(kSeeds, right_seeds([&] {
              const auto body = [map = source.map(), to = out.data()] {
                bring(tiles(), map, one_barrier(), 0);
                Int8Sums sums;
                device::wgmma_fence(sums);
                multiply_tile(sums, tiles());
                device::wgmma_commit();
                device::wgmma_wait<0>(sums);
                store_sums(sums, 0, to);
              };
              EXPECT_EQ(::emulator::launch("tile", body, dim3(1), dim3(128), kTileShared, nullptr), cudaSuccess);
              return out.values() == std::vector<int>(64 * 64, 32);
            }));
}

template <WgmmaElement kElement>
int right_seeds_of_gemm() {
  constexpr unsigned kCoordinates = 200;
  constexpr unsigned kRowBytes = 512;
  constexpr unsigned kSteps =
      (kCoordinates * kElementBytes<kElement> + GemmShape::kStepBytes - 1) / GemmShape::kStepBytes;
  const IntegerMatrix left = integer_matrix(120, kCoordinates, 3, -8);
  const IntegerMatrix right = integer_matrix(60, kCoordinates, 4, -8);
  DeviceValues<unsigned char> left_rows(encode<kElement>(left, kRowBytes));
  DeviceValues<unsigned char> right_rows(encode<kElement>(right, kRowBytes));
  const auto expected = product_of<kElement>(left, right, GemmShape::kRows, GemmShape::kColumns);
  const auto map = [&](const IntegerMatrix& matrix, const unsigned char* rows, unsigned box_rows) {
    return map_of<kElement>(matrix, rows, kRowBytes, GemmShape::kStepBytes, box_rows, Swizzle::bytes_128);
  };
  return right_seeds([&] {
    DeviceValues<WgmmaSum<kElement>> out(GemmShape::kRows * GemmShape::kColumns);
    launch("gemm", gemm_kernel<kElement>, {.threads = GemmShape::kThreads, .shared_bytes = GemmShape::kSharedBytes},
           nullptr, map(left, left_rows.data(), GemmShape::kRows), map(right, right_rows.data(), GemmShape::kColumns),
           kSteps, out.data());
    return out.values() == expected;
  });
}

TEST_F(RightProducts, ProductThroughARingOfStages) {
  EXPECT_EQ(right_seeds_of_gemm<WgmmaElement::fp16>(), kSeeds);
  EXPECT_EQ(right_seeds_of_gemm<WgmmaElement::int8>(), kSeeds);
}

}  // namespace
}  // namespace kith::test
