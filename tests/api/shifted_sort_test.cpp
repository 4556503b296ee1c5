// Method shifted-sort (Li et al.): every neighbor is a point at its true distance, lists are sorted and without
// duplicates, all backends give the same answer, recall is high and grows with shifts; impossible options are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

enum class Scene { uniform, surface, clusters, queries_elsewhere };

// Points in three dimensions: uniform, on a bumpy sphere, or in tight clusters.
Matrix<float> scene(Scene kind, std::int64_t rows, unsigned seed, std::int64_t dims = 3) {
  Matrix<float> points(rows, dims);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit;
  std::normal_distribution<float> normal;
  for (std::int64_t r = 0; r < rows; ++r) {
    float square_norm = 0;
    for (std::int64_t c = 0; c < dims; ++c) {
      points(r, c) = kind == Scene::uniform ? unit(random) : normal(random);
      square_norm += points(r, c) * points(r, c);
    }
    const float bump = 1 + 0.2F * std::sin(5 * points(r, 0));
    for (std::int64_t c = 0; c < dims; ++c) {
      if (kind == Scene::surface) points(r, c) *= bump / std::sqrt(square_norm);
      if (kind == Scene::clusters) points(r, c) = static_cast<float>((r % 25 * (c + 3)) % 7) + 0.02F * points(r, c);
      if (kind == Scene::queries_elsewhere) points(r, c) = 3 * points(r, c);
    }
  }
  return points;
}

class ShiftedSort : public OnBackend {
 protected:
  static Options options(int shifts = 5) {
    Options asked = OnBackend::options();
    asked.method = Method::shifted_sort;
    asked.shifted_sort.shifts = shifts;
    return asked;
  }
  // The emulator is slow: fewer points.
  static std::int64_t rows() { return GetParam() == Backend::emulated ? 600 : 3000; }
  static std::int64_t queries() { return GetParam() == Backend::emulated ? 40 : 300; }
};

// Checks ids, distances, order and duplicates.
template <Element T>
void expect_answer(const Neighbors<DistanceOf<T>>& found, const Truth<DistanceOf<T>>& truth, std::int64_t base_rows) {
  EXPECT_TRUE(found.report.plan.approximate);
  for (std::int64_t q = 0; q < found.queries; ++q) {
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < found.k; ++i) {
      const std::int64_t id = found.ids_of(q)[static_cast<std::size_t>(i)];
      ASSERT_TRUE(id >= 0 && id < base_rows);
      ASSERT_TRUE(seen.insert(id).second) << "id " << id << " comes twice";
      ASSERT_EQ(found.distances_of(q)[static_cast<std::size_t>(i)], truth.distance(q, id));
      if (i == 0) continue;
      ASSERT_TRUE(truth.before(q, found.ids_of(q)[static_cast<std::size_t>(i - 1)], id));
    }
  }
}

template <class D>
std::vector<double> ratios_of(const Neighbors<D>& found, const Truth<D>& truth) {
  std::vector<double> ratios;
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const D last = truth.distance(q, truth.nearest(q, found.k).back());
    ratios.push_back(static_cast<double>(found.distances_of(q).back()) / static_cast<double>(last));
  }
  return ratios;
}

TEST_P(ShiftedSort, AnswersAreRealAndGood) {
  struct Bounds {
    Scene base;
    Scene queries;
    double mean;
    double max;
  };
  for (const Bounds& each : {Bounds{Scene::uniform, Scene::uniform, 1.02, 1.4},
                             {Scene::surface, Scene::surface, 1.03, 1.6},
                             {Scene::clusters, Scene::surface, 1.25, 2.75},
                             {Scene::surface, Scene::clusters, 1.25, 2.75},
                             {Scene::uniform, Scene::queries_elsewhere, 1.25, 2.75}}) {
    SCOPED_TRACE(testing::Message() << static_cast<int>(each.base) << " " << static_cast<int>(each.queries));
    const auto base = scene(each.base, rows(), 1);
    const auto points = scene(each.queries, queries(), 2);
    const auto truth = truth_of(base, points, MetricKind::euclidean);
    const auto found = search(base.view(), points.view(), 20, options());
    expect_answer<float>(found, truth, base.rows());
    const DistanceRatios ratios = summarize_ratios(ratios_of(found, truth));
    EXPECT_LE(ratios.mean, each.mean);
    EXPECT_LE(ratios.max, each.max);
  }
}

