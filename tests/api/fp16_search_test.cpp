// Search on devices by products of points rounded to fp16: proven where the data allow it, and exact where they do not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

class Fp16Search : public OnBackend {
 protected:
  static Options fp16(const Metric& metric) {
    Options asked = options(metric);
    asked.distance = DistanceStage::fp16;
    return asked;
  }

  // Searches, and compares with the oracle.
  static SearchReport report_of(const Sample<float>& sample, std::int64_t k, const Options& options) {
    const Neighbors<float> got = search(sample, k, options);
    EXPECT_TRUE(matches_truth(got, truth_of(sample, options.metric), k)) << got.report.plan;
    EXPECT_FALSE(got.report.steps.empty());
    return got.report;
  }

  static std::int64_t queries_after_fp16(const SearchReport& report) {
    return report.steps.size() < 2 ? 0 : report.steps[1].queries;
  }
};

// Mirrors every other point and query, so that products have both signs.
Sample<float> on_both_sides(Sample<float> sample) {
  for (Matrix<float>* points : {&sample.base, &sample.queries})
    for (std::int64_t i = 0; i < points->rows(); i += 2)
      for (std::int64_t c = 0; c < points->cols(); ++c) (*points)(i, c) = -(*points)(i, c);
  return sample;
}

TEST_P(Fp16Search, SpreadPointsAreProven) {
  constexpr Shape kShape{500, 40, 64};
  for (const MetricKind metric : {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::inner_product,
                                  MetricKind::cosine, MetricKind::correlation}) {
    const Sample<float> sample = generate<float>(Kind::gaussian, kShape, metric, 5);
    const SearchReport report = report_of(sample, 5, fp16(metric));
    EXPECT_EQ(to_string(report.steps.front().pass), "fp16");
    EXPECT_EQ(report.steps.front().queries, kShape.queries);
    EXPECT_LE(queries_after_fp16(report), kShape.queries / 4) << to_string(Metric(metric));
  }
}

// The fused search: few points, all of which pass, and so many that a sample gives limits.
TEST_P(Fp16Search, FusedGivesTheSameAnswer) {
  struct Problem {
    MetricKind metric;
    Kind kind;
    Shape shape;
    std::int64_t k;
  };
  for (const Problem& problem : {Problem{MetricKind::euclidean, Kind::gaussian, {2500, 9, 20}, 7},
                                 {MetricKind::sqeuclidean, Kind::duplicates, {300, 5, 70}, 3},
                                 {MetricKind::inner_product, Kind::gaussian, {2100, 5, 9}, 40},
                                 {MetricKind::cosine, Kind::clustered, {2100, 3, 17}, 1}}) {
    const Sample<float> sample = generate<float>(problem.kind, problem.shape, problem.metric, 6);
    Options fused = fp16(problem.metric);
    fused.method = Method::fused;
    const SearchReport report = report_of(sample, problem.k, fused);
    EXPECT_EQ(to_string(report.steps.front().pass), "fused fp16");
    EXPECT_EQ(report.plan.method, Method::fused);
  }
}

// The nearest of each point among the others: a product serves both of its points.
TEST_P(Fp16Search, PointsAmongThemselves) {
  for (const MetricKind metric : {MetricKind::euclidean, MetricKind::cosine}) {
    Sample<float> sample = generate<float>(Kind::gaussian, {2300, 1, 70}, metric, 6);
    sample.queries = sample.base;
    Options fused = fp16(metric);
    fused.method = Method::fused;
    const Neighbors<float> got = Index<float>(sample.base.view(), fused).search_self(7);
    EXPECT_TRUE(matches_truth(got, truth_of(sample, metric), 7, {}, true)) << got.report.plan;
    EXPECT_EQ(to_string(got.report.steps.front().pass), "fused fp16");
    EXPECT_EQ(got.report.steps.front().queries, 2300);
    EXPECT_LE(queries_after_fp16(got.report), 230);
  }
}

// Subtracting the base's mean removes a common offset.
TEST_P(Fp16Search, CenteringRemovesOffsets) {
  constexpr Shape kShape{400, 20, 16};
  const Sample<float> sample = generate<float>(Kind::large_offset, kShape, MetricKind::sqeuclidean, 5);
  EXPECT_LE(queries_after_fp16(report_of(sample, 5, fp16(MetricKind::sqeuclidean))), kShape.queries / 4);
}

