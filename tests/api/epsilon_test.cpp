// With an epsilon, every distance that method tree returns is within a factor 1 + epsilon of the true one of its rank;
// other methods stay exact, and plans say which is which.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/matrix_of.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

Options by_tree_within(double epsilon, const Metric& metric = MetricKind::euclidean) {
  Options options;
  options.backend = Backend::cpu;
  options.method = Method::tree;
  options.metric = metric;
  options.epsilon = epsilon;
  return options;
}

// Every rank, but for what rounding of the quotient by 1 + epsilon may do; and distances are those of the ids.
template <class D>
testing::AssertionResult is_within(const Neighbors<D>& found, const Truth<D>& truth, double epsilon) {
  const double factor = (1 + epsilon) * (1 + 4 * static_cast<double>(std::numeric_limits<D>::epsilon()));
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const std::vector<std::int64_t> nearest = truth.nearest(q, found.k);
    for (std::size_t i = 0; i < nearest.size(); ++i) {
      const D got = found.distances_of(q)[i];
      const std::int64_t id = found.ids_of(q)[i];
      const D best = truth.distance(q, nearest[i]);
      if (id < 0 || got != truth.distance(q, id) || got < best ||
          static_cast<double>(got) > factor * static_cast<double>(best))
        return testing::AssertionFailure() << "query " << q << ", rank " << i << ": " << got << " for " << best;
      if (i > 0 && !truth.before(q, found.ids_of(q)[i - 1], id))
        return testing::AssertionFailure() << "query " << q << ", rank " << i << " is out of order";
    }
  }
  return testing::AssertionSuccess();
}

TEST(Epsilon, EveryRankIsWithin) {
  for (const Metric& metric : {Metric(MetricKind::euclidean), Metric(MetricKind::sqeuclidean),
                               Metric(MetricKind::manhattan), Metric(MetricKind::chebyshev), Metric::minkowski(3)})
    for (const double epsilon : {0.01, 0.5, 10.0, 1e300})
      for (const std::int64_t dims : {1, 2, 3, 6}) {
        const Sample<float> sample = generate<float>(Kind::uniform, {4000, 40, dims}, metric, 1);
        const auto found = search(sample, 10, by_tree_within(epsilon, metric));
        EXPECT_TRUE(is_within(found, truth_of(sample, metric), epsilon)) << to_string(metric) << epsilon;
        EXPECT_TRUE(found.report.plan.approximate);
        EXPECT_EQ(found.report.plan.epsilon, epsilon);
      }
}

TEST(Epsilon, LooksAtLess) {
  const Sample<float> sample = generate<float>(Kind::uniform, {50000, 500, 4}, MetricKind::euclidean, 2);
  const auto exact = search(sample, 20, by_tree_within(0));
  const auto rough = search(sample, 20, by_tree_within(3));
  EXPECT_FALSE(exact.report.plan.approximate);
  EXPECT_TRUE(is_within(rough, truth_of(sample, Metric(MetricKind::euclidean)), 3));
  EXPECT_LT(rough.report.finalists, exact.report.finalists);
  EXPECT_NE(rough.ids, exact.ids);
}

TEST(Epsilon, IsNoLargestDistance) {
  const Sample<double> sample = generate<double>(Kind::uniform, {3000, 60, 3}, MetricKind::euclidean, 3);
  const auto truth = truth_of(sample, Metric(MetricKind::euclidean));
  Options options = by_tree_within(5);
  options.max_distance = truth.distance(0, truth.nearest(0, 5)[4]);
  const auto found = search(sample, 20, options);
  for (std::int64_t q = 0; q < 60; ++q) {
    const std::vector<std::int64_t> nearest = truth.nearest(q, 20);
    for (std::size_t i = 0; i < 20; ++i) {
      const double best = truth.distance(q, nearest[i]);
      const double got = found.distances_of(q)[i];
      // Where fewer than 20 are near enough, all of them are found.
      if (truth.distance(q, nearest[19]) > options.max_distance) {
        EXPECT_EQ(got, best <= options.max_distance ? best : std::numeric_limits<double>::infinity());
      } else {
        EXPECT_LE(got, 6 * best * (1 + 1e-15));
      }
    }
  }
}