TEST_P(ShiftedSort, MoreShiftsNeverMakeItWorse) {
  const auto base = scene(Scene::surface, rows(), 3);
  const auto points = scene(Scene::uniform, queries(), 4);
  std::vector<float> before;
  // Up to six shifts have the same scale, so that each has the orders of the previous one.
  for (const int shifts : {1, 2, 3, 5, 6}) {
    const auto found = search(base.view(), points.view(), 8, options(shifts));
    std::vector<float> last;
    for (std::int64_t q = 0; q < found.queries; ++q) last.push_back(found.distances_of(q).back());
    // Candidates are ranked in single precision.
    for (std::size_t q = 0; q < before.size(); ++q) EXPECT_LE(last[q], before[q] * 1.000001F) << "query " << q;
    before = last;
  }
}

TEST_P(ShiftedSort, BackendsAgree) {
  if (is_cpu()) GTEST_SKIP() << "others are compared with it";
  for (const std::int64_t dims : {1, 2, 3, 5, 16}) {
    SCOPED_TRACE(testing::Message() << dims << " dimensions");
    const auto base = scene(Scene::clusters, 300, 5, dims);
    const auto points = scene(Scene::clusters, 20, 6, dims);
    for (const Curve curve : {Curve::morton, Curve::hilbert}) {
      Options here = options();
      here.shifted_sort.curve = curve;
      Options there = here;
      there.backend = Backend::cpu;
      EXPECT_TRUE(
          same_answer(search(base.view(), points.view(), 7, here), search(base.view(), points.view(), 7, there)));
    }
  }
}

// More threads than blocks of points leave some threads without points.
TEST_P(ShiftedSort, ThreadsDoNotChangeTheAnswer) {
  const Matrix<float> base = scene(Scene::uniform, 70, 1);
  const Matrix<float> asked = scene(Scene::uniform, 9, 2);
  Options one = options();
  one.threads = 1;
  Options many = options();
  many.threads = 16;
  EXPECT_EQ(search(base.view(), asked.view(), 7, many).ids, search(base.view(), asked.view(), 7, one).ids);
}

TEST_P(ShiftedSort, SortedTogetherIsTheSameAnswer) {
  if (is_cpu()) GTEST_SKIP() << "a CPU finds places by search";
  const auto base = scene(Scene::clusters, 300, 15);
  const auto points = scene(Scene::surface, 30, 16);
  Options joint = options();
  joint.shifted_sort.positions = CurvePositions::sort;
  const auto right = search(base.view(), points.view(), 7, options());
  EXPECT_EQ(right.report.plan.shifted_sort.positions, CurvePositions::search);
  const auto found = search(base.view(), points.view(), 7, joint);
  EXPECT_TRUE(same_answer(found, right));
  EXPECT_NE(to_string(found.report.plan).find("sorted together"), std::string::npos);
  const Index<float> index(base.view(), joint);
  for (int round = 0; round < 2; ++round) EXPECT_EQ(index.search(points.view(), 7).ids, right.ids);
  EXPECT_EQ(index.search_self(3).ids, Index<float>(base.view(), options()).search_self(3).ids);
}

TEST_P(ShiftedSort, SortedTogetherUnderTheBudget) {
  if (is_cpu()) GTEST_SKIP() << "a CPU finds places by search";
  Options joint = options();
  joint.shifted_sort.positions = CurvePositions::sort;
  const Problem problem{1000000, 1000000, 3, 10, DType::float32};
  joint.memory_budget = std::int64_t{200} << 20;
  const Plan plan = explain(problem, joint);
  EXPECT_LT(plan.query_block, problem.queries);
  EXPECT_LE(plan.workspace_bytes, joint.memory_budget);
  // Memory for points in five orders, and codes and ids of all twice.
  EXPECT_GE(plan.workspace_bytes, problem.base_rows * (5 * 16 + 28) + plan.query_block * (28 + 24 + 16 + 20));
  joint.memory_budget = std::int64_t{100} << 20;
  EXPECT_THROW(explain(problem, joint), Error);
}

TEST_P(ShiftedSort, AllNeighborsWhereTheWindowHasThemAll) {
  const auto base = scene(Scene::uniform, 60, 7);
  const auto points = scene(Scene::queries_elsewhere, 10, 8);
  for (const MetricKind kind :
       {MetricKind::euclidean, MetricKind::sqeuclidean, MetricKind::manhattan, MetricKind::chebyshev}) {
    Options with = options(1);
    with.metric = kind;
    EXPECT_TRUE(finds_the_truth(Sample<float>{base, points}, 60, with));
  }
}

