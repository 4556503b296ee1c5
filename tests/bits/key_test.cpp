// Keys of packed bits, and the limits of counts that kernels test: no pair below a limit may be left out.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/bit_key.hpp"
#include "support/fails_with.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

TEST(BitKeys, HammingLimitsAreSharp) {
  Random random(1);
  for (const std::int64_t bits :
       {std::int64_t{1}, std::int64_t{3}, std::int64_t{1024}, std::int64_t{1} << 25, core::kMostBits})
    for (int i = 0; i < 2000; ++i) {
      const std::int64_t count = random.below(bits + 1);
      const float key = core::hamming_key(count, bits);
      for (const float below : {key, std::nextafter(key, 2.0F), std::nextafter(key, -1.0F)}) {
        const std::int64_t limit = core::hamming_limit(below, bits);
        // The limit is the first count that is not below.
        ASSERT_TRUE(limit > bits || core::hamming_key(limit, bits) >= below) << bits;
        ASSERT_TRUE(limit == 0 || core::hamming_key(limit - 1, bits) < below) << bits;
      }
    }
  EXPECT_EQ(core::hamming_limit(std::numeric_limits<float>::infinity(), 64), 65);
  EXPECT_EQ(core::hamming_limit(0, 64), 0);
  EXPECT_EQ(core::hamming_limit(1, 64), 64);
}

// As kernels test it.
bool passes(const core::JaccardLimit& limit, std::int64_t common, std::int64_t in_y) {
  return static_cast<float>(common) >= limit.slope * static_cast<float>(in_y) + limit.floor;
}

TEST(BitKeys, JaccardLimitsLeaveOutNothing) {
  Random random(2);
  for (const std::int64_t most : {std::int64_t{4}, std::int64_t{300}, std::int64_t{1} << 20, core::kMostBits})
    for (int i = 0; i < 20000; ++i) {
      const std::int64_t in_x = random.below(most + 1);
      const std::int64_t in_y = random.below(most + 1);
      const std::int64_t common = random.below(std::min(in_x, in_y) + 1);
      const float key = core::jaccard_key(common, in_x, in_y);
      for (const float below : {std::nextafter(key, 2.0F), key + 0.1F, 1.0F, 2.0F})
        ASSERT_TRUE(key >= below || passes(core::jaccard_limit(below, in_x), common, in_y))
            << common << " of " << in_x << " and " << in_y << " below " << below;
    }
}

// Of rows of a usual size a limit rules out nearly all that are farther away.
TEST(BitKeys, JaccardLimitsRuleOutTheOthers) {
  const core::JaccardLimit limit = core::jaccard_limit(core::jaccard_key(400, 500, 500), 500);
  EXPECT_FALSE(passes(limit, 399, 500));
  EXPECT_FALSE(passes(limit, 390, 480));
  EXPECT_TRUE(passes(limit, 401, 500));
  const core::JaccardLimit nothing = core::jaccard_limit(0, 0);
  EXPECT_FALSE(passes(nothing, 0, 0));
  EXPECT_FALSE(passes(core::jaccard_limit(0, 100), 100, 100));
}

TEST(BitKeys, JaccardOfTwoEmptyRowsIsZero) {
  EXPECT_EQ(core::jaccard_key(0, 0, 0), 0.0F);
  EXPECT_EQ(core::jaccard_key(0, 0, 5), 1.0F);
  EXPECT_EQ(core::jaccard_key(5, 5, 5), 0.0F);
  EXPECT_EQ(core::jaccard_key(1, 2, 2), static_cast<float>(2.0 / 3.0));
}

TEST(BitMetricNames, AreThoseThatPeopleType) {
  EXPECT_EQ(parse_bit_metric("hamming"), BitMetric::hamming);
  EXPECT_EQ(parse_bit_metric("Jaccard"), BitMetric::jaccard);
  EXPECT_EQ(parse_bit_metric("tanimoto"), BitMetric::jaccard);
  EXPECT_STREQ(to_string(BitMetric::jaccard), "jaccard");
  EXPECT_EQ(bit_metric_names(), (std::vector<std::string>{"hamming", "jaccard"}));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"'dice'", "hamming, jaccard, tanimoto"},
                         [] { parse_bit_metric("dice"); }));
}

}  // namespace
}  // namespace kith::test