TEST(Epsilon, OnDevicesToo) {
  for (const Backend backend : device_backends())
    for (const double epsilon : {0.1, 3.0, 1e300})
      for (const std::int64_t k : {10, 40}) {
        const Sample<float> sample = generate<float>(Kind::uniform, {3000, 12, 3}, MetricKind::euclidean, 6);
        Options options = by_tree_within(epsilon);
        options.backend = backend;
        const auto found = search(sample, k, options);
        EXPECT_TRUE(is_within(found, truth_of(sample, Metric(MetricKind::euclidean)), epsilon)) << epsilon;
        EXPECT_TRUE(found.report.plan.approximate);
        // Boxes are passed over, so not all are the true ones.
        if (epsilon > 1) {
          EXPECT_NE(found.ids, search(sample, k, by_tree_within(0)).ids);
        }
      }
}

// Points just beyond the largest distance, which scores cannot tell from those within, must not make boxes of these be
// passed over.
TEST(Epsilon, PointsBeyondTheLargestDistanceAreNoAnswer) {
  const auto value = [](auto r, auto c) {
    if (r < 32) return c == 0 ? (r % 2 == 0 ? 1.0 : -1.0) : 0.0;
    return c == 0 ? 0.0 : r == 32 ? 0.7 : static_cast<double>(r) - 22;
  };
  const Matrix<float> base = matrix_of<float>(64, 2, value);
  const Matrix<float> query = matrix_of<float>(1, 2, [](auto, auto) { return 0.0; });
  for (const Backend backend : available_backends()) {
    Options options = by_tree_within(1);
    options.backend = backend;
    options.max_distance = std::nextafter(1.0F, 0.0F);
    const auto found = kith::search(base.view(), query.view(), 2, options);
    EXPECT_EQ(found.ids, (std::vector<std::int64_t>{32, -1}));
  }
}

TEST(Epsilon, OthersAreExact) {
  const Sample<float> sample = generate<float>(Kind::clustered, {900, 20, 4}, MetricKind::euclidean, 4);
  Options options = by_tree_within(0.5);
  for (const Method method : {Method::brute, Method::triangle}) {
    options.method = method;
    const auto found = search(sample, 10, options);
    EXPECT_TRUE(matches_truth(found, truth_of(sample, Metric(MetricKind::euclidean)), 10));
    EXPECT_FALSE(found.report.plan.approximate);
  }
}

TEST(Epsilon, ThePlanSaysSo) {
  const Problem problem{100000, 100000, 3, 10, DType::float32};
  Options options;
  options.backend = Backend::cpu;
  const auto says_so = [&] { return to_string(explain(problem, options)).find("approximate") != std::string::npos; };
  EXPECT_FALSE(says_so());
  options.epsilon = 0.25;
  EXPECT_TRUE(says_so());
  EXPECT_NE(to_string(explain(problem, options)).find("0.25"), std::string::npos);
  options.method = Method::brute;
  EXPECT_FALSE(says_so());
}

TEST(Epsilon, ASampleIsJudged) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20000, 300, 4}, MetricKind::euclidean, 5);
  Options options = by_tree_within(4);
  options.statistics = true;
  const auto found = search(sample, 10, options);
  ASSERT_TRUE(found.report.quality);
  EXPECT_LT(found.report.quality->recall, 1);
  EXPECT_LE(found.report.quality->ratios.max, 5 * (1 + 1e-6));
  EXPECT_FALSE(search(sample, 10, by_tree_within(0)).report.quality);
}

TEST(Epsilon, RefusesWhatIsNone) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20, 3, 3}, MetricKind::euclidean, 1);
  for (const double epsilon :
       {-0.5, -std::numeric_limits<double>::infinity(), std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"epsilon = ", "0 or more"},
                           [&] { search(sample, 2, by_tree_within(epsilon)); }));
}

RC_GTEST_PROP(EpsilonProperties, EveryRankOfAnyPoints, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto dims = *rc::gen::inRange<std::int64_t>(1, 7);
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 3000);
  const auto k = *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(rows, 60) + 1);
  const auto steps = *rc::gen::element<std::int64_t>(2, 5, 50, 1000000);
  const auto epsilon = *rc::gen::element(1e-9, 0.1, 1.0, 7.0);
  const auto metric = *rc::gen::element(Metric(MetricKind::euclidean), Metric(MetricKind::sqeuclidean),
                                        Metric(MetricKind::manhattan), Metric(MetricKind::chebyshev));
  const auto value = [&](auto, auto) { return static_cast<double>(random.below(steps)) / 3; };
  const Sample<float> sample{matrix_of<float>(rows, dims, value), matrix_of<float>(10, dims, value)};
  RC_ASSERT(is_within(search(sample, k, by_tree_within(epsilon, metric)), truth_of(sample, metric), epsilon));
}

}  // namespace
}  // namespace kith::test