TEST_P(Fp16Search, PointsTooCloseTogetherFallBack) {
  constexpr Shape kShape{400, 20, 16};
  const Metric metric(MetricKind::sqeuclidean);
  const std::vector<Sample<float>> samples = {
      generate<float>(Kind::clustered, kShape, metric, 5),
      on_both_sides(generate<float>(Kind::large_offset, kShape, metric, 5)),
  };
  for (const Sample<float>& sample : samples) {
    const SearchReport report = report_of(sample, 8, fp16(metric));
    ASSERT_GE(report.steps.size(), 2U);
    EXPECT_EQ(to_string(report.steps[0].pass), "fp16");
    EXPECT_EQ(report.steps[0].queries, kShape.queries);
    // Differences, or keys of so few points at once: whichever the planner takes for less.
    const std::string next = to_string(report.steps[1].pass);
    EXPECT_TRUE(next == "register-tiled" || next == "exact") << next;
    EXPECT_GT(report.steps[1].queries, kShape.queries / 2);
  }
}

// In a streamed base the first tile gives the frame for all: later points may lie far beyond the range of fp16.
TEST_P(Fp16Search, FramesComeFromTheFirstTile) {
  constexpr Shape kShape{300, 260, 64};
  for (const MetricKind metric : {MetricKind::euclidean, MetricKind::cosine}) {
    Sample<float> sample = generate<float>(Kind::gaussian, kShape, metric, 3);
    Options options = fp16(metric);
    options.memory_budget = 240 << 10;
    const SearchReport report = report_of(sample, 10, options);
    EXPECT_LT(report.plan.base_tile, kShape.base_rows) << "the budget was not small enough";
    EXPECT_EQ(report.steps.front().queries, kShape.queries);
    for (std::int64_t c = 0; c < kShape.dims; ++c) sample.base(kShape.base_rows - 1, c) *= 1e7F;
    report_of(sample, 10, options);
  }
}

TEST_P(Fp16Search, AnIndexKeepsItsFp16) {
  const Metric metric(MetricKind::euclidean);
  const Sample<float> sample = generate<float>(Kind::gaussian, {300, 10, 20}, metric, 8);
  const Truth<float> truth = truth_of(sample, metric);
  const Index<float> index(sample.base.view(), fp16(metric));
  for (const std::int64_t k : {1, 7, 300})
    EXPECT_TRUE(matches_truth(index.search(sample.queries.view(), k), truth, k)) << k;
}

// Searches whose plan is not forced remember which passes fail.
TEST_P(Fp16Search, AnIndexLearnsWhatFails) {
  const Metric metric(MetricKind::sqeuclidean);
  // Two clusters far apart, of more points than a bounded pass has room for: none is told from another.
  Sample<float> sample = generate<float>(Kind::gaussian, {5000, 40, 16}, metric, 5);
  const auto part = [](Matrix<float>& points) {
    for (std::int64_t i = 0; i < points.rows(); ++i)
      for (std::int64_t c = 0; c < points.cols(); ++c)
        points(i, c) = 0.01F * points(i, c) + (i % 2 == 0 ? 500.0F : -500.0F);
  };
  part(sample.base);
  part(sample.queries);
  const Truth<float> truth = truth_of(sample, metric);
  Options options = fp16(metric);
  options.distance = DistanceStage::automatic;
  options.method = Method::fused;
  const Index<float> index(sample.base.view(), options);
  const Neighbors<float> first = index.search(sample.queries.view(), 8);
  ASSERT_EQ(first.report.plan.distance, DistanceStage::fp16) << first.report.plan;
  EXPECT_TRUE(matches_truth(first, truth, 8));
  EXPECT_EQ(to_string(first.report.steps.front().pass), "fused fp16");
  const Neighbors<float> second = index.search(sample.queries.view(), 8);
  EXPECT_TRUE(matches_truth(second, truth, 8));
  EXPECT_NE(to_string(second.report.steps.front().pass), "fused fp16");
  EXPECT_EQ(second.report.steps.front().queries, sample.queries.rows());
}

