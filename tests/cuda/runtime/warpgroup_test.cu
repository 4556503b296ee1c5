// warpgroup_test.cu: bulk copies and wgmma give right products, in all layouts. Left out where kernels for sm_90 are.
#include "cuda/runtime/launch.cuh"
#include "device_test.hpp"
#include "warpgroup_problem.hpp"

namespace kith::test {
namespace {

using device::launch;
using device::Stream;

// These kernels are compiled for sm_90a, which no other chip runs.
class Warpgroups : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    if (device::devices()[0].hardware.compute_major != 9) GTEST_SKIP() << "wgmma needs a device of sm_90";
  }
};

template <WgmmaElement kElement>
constexpr int kLeast = kElement == WgmmaElement::uint8 ? 0 : -8;

template <WgmmaElement kElement, Swizzle kSwizzle, unsigned kColumns, bool kInRegisters>
void check_product() {
  constexpr unsigned kSpan = kSwizzle == Swizzle::none ? 32 : static_cast<unsigned>(kSwizzle);
  constexpr unsigned kBox = kSwizzle == Swizzle::none ? 16 : kSpan;
  constexpr unsigned kCoordinates = kSpan / kElementBytes<kElement>;
  const IntegerMatrix left = integer_matrix(64, kCoordinates, 1, kLeast<kElement>);
  const IntegerMatrix right = integer_matrix(kColumns - 3, kCoordinates, 2, kLeast<kElement>);
  for_each_schedule([&] {
    const Stream stream;
    const DeviceArray<unsigned char> left_rows(encode<kElement>(left, kSpan), stream);
    const DeviceArray<unsigned char> right_rows(encode<kElement>(right, kSpan), stream);
    DeviceArray<WgmmaSum<kElement>> out(std::vector<WgmmaSum<kElement>>(64 * kColumns), stream);
    launch("product", product_kernel<kElement, kSwizzle, kColumns, kInRegisters>,
           {.threads = 128, .shared_bytes = (64 + kColumns) * kSpan + 1024}, stream,
           map_of<kElement>(left, left_rows.data(), kSpan, kBox, 64, kSwizzle),
           map_of<kElement>(right, right_rows.data(), kSpan, kBox, kColumns, kSwizzle),
           reinterpret_cast<const unsigned*>(left_rows.data()), out.data());
    EXPECT_EQ(out.values(), (product_of<kElement>(left, right, 64, kColumns)));
  });
}

TEST_F(Warpgroups, MultiplyEveryElementType) {
  check_product<WgmmaElement::fp16, Swizzle::bytes_128, 64, false>();
  check_product<WgmmaElement::bf16, Swizzle::bytes_128, 64, false>();
  check_product<WgmmaElement::int8, Swizzle::bytes_128, 64, false>();
  check_product<WgmmaElement::uint8, Swizzle::bytes_128, 64, false>();
}

TEST_F(Warpgroups, MultiplyEverySwizzle) {
  check_product<WgmmaElement::fp16, Swizzle::none, 64, false>();
  check_product<WgmmaElement::fp16, Swizzle::bytes_32, 64, false>();
  check_product<WgmmaElement::fp16, Swizzle::bytes_64, 64, false>();
  check_product<WgmmaElement::int8, Swizzle::none, 64, false>();
}

TEST_F(Warpgroups, MultiplyEveryNumberOfColumns) {
  check_product<WgmmaElement::fp16, Swizzle::bytes_128, 32, false>();
  check_product<WgmmaElement::fp16, Swizzle::bytes_128, 128, false>();
  check_product<WgmmaElement::fp16, Swizzle::bytes_128, 256, false>();
  check_product<WgmmaElement::int8, Swizzle::bytes_128, 256, false>();
}

TEST_F(Warpgroups, MultiplyRowsInRegisters) {
  check_product<WgmmaElement::fp16, Swizzle::bytes_128, 64, true>();
  check_product<WgmmaElement::bf16, Swizzle::bytes_64, 64, true>();
  check_product<WgmmaElement::int8, Swizzle::bytes_128, 64, true>();
}

// Neither rows nor coordinates fill the tiles.
template <WgmmaElement kElement>
void check_gemm() {
  constexpr unsigned kCoordinates = 500;
  constexpr unsigned kRowBytes = 1024;
  constexpr unsigned kSteps =
      (kCoordinates * kElementBytes<kElement> + GemmShape::kStepBytes - 1) / GemmShape::kStepBytes;
  const IntegerMatrix left = integer_matrix(200, kCoordinates, 3, -8);
  const IntegerMatrix right = integer_matrix(60, kCoordinates, 4, -8);
  for_each_schedule([&] {
    const Stream stream;
    const DeviceArray<unsigned char> left_rows(encode<kElement>(left, kRowBytes), stream);
    const DeviceArray<unsigned char> right_rows(encode<kElement>(right, kRowBytes), stream);
    DeviceArray<WgmmaSum<kElement>> out(std::vector<WgmmaSum<kElement>>(256 * GemmShape::kColumns), stream);
    const auto map = [&](const IntegerMatrix& matrix, const unsigned char* rows, unsigned box_rows) {
      return map_of<kElement>(matrix, rows, kRowBytes, GemmShape::kStepBytes, box_rows, Swizzle::bytes_128);
    };
    launch("gemm", gemm_kernel<kElement>,
           {.blocks = 2, .threads = GemmShape::kThreads, .shared_bytes = GemmShape::kSharedBytes}, stream,
           map(left, left_rows.data(), GemmShape::kRows), map(right, right_rows.data(), GemmShape::kColumns), kSteps,
           out.data());
    EXPECT_EQ(out.values(), (product_of<kElement>(left, right, 256, GemmShape::kColumns)));
  });
}

TEST_F(Warpgroups, MultiplyThroughARingOfStages) {
  check_gemm<WgmmaElement::fp16>();
  check_gemm<WgmmaElement::int8>();
}

}  // namespace
}  // namespace kith::test