TEST_P(ShiftedSort, AnIndexServesManyBatchesAndAGraph) {
  const auto base = scene(Scene::surface, 400, 9);
  const auto points = scene(Scene::surface, 30, 10);
  const Index<float> index(base.view(), options());
  const auto once = search(base.view(), points.view(), 6, options());
  for (int round = 0; round < 2; ++round) EXPECT_EQ(index.search(points.view(), 6).ids, once.ids);
  const auto others = index.search_self(3);
  for (std::int64_t q = 0; q < others.queries; ++q) {
    const auto ids = others.ids_of(q);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), q), 0) << "point " << q << " is its own neighbor";
  }
}

TEST_P(ShiftedSort, BatchesUnderTheBudget) {
  const auto base = scene(Scene::uniform, 500, 11);
  const auto points = scene(Scene::uniform, 2000, 12);
  if (GetParam() == Backend::emulated) GTEST_SKIP() << "too many queries for the emulator";
  Options little = options();
  const auto free_plan = explain({500, 2000, 3, 4, DType::float32}, little);
  little.memory_budget = free_plan.workspace_bytes - 1000 * 20;
  const auto found = search(base.view(), points.view(), 4, little);
  if (is_cpu()) {
    EXPECT_LT(found.report.plan.query_block, 2000);
  }
  EXPECT_EQ(found.ids, search(base.view(), points.view(), 4, options()).ids);
  little.memory_budget = 1000;
  EXPECT_THROW(search(base.view(), points.view(), 4, little), Error);
}

TEST_P(ShiftedSort, ASampleSaysHowGoodItIs) {
  const auto base = scene(Scene::surface, 300, 13);
  const auto points = scene(Scene::uniform, 20, 14);
  Options with = options(1);
  with.statistics = true;
  const auto found = search(base.view(), points.view(), 5, with);
  ASSERT_TRUE(found.report.quality);
  EXPECT_EQ(found.report.quality->queries, 20);
  const auto truth = truth_of(base, points, MetricKind::euclidean);
  const DistanceRatios right = summarize_ratios(ratios_of(found, truth));
  EXPECT_EQ(found.report.quality->ratios.mean, right.mean);
  EXPECT_EQ(found.report.quality->ratios.max, right.max);
}

TEST_P(ShiftedSort, RefusesWhatItHasNot) {
  const auto refused = [](const std::string& says, const Options& with, std::int64_t dims = 3, std::int64_t k = 1) {
    const Matrix<float> points(2000, dims);
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {says},
                           [&] { search(points.view(), points.view().rows_from(0, 1), k, with); }));
  };
  const auto changed = [](auto member, auto value) {
    Options with = options();
    with.shifted_sort.*member = value;
    return with;
  };
  refused("17 dimensions", options(), 17);
  refused("shifts = 0", options(0));
  refused("shift = 0.5", changed(&ShiftedSortTuning::shift, 0.5));
  Options with = options();
  with.metric = MetricKind::cosine;
  refused("cannot search by cosine", with);
  with = options();
  with.distance = DistanceStage::direct;
  refused("no stages", with);
  if (is_cpu()) {
    refused("for devices", changed(&ShiftedSortTuning::merge, CurveMerge::global_memory));
    refused("for devices", changed(&ShiftedSortTuning::positions, CurvePositions::sort));
  } else {
    refused("k = 1025", options(), 3, 1025);
  }
}

TEST_P(ShiftedSort, PlansSayThatItIsApproximate) {
  const Plan plan = explain({100000, 1000, 3, 50, DType::float32}, options());
  EXPECT_TRUE(plan.approximate);
  EXPECT_EQ(plan.shifted_sort.window, 64);
  EXPECT_NE(to_string(plan).find("approximate"), std::string::npos);
  Options guaranteed = options();
  guaranteed.shifted_sort.guaranteed = true;
  EXPECT_EQ(explain({100, 10, 3, 5, DType::float32}, guaranteed).shifted_sort.shifts, 5);
  EXPECT_EQ(explain({100, 10, 6, 5, DType::float32}, guaranteed).shifted_sort.shifts, 7);
}

INSTANTIATE_TEST_SUITE_P(Backends, ShiftedSort, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

}  // namespace
}  // namespace kith::test
