// Several devices answer as one does, bit for bit, however the base is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <thread>
#include <vector>

#include "three_devices.hpp"

namespace kith::test {
namespace {

// Before the first call asks for it.
[[maybe_unused]] const int three_devices = setenv("KITH_EMULATOR_DEVICES", "3", 1);

// Powers of the CPU and of a device may differ in the last bit.
bool has_powers(const Metric& metric) {
  return metric.kind == MetricKind::minkowski && metric.p != 1 && metric.p != 2 && !std::isinf(metric.p);
}

template <Element T>
void expect_same(const Matrix<T>& base, const Matrix<T>& queries, std::int64_t k, const Options& one,
                 const std::vector<int>& devices) {
  const auto want = search(base.view(), queries.view(), k, one);
  const auto got = search(base.view(), queries.view(), k, with_devices(one, devices));
  EXPECT_TRUE(same_answer(got, want));
  if (has_powers(one.metric) || one.epsilon > 0) return;
  Options cpu = options_for(one.metric);
  cpu.max_distance = one.max_distance;
  cpu.period = one.period;
  EXPECT_TRUE(same_answer(got, search(base.view(), queries.view(), k, cpu)));
}

// Queries, some of which are base points, of metrics of all forms; ties and copies on both sides of a cut; more
// neighbors than a stripe has points.
TEST(SeveralDevices, FindWhatOneFinds) {
  for (const Metric& metric : all_metrics())
    for (const Kind kind : {Kind::ties, Kind::duplicates, Kind::gaussian}) {
      SCOPED_TRACE(to_string(metric) + ", " + to_string(kind));
      const auto sample = generate<float>(kind, {50, 5, 4}, metric, 1);
      expect_same(sample.base, sample.queries, kind == Kind::gaussian ? 50 : 7, emulated(metric), {0, 1, 2});
    }
}

template <Element T>
Matrix<T> narrowed(const Matrix<float>& points) {
  Matrix<T> narrow(points.rows(), points.cols());
  std::transform(points.data(), points.data() + points.rows() * points.cols(), narrow.data(),
                 [](float value) { return static_cast<T>(value); });
  return narrow;
}

TEST(SeveralDevices, TakePointsOfAnyType) {
  for (const Metric metric : {MetricKind::euclidean, MetricKind::cosine}) {
    const auto bytes = generate<std::uint8_t>(Kind::duplicates, {60, 5, 6}, metric, 2);
    expect_same(bytes.base, bytes.queries, 9, emulated(metric), {0, 1, 2});
    const auto signed_bytes = generate<std::int8_t>(Kind::gaussian, {60, 5, 6}, metric, 2);
    expect_same(signed_bytes.base, signed_bytes.queries, 9, emulated(metric), {2, 0});
    const auto wide = generate<double>(Kind::ties, {60, 5, 6}, metric, 3);
    expect_same(wide.base, wide.queries, 9, emulated(metric), {0, 1, 2});
    const auto points = generate<float>(Kind::gaussian, {60, 5, 6}, metric, 4);
    expect_same(narrowed<Float16>(points.base), narrowed<Float16>(points.queries), 9, emulated(metric), {0, 1, 2});
    expect_same(narrowed<BFloat16>(points.base), narrowed<BFloat16>(points.queries), 9, emulated(metric), {1, 2});
  }
}

TEST(SeveralDevices, SearchByAnyMethod) {
  const auto sample = generate<float>(Kind::duplicates, {90, 7, 3}, MetricKind::euclidean, 5);
  for (const Method method : {Method::brute, Method::two_stage, Method::fused, Method::tree, Method::triangle}) {
    SCOPED_TRACE(to_string(method));
    Options options = emulated();
    options.method = method;
    expect_same(sample.base, sample.queries, 11, options, {0, 1, 2});
  }
  for (const DistanceStage stage : {DistanceStage::gemm, DistanceStage::fp16, DistanceStage::exact}) {
    SCOPED_TRACE(to_string(stage));
    Options options = emulated();
    options.distance = stage;
    expect_same(sample.base, sample.queries, 11, options, {0, 1, 2});
  }
}

// One device several times, one alone, more devices than points, devices in any order.
TEST(SeveralDevices, MayBeNamedInAnyWay) {
  const auto sample = generate<float>(Kind::ties, {13, 6, 3}, MetricKind::manhattan, 6);
  const Options one = emulated(MetricKind::manhattan);
  for (const std::vector<int>& devices : std::vector<std::vector<int>>{
           {0}, {2}, {1, 1}, {0, 0, 0}, {2, 1, 0}, {0, 0, 1}, {kAllDevices}, std::vector<int>(17, 1)}) {
    SCOPED_TRACE(format_devices(devices));
    expect_same(sample.base, sample.queries, 13, one, devices);
  }
  const Matrix<float> single(1, 3, {1, 2, 3});
  expect_same(single, sample.queries, 1, one, {0, 1, 2});
}

TEST(SeveralDevices, KeepLimits) {
  const auto sample = generate<float>(Kind::gaussian, {70, 6, 2}, MetricKind::euclidean, 7);
  Options options = emulated();
  options.max_distance = 2;
  expect_same(sample.base, sample.queries, 20, options, {0, 1, 2});
  options.method = Method::tree;
  expect_same(sample.base, sample.queries, 20, options, {0, 1, 2});
  options = emulated();
  options.period = {2.5, 0};
  expect_same(sample.base, sample.queries, 20, options, {0, 1, 2});
  const Index<float> one(sample.base.view(), emulated());
  const Index<float> several(sample.base.view(), emulated({}, {0, 1, 2}));
  Neighbors<float> want = one.search(sample.queries.view(), 5);
  Neighbors<float> got = want;
  const SearchLimits limits{.max_distance = want.distances_of(0)[2]};
  one.search_into(sample.queries.view(), 5, {want.ids.data(), want.distances.data()}, limits);
  several.search_into(sample.queries.view(), 5, {got.ids.data(), got.distances.data()}, limits);
  EXPECT_TRUE(same_answer(got, want));
  EXPECT_GT(std::count(want.ids.begin(), want.ids.end(), -1), 0);
}

// Of each device, distances up to 1 + epsilon times the true ones: so of all.
TEST(SeveralDevices, KeepEpsilon) {
  const auto sample = generate<float>(Kind::gaussian, {120, 8, 2}, MetricKind::euclidean, 8);
  Options options = emulated({}, {0, 1, 2});
  options.method = Method::tree;
  options.epsilon = 0.5;
  options.statistics = true;
  const auto got = search(sample.base.view(), sample.queries.view(), 6, options);
  const auto truth = search(sample.base.view(), sample.queries.view(), 6, options_for(MetricKind::euclidean));
  for (std::size_t i = 0; i < got.distances.size(); ++i) EXPECT_LE(got.distances[i], 1.5F * truth.distances[i]);
  ASSERT_TRUE(got.report.quality.has_value());
  EXPECT_LE(got.report.quality->ratios.max, 1.5);
}

TEST(SeveralDevices, PadWhatIsMissing) {
  const auto sample = generate<float>(Kind::gaussian, {5, 3, 4}, MetricKind::inner_product, 9);
  Options options = emulated(MetricKind::inner_product);
  options.pad_missing = true;
  const auto want = search(sample.base.view(), sample.queries.view(), 8, options);
  EXPECT_TRUE(same_answer(search(sample.base.view(), sample.queries.view(), 8, with_devices(options)), want));
  EXPECT_EQ(want.ids_of(0)[7], -1);
}

// Lists of many neighbors leave room for few queries at a time in so small a budget.
TEST(SeveralDevices, SearchBlockAfterBlock) {
  const auto sample = generate<float>(Kind::duplicates, {180, 61, 4}, MetricKind::euclidean, 10);
  Options options = emulated();
  options.memory_budget = 96 << 10;
  expect_same(sample.base, sample.queries, 90, options, {0, 1, 2});
  const Index<float> one(sample.base.view(), emulated());
  const Index<float> several(sample.base.view(), with_devices(options));
  EXPECT_TRUE(same_answer(several.search_self(90), one.search_self(90)));
}

// Points that a device has no room for pass through it, those of its stripe alone.
TEST(SeveralDevices, StreamTheirStripes) {
  const auto sample = generate<float>(Kind::ties, {3000, 9, 16}, MetricKind::euclidean, 11);
  Options options = emulated();
  options.memory_budget = 80 << 10;
  const Index<float> several(sample.base.view(), with_devices(options));
  const auto got = several.search(sample.queries.view(), 10);
  EXPECT_FALSE(got.report.plan.base_fits);
  EXPECT_TRUE(same_answer(got, search(sample.base.view(), sample.queries.view(), 10, options_for({}))));
  const std::vector<float> radii = {3};
  const auto within = several.search_radius(sample.queries.view(), radii);
  const auto want =
      search_radius<float>(sample.base.view(), sample.queries.view(), radii, RadiusOutput::neighbors, options_for({}));
  EXPECT_EQ(within.offsets, want.offsets);
  EXPECT_EQ(within.ids, want.ids);
  EXPECT_TRUE(same_bits(within.distances, want.distances));
}

TEST(SeveralDevices, LeavePointsOutOfTheirOwnNeighbors) {
  for (const Metric metric : {MetricKind::euclidean, MetricKind::inner_product, MetricKind::hamming})
    for (const Kind kind : {Kind::all_equal, Kind::ties, Kind::duplicates}) {
      SCOPED_TRACE(to_string(metric) + ", " + to_string(kind));
      const auto sample = generate<float>(kind, {31, 1, 3}, metric, 12);
      const Index<float> one(sample.base.view(), emulated(metric));
      const Index<float> several(sample.base.view(), emulated(metric, {0, 1, 2}));
      for (const std::int64_t k : {12, 30}) EXPECT_TRUE(same_answer(several.search_self(k), one.search_self(k))) << k;
    }
}

void expect_same_within(const RadiusNeighbors<float>& got, const RadiusNeighbors<float>& want) {
  EXPECT_EQ(got.offsets, want.offsets);
  EXPECT_EQ(got.ids, want.ids);
  EXPECT_TRUE(same_bits(got.distances, want.distances));
}

TEST(SeveralDevices, FindAllWithinARadius) {
  for (const Metric metric :
       {MetricKind::euclidean, MetricKind::cosine, MetricKind::inner_product, MetricKind::chebyshev}) {
    SCOPED_TRACE(to_string(metric));
    const auto sample = generate<float>(Kind::ties, {41, 6, 3}, metric, 13);
    const Index<float> one(sample.base.view(), emulated(metric));
    const Index<float> several(sample.base.view(), emulated(metric, {2, 0, 1}));
    std::vector<float> radii(41);
    for (std::size_t i = 0; i < radii.size(); ++i) radii[i] = 0.25F * static_cast<float>(i % 12);
    const std::span<const float> of_queries(radii.data(), 6);
    for (const RadiusOutput output : {RadiusOutput::neighbors, RadiusOutput::count_only}) {
      expect_same_within(several.search_radius(sample.queries.view(), of_queries, output),
                         one.search_radius(sample.queries.view(), of_queries, output));
      expect_same_within(several.search_radius_self(radii, output), one.search_radius_self(radii, output));
      expect_same_within(several.search_radius_self(std::span(radii).first(1), output),
                         one.search_radius_self(std::span(radii).first(1), output));
    }
  }
}

TEST(SeveralDevices, MakeTheSameGraph) {
  const auto sample = generate<float>(Kind::duplicates, {37, 1, 3}, MetricKind::euclidean, 14);
  for (const double farthest : {std::numeric_limits<double>::infinity(), 0.5}) {
    Options options = emulated();
    options.max_distance = farthest;
    for (const Symmetrize how : {Symmetrize::none, Symmetrize::either, Symmetrize::mutual}) {
      const auto want = graph(sample.base.view(), 14, how, options);
      const auto got = graph(sample.base.view(), 14, how, with_devices(options));
      EXPECT_EQ(got.indptr, want.indptr);
      EXPECT_EQ(got.indices, want.indices);
      EXPECT_TRUE(same_bits(got.data, want.data));
    }
  }
}

TEST(SeveralDevices, ReduceToTheSameBits) {
  const auto sample = generate<float>(Kind::gaussian, {44, 6, 3}, MetricKind::euclidean, 15);
  const auto values = generate<float>(Kind::gaussian, {44, 1, 5}, MetricKind::euclidean, 16).base;
  for (const std::string& name : reduce_op_names()) {
    SCOPED_TRACE(name);
    const ReduceOp op = parse_reduce_op(name);
    Options options = emulated();
    const auto want = reduce(sample.base.view(), sample.queries.view(), 20, values.view(), op, options);
    for (const std::int64_t budget : {0, 64 << 10}) {
      options.memory_budget = budget;
      const auto got = reduce(sample.base.view(), sample.queries.view(), 20, values.view(), op, with_devices(options));
      ASSERT_EQ(got.values.cols(), want.values.cols());
      EXPECT_EQ(std::memcmp(got.values.data(), want.values.data(),
                            static_cast<std::size_t>(want.values.rows() * want.values.cols()) * sizeof(float)),
                0);
      EXPECT_EQ(got.report.plan.problem.queries, 6);
    }
  }
}

TEST(SeveralDevices, SayWhatEachDoes) {
  const auto sample = generate<float>(Kind::gaussian, {100, 4, 3}, MetricKind::euclidean, 17);
  const Index<float> index(sample.base.view(), emulated({}, {1, 1, 2}));
  const auto found = index.search(sample.queries.view(), 4);
  for (const Plan& plan :
       {index.explain(4, 4), found.report.plan, explain({100, 4, 3, 4, DType::float32}, emulated({}, {1, 1, 2}))}) {
    ASSERT_EQ(plan.stripes.size(), 3U);
    EXPECT_EQ(plan.problem.base_rows, 100);
    const std::vector<int> devices = {plan.stripes[0].device, plan.stripes[1].device, plan.stripes[2].device};
    EXPECT_EQ(devices, std::vector<int>({1, 1, 2}));
    EXPECT_EQ(plan.stripes[0].rows, 25);
    EXPECT_EQ(plan.stripes[1].first_row, 25);
    EXPECT_EQ(plan.stripes[2].rows, 50);
    double slowest = 0;
    for (const Plan::Stripe& stripe : plan.stripes) slowest = std::max(slowest, stripe.seconds);
    EXPECT_EQ(plan.seconds, slowest);
    EXPECT_NE(to_string(plan).find("1: 25 points"), std::string::npos) << to_string(plan);
  }
}

// The device of the caller's thread stays what it is, and calls of several threads take turns.
TEST(SeveralDevices, ServeSeveralThreads) {
  const auto sample = generate<float>(Kind::ties, {60, 6, 3}, MetricKind::euclidean, 18);
  const Index<float> one(sample.base.view(), emulated());
  const Index<float> several(sample.base.view(), emulated({}, {0, 1, 2}));
  const auto want = one.search(sample.queries.view(), 9);
  expect_at_once(3, [&](std::size_t) { return same_answer(several.search(sample.queries.view(), 9), want); });
  EXPECT_TRUE(same_answer(one.search(sample.queries.view(), 9), want));
}

}  // namespace
}  // namespace kith::test
