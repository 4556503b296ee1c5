// Keys as integers: their order is that of the values, −0 equals +0, NaN is last.
#include "core/order.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/random.hpp"

namespace kith::test {
namespace {

template <class D>
class Order : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Order, Types);

template <class D>
std::vector<D> values() {
  using Limits = std::numeric_limits<D>;
  std::vector<D> all = {D{0},
                        D{1},
                        D{-1},
                        Limits::min(),
                        -Limits::min(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        Limits::infinity(),
                        -Limits::infinity()};
  Random random(1);
  for (int i = 0; i < 200; ++i)
    all.push_back(static_cast<D>(std::ldexp(random.gaussian(), static_cast<int>(random.below(200)) - 100)));
  return all;
}

TYPED_TEST(Order, OfTheBitsIsThatOfTheValues) {
  for (const TypeParam a : values<TypeParam>()) {
    EXPECT_EQ(core::from_ordered_bits(core::ordered_bits(a)), a);
    for (const TypeParam b : values<TypeParam>()) {
      EXPECT_EQ(core::ordered_bits(a) < core::ordered_bits(b), a < b) << a << ' ' << b;
    }
  }
}

TYPED_TEST(Order, ZerosAreEqualAndNanIsLast) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_EQ(core::ordered_bits(TypeParam{0}), core::ordered_bits(-TypeParam{0}));
  EXPECT_EQ(core::ordered_bits(nan), core::ordered_bits(-nan));
  for (const TypeParam a : values<TypeParam>()) EXPECT_LT(core::ordered_bits(a), core::ordered_bits(nan));
}

TYPED_TEST(Order, HitsAreOrderedByKeyThenId) {
  using Hit = core::Hit<TypeParam>;
  EXPECT_TRUE((Hit{1, 9} < Hit{2, 1}));
  EXPECT_TRUE((Hit{1, 1} < Hit{1, 2}));
  EXPECT_FALSE((Hit{1, 2} < Hit{1, 2}));
  EXPECT_TRUE((Hit{TypeParam{0}, 1} < Hit{-TypeParam{0}, 2}));
  EXPECT_TRUE(
      (Hit{std::numeric_limits<TypeParam>::infinity(), 5} < Hit{std::numeric_limits<TypeParam>::quiet_NaN(), 1}));
}

}  // namespace
}  // namespace kith::test
