// Predictions count a second pass where searches of the index have shown that fp16 need one, or where so many points
// lie in so few dimensions that rounding blurs them.
#include <gtest/gtest.h>

#include "plan/choose.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

double seconds_of(const Problem& problem, DistanceStage stage, bool second_pass, bool timed = false) {
  plan::IndexFacts index;
  index.many_need_second_pass = second_pass;
  if (timed) index.timed.push_back({Method::two_stage, DistanceStage::exact, 1.0});
  Options options;
  options.distance = stage;
  return plan::choose(problem, options, test::large_device(), index).seconds;
}

TEST(SecondPass, IsCountedForProductsOnceSearchesHaveShownIt) {
  const Problem problem{300000, 1000, 128, 10};
  for (const DistanceStage stage :
       {DistanceStage::fp16, DistanceStage::split_fp16, DistanceStage::gemm, DistanceStage::register_tiled})
    EXPECT_GT(seconds_of(problem, stage, true), 1.9 * seconds_of(problem, stage, false)) << to_string(stage);
  for (const DistanceStage stage : {DistanceStage::direct, DistanceStage::exact})
    EXPECT_DOUBLE_EQ(seconds_of(problem, stage, true), seconds_of(problem, stage, false)) << to_string(stage);
}

TEST(SecondPass, IsNotCountedForOtherStagesOnceSearchesAreTimed) {
  const Problem problem{300000, 1000, 128, 10};
  EXPECT_GT(seconds_of(problem, DistanceStage::fp16, true, true),
            seconds_of(problem, DistanceStage::fp16, false, true));
  EXPECT_DOUBLE_EQ(seconds_of(problem, DistanceStage::gemm, true, true),
                   seconds_of(problem, DistanceStage::gemm, false, true));
}

TEST(SecondPass, IsNotCountedForBytesWhoseProductsAreExact) {
  const Problem problem{300000, 1000, 128, 10, DType::uint8};
  EXPECT_DOUBLE_EQ(seconds_of(problem, DistanceStage::gemm, true), seconds_of(problem, DistanceStage::gemm, false));
}

TEST(SecondPass, IsExpectedOfFp16WhereManyPointsLieInFewDimensions) {
  const Problem dense{1000000, 10000, 3, 10};
  const Problem sparse{3000, 10000, 3, 10};
  const Problem wide{1000000, 10000, 64, 10};
  const auto ratio = [](const Problem& problem) {
    return seconds_of(problem, DistanceStage::fp16, false) / seconds_of(problem, DistanceStage::split_fp16, false);
  };
  EXPECT_GT(ratio(dense), 0.9);
  EXPECT_LT(ratio(wide), 0.9);
  EXPECT_GT(seconds_of(sparse, DistanceStage::fp16, true), 1.5 * seconds_of(sparse, DistanceStage::fp16, false));
}

}  // namespace
}  // namespace kith