// Clusters whose points fp16 cannot tell apart, but tells from all others: what a first pass finds bounds a second.
TEST_P(Fp16Search, ASecondPassIsBoundedByTheFirst) {
  if (!has_wgmma()) GTEST_SKIP() << "devices of compute capability 9 alone have it";
  const Metric metric(MetricKind::sqeuclidean);
  const Sample<float> sample = generate<float>(Kind::clustered, {5000, 40, 16}, metric, 5);
  const Truth<float> truth = truth_of(sample, metric);
  Options fused = fp16(metric);
  fused.method = Method::fused;
  const Neighbors<float> found = search(sample.base.view(), sample.queries.view(), 8, fused);
  EXPECT_TRUE(matches_truth(found, truth, 8));
  ASSERT_GE(found.report.steps.size(), 2U);
  EXPECT_EQ(to_string(found.report.steps[1].pass), "fused fp16, bounded");
}

// Bytes are multiplied as bytes, with ties by the smaller id.
TEST_P(Fp16Search, BytesAreMultipliedAsBytes) {
  if (!has_wgmma()) GTEST_SKIP() << "devices of compute capability 9 alone have it";
  for (const MetricKind kind : {MetricKind::sqeuclidean, MetricKind::inner_product}) {
    const Metric metric(kind);
    const Sample<std::uint8_t> sample = generate<std::uint8_t>(Kind::gaussian, {5000, 70, 20}, metric, 6);
    Options options = fp16(metric);
    options.distance = DistanceStage::int8;
    options.method = Method::fused;
    const Neighbors<float> found = search(sample.base.view(), sample.queries.view(), 9, options);
    EXPECT_TRUE(matches_truth(found, truth_of(sample, metric), 9));
    EXPECT_EQ(to_string(found.report.steps.front().pass), "fused int8");
  }
}

// One reading of the base serves up to eight queries: in one tile or in several, with copies that leave no proof.
TEST_P(Fp16Search, FewQueriesAreFoundByAScan) {
  for (const MetricKind kind : {MetricKind::euclidean, MetricKind::inner_product, MetricKind::correlation})
    for (const std::int64_t queries : {1, 3, 8}) {
      const Metric metric(kind);
      const Sample<float> sample = generate<float>(queries == 3 ? Kind::duplicates : Kind::gaussian,
                                                   {5000, queries, 16 * queries + 3}, metric, 7);
      const std::int64_t k = queries == 1 ? 10 : queries == 3 ? 1 : 100;
      Options asked = fp16(metric);
      if (queries == 3) asked.memory_budget = 600 << 10;
      const SearchReport report = report_of(sample, k, asked);
      EXPECT_EQ(to_string(report.steps.front().pass), "fused fp16");
      EXPECT_EQ(report.plan.base_tile < 5000, queries == 3);
      report_of(sample, k, options(metric));
    }
}

TEST_P(Fp16Search, AScanOfBytesHasNoError) {
  if (!has_wgmma()) GTEST_SKIP() << "devices of compute capability 9 alone have it";
  const Metric metric(MetricKind::euclidean);
  const Sample<std::uint8_t> sample = generate<std::uint8_t>(Kind::gaussian, {6000, 2, 40}, metric, 6);
  Options asked = fp16(metric);
  asked.distance = DistanceStage::int8;
  asked.method = Method::fused;
  const Neighbors<float> found = search(sample.base.view(), sample.queries.view(), 9, asked);
  EXPECT_TRUE(matches_truth(found, truth_of(sample, metric), 9));
  EXPECT_EQ(to_string(found.report.steps.front().pass), "fused int8");
}

// Whoever asks for a stage by name gets it, and the right answer, whatever the data: gaussian, with ties, with copies.
template <Element T>
void expect_stage(DistanceStage stage, const Metric& metric, Options options,
                  const std::vector<Method>& methods = {Method::automatic, Method::two_stage, Method::fused}) {
  for (const Kind kind : {Kind::gaussian, Kind::ties, Kind::duplicates}) {
    const Sample<T> sample = generate<T>(kind, {700, 20, 36}, metric, 9);
    options.distance = stage;
    for (const Method method : methods) {
      options.method = method;
      SCOPED_TRACE(testing::Message() << to_string(stage) << ", " << to_string(metric) << ", "
                                      << to_string(dtype_of<T>()) << ", " << to_string(kind) << ", "
                                      << to_string(method));
      const Neighbors<float> found = search(sample.base.view(), sample.queries.view(), 6, options);
      EXPECT_EQ(found.report.plan.distance, stage);
      EXPECT_TRUE(matches_truth(found, truth_of(sample, metric), 6));
    }
  }
}

