// Which points, metrics and devices the stages of products take, and what is said about the others.
#include "plan/product_stages.hpp"

#include <gtest/gtest.h>

#include "plan/choose.hpp"
#include "support/fails_with.hpp"
#include "support/large_device.hpp"

namespace kith {
namespace {

using enum DistanceStage;

struct Asked {
  DistanceStage stage;
  DType dtype = DType::float32;
  Metric metric = MetricKind::euclidean;
  std::int64_t dims = 64;
  int compute_major = 9;
};

std::string reason(const Asked& asked) {
  const Problem problem{1000, 100, asked.dims, 10, asked.dtype};
  return plan::why_not(asked.stage, problem, asked.metric, {.compute_major = asked.compute_major, .compute_minor = 2});
}

TEST(ProductStages, TakeWhatTheyCanMultiply) {
  for (const Asked& asked :
       {Asked{gemm, DType::float64}, Asked{fp16, DType::uint8}, Asked{fp16, DType::float32, MetricKind::cosine, 64, 8},
        Asked{split_fp16}, Asked{split_fp16, DType::int8, MetricKind::correlation}, Asked{int8, DType::uint8},
        Asked{int8, DType::int8, MetricKind::inner_product}, Asked{int8, DType::uint8, MetricKind::sqeuclidean, 258},
        Asked{register_tiled, DType::float64, MetricKind::manhattan, 64, 7}})
    EXPECT_EQ(reason(asked), "") << to_string(asked.stage);
}

TEST(ProductStages, SayWhyNot) {
  struct Refused {
    Asked asked;
    std::vector<std::string> words;
  };
  for (const Refused& one :
       std::vector<Refused>{{{gemm, DType::float32, MetricKind::manhattan}, {"gemm", "manhattan", "no matrix product"}},
                            {{split_fp16, DType::float32, MetricKind::hamming}, {"split-fp16", "hamming"}},
                            {{int8, DType::uint8, MetricKind::chebyshev}, {"int8", "chebyshev"}},
                            {{fp16, DType::float64}, {"fp16", "float64"}},
                            {{split_fp16, DType::float64}, {"split-fp16", "float64"}},
                            {{split_fp16, DType::float32, MetricKind::euclidean, 64, 8}, {"split-fp16", "9.x", "8.2"}},
                            {{int8, DType::uint8, MetricKind::euclidean, 64, 12}, {"int8", "9.x", "12.2"}},
                            {{int8, DType::float32}, {"int8", "float32", "uint8"}},
                            {{int8, DType::int8, MetricKind::cosine}, {"int8", "cosine"}},
                            {{int8, DType::uint8, MetricKind::euclidean, 259}, {"int8", "258", "259"}}})
    for (const std::string& word : one.words)
      EXPECT_NE(reason(one.asked).find(word), std::string::npos) << reason(one.asked);
}

TEST(ProductStages, NeedKernelsForTheirDevice) {
  for (const DistanceStage stage : {split_fp16, int8}) {
    const Problem problem{1000, 100, 64, 10, DType::uint8};
    const std::string why = plan::why_not(stage, problem, MetricKind::euclidean, {.has_sm_90_kernels = false});
    EXPECT_NE(why.find("9.0, which this build was made without"), std::string::npos) << why;
  }
}

// A CPU sums products of bytes in 32 bits, so that it has more dimensions than a device.
TEST(ProductStages, OfACpu) {
  const auto reason_on_cpu = [](const Asked& asked) {
    return plan::why_not_on_cpu(asked.stage, {1000, 100, asked.dims, 10, asked.dtype}, asked.metric);
  };
  for (const Asked& asked :
       {Asked{gemm, DType::float64}, Asked{direct, DType::float32, MetricKind::manhattan}, Asked{int8, DType::uint8},
        Asked{int8, DType::int8, MetricKind::inner_product}, Asked{int8, DType::uint8, MetricKind::sqeuclidean, 16384}})
    EXPECT_EQ(reason_on_cpu(asked), "") << to_string(asked.stage);
  EXPECT_NE(reason_on_cpu({gemm, DType::float32, MetricKind::manhattan}).find("manhattan"), std::string::npos);
  EXPECT_NE(reason_on_cpu({int8, DType::uint8, MetricKind::hamming}).find("hamming"), std::string::npos);
  EXPECT_NE(reason_on_cpu({int8, DType::int8, MetricKind::cosine}).find("cosine"), std::string::npos);
  EXPECT_NE(reason_on_cpu({int8, DType::float64}).find("float64"), std::string::npos);
  EXPECT_NE(reason_on_cpu({int8, DType::int8, MetricKind::euclidean, 16385}).find("16384"), std::string::npos);
}

TEST(ProductStages, ThePlannerRepeatsIt) {
  core::DeviceFacts facts = test::large_device();
  Options options;
  options.distance = int8;
  EXPECT_TRUE(test::fails_with(ErrorCode::invalid_argument, {"int8", "float32"}, [&] {
    plan::choose({1000, 100, 64, 10, DType::float32}, options, facts);
  }));
  facts.policy.hardware.compute_major = 8;
  options.distance = split_fp16;
  EXPECT_TRUE(test::fails_with(ErrorCode::invalid_argument, {"split-fp16", "8.0"}, [&] {
    plan::choose({1000, 100, 64, 10, DType::float32}, options, facts);
  }));
}

TEST(ProductStages, HaveNames) {
  for (const DistanceStage stage : {split_fp16, int8}) EXPECT_EQ(parse_distance_stage(to_string(stage)), stage);
  EXPECT_EQ(parse_distance_stage("split_fp16"), split_fp16);
}

}  // namespace
}  // namespace kith