TEST_P(Fp16Search, SplitFp16IsTakenByName) {
  if (!has_wgmma()) GTEST_SKIP() << "devices of compute capability 9 alone have it";
  for (const MetricKind kind : {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::inner_product,
                                MetricKind::cosine, MetricKind::correlation})
    expect_stage<float>(DistanceStage::split_fp16, kind, options(kind));
  for (const MetricKind kind : {MetricKind::euclidean, MetricKind::cosine}) {
    expect_stage<std::uint8_t>(DistanceStage::split_fp16, kind, options(kind));
    expect_stage<std::int8_t>(DistanceStage::split_fp16, kind, options(kind));
  }
}

TEST_P(Fp16Search, Int8IsTakenByName) {
  if (!has_wgmma()) GTEST_SKIP() << "devices of compute capability 9 alone have it";
  for (const MetricKind kind : {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::inner_product}) {
    const std::vector<Method> methods = {Method::automatic, Method::brute, Method::fused};
    expect_stage<std::uint8_t>(DistanceStage::int8, kind, options(kind), methods);
    expect_stage<std::int8_t>(DistanceStage::int8, kind, options(kind), methods);
  }
  Options stored = options(MetricKind::euclidean);
  stored.distance = DistanceStage::int8;
  stored.method = Method::two_stage;
  const Matrix<std::uint8_t> points(3, 1, {1, 2, 3});
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"int8", "two-stage", "fused"},
                         [&] { search(points.view(), points.view(), 1, stored); }));
}

TEST_P(Fp16Search, RemaindersTellMoreApart) {
  if (!has_wgmma()) GTEST_SKIP() << "devices of compute capability 9 alone have it";
  const Metric metric(MetricKind::sqeuclidean);
  const Sample<float> sample = generate<float>(Kind::gaussian, {5000, 70, 20}, metric, 6);
  Options options = fp16(metric);
  options.distance = DistanceStage::split_fp16;
  options.method = Method::fused;
  const Neighbors<float> found = search(sample.base.view(), sample.queries.view(), 9, options);
  EXPECT_TRUE(matches_truth(found, truth_of(sample, metric), 9));
  EXPECT_EQ(to_string(found.report.steps.front().pass), "fused split-fp16");
}

TEST_P(Fp16Search, ThePlannerTakesItWhereItPays) {
  const auto taken = [](const Problem& problem) { return explain(problem, options()).distance == DistanceStage::fp16; };
  EXPECT_TRUE(taken({1000000, 10000, 128, 10, DType::float32}));
  EXPECT_FALSE(taken({1000000, 10000, 128, 10, DType::float64}));
  EXPECT_EQ(taken({1000000, 10000, 128, 10, DType::uint8}), !has_wgmma()) << "wgmma's sums of bytes are exact";
  EXPECT_TRUE(taken({1000000, 10000, 960, 10, DType::uint8}));
  EXPECT_TRUE(taken({1000000, 10, 128, 10, DType::float32}));
  EXPECT_EQ(taken({1000000, 10000, 8, 10, DType::float32}), has_wgmma()) << "others are faster without products";
  EXPECT_FALSE(taken({1000000, 10000, 3, 10, DType::float32}));
}

TEST_P(Fp16Search, RefusesStagesThatTheDeviceDoesNotHave) {
  if (has_wgmma()) GTEST_SKIP() << "compute capability 9 has all stages";
  const Matrix<std::uint8_t> points(3, 1, {1, 2, 3});
  for (const DistanceStage stage : {DistanceStage::split_fp16, DistanceStage::int8}) {
    Options asked = options(MetricKind::euclidean);
    asked.distance = stage;
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {to_string(stage), "needs a device of compute capability 9.x"},
                           [&] { search(points.view(), points.view(), 1, asked); }));
  }
}

TEST_P(Fp16Search, RefusesWhatItCannotMultiply) {
  const Matrix<float> points(3, 1, {1, 2, 3});
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"fp16", "manhattan"},
                         [&] { search(points.view(), points.view(), 1, fp16(MetricKind::manhattan)); }));
  const Matrix<double> doubles(3, 1, {1, 2, 3});
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"fp16", "float64"},
                         [&] { search(doubles.view(), doubles.view(), 1, fp16(MetricKind::euclidean)); }));
}

INSTANTIATE_TEST_SUITE_P(Backends, Fp16Search, testing::ValuesIn(device_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Fp16Search);

}  // namespace
}  // namespace kith::test
