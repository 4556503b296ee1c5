// The test support itself: a generator that does not generate, or an oracle that is wrong, would make every other test
// pass for nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/pairwise.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

TEST(Support, PairwiseCoversEveryPair) {
  const std::vector<std::size_t> sizes = {4, 3, 7, 2, 5};
  std::set<std::vector<std::size_t>> seen;
  const auto rows = pairwise(sizes, 1);
  for (const auto& row : rows) {
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      ASSERT_LT(row[p], sizes[p]);
      for (std::size_t o = p + 1; o < sizes.size(); ++o) seen.insert({p, row[p], o, row[o]});
    }
  }
  std::size_t pairs = 0;
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    for (std::size_t o = p + 1; o < sizes.size(); ++o) pairs += sizes[p] * sizes[o];
  }
  EXPECT_EQ(seen.size(), pairs);
  EXPECT_LT(rows.size(), 70U) << "35 pairs of the two largest; the full product has 840";
}

TEST(Support, EveryLayoutShowsTheSameValues) {
  const Matrix<float> dense = generate<float>(Kind::gaussian, {13, 1, 7}, MetricKind::euclidean, 1).base;
  for (const Layout layout : all_layouts()) {
    const Points<float> points(dense, layout);
    for (std::int64_t i = 0; i < 13; ++i) {
      for (std::int64_t c = 0; c < 7; ++c) ASSERT_EQ(points.view()(i, c), dense(i, c)) << to_string(layout);
    }
  }
}

TEST(Support, GeneratedValuesAreFiniteAndWhatTheirKindSays) {
  for (const DType dtype : all_dtypes()) {
    with_dtype(dtype, [&]<class T>() {
      for (const Kind kind : all_kinds()) {
        const Sample<T> sample = generate<T>(kind, {200, 5, 6}, MetricKind::euclidean, 2);
        std::set<std::vector<T>> distinct;
        for (std::int64_t i = 0; i < 200; ++i) {
          distinct.insert(std::vector<T>(sample.base.row(i), sample.base.row(i) + 6));
          for (std::int64_t c = 0; c < 6; ++c) EXPECT_TRUE(std::isfinite(static_cast<double>(sample.base(i, c))));
        }
        if (kind == Kind::all_equal) {
          EXPECT_EQ(distinct.size(), 1U);
        } else if (kind == Kind::duplicates) {
          EXPECT_LE(distinct.size(), 20U);
        } else {
          EXPECT_GT(distinct.size(), 20U) << to_string(kind) << ' ' << kith::to_string(dtype);
        }
      }
    });
  }
  const Matrix<float> small = generate<float>(Kind::subnormal, {50, 1, 6}, MetricKind::euclidean, 2).base;
  for (std::int64_t i = 0; i < 50; ++i) EXPECT_LT(std::abs(small(i, 0)), std::numeric_limits<float>::min());
}

TEST(Support, DescendingRowsDescend) {
  const Sample<float> sample = generate<float>(Kind::descending, {100, 3, 8}, MetricKind::euclidean, 1);
  const Truth<float> truth = truth_of(sample, MetricKind::euclidean);
  int rising = 0;
  for (std::int64_t i = 1; i < 100; ++i) rising += truth.distance(0, i) > truth.distance(0, i - 1) ? 1 : 0;
  EXPECT_LT(rising, 10);
}

TEST(Support, OracleAgreesWithHandMadeDistances) {
  const float x[] = {1, 2, 3};
  const float y[] = {4, 6, 3};
  EXPECT_EQ(key_distance(x, y, 3, MetricKind::sqeuclidean), 25);
  EXPECT_EQ(key_distance(x, y, 3, MetricKind::euclidean), 5);
  EXPECT_EQ(key_distance(x, y, 3, MetricKind::manhattan), 7);
  EXPECT_EQ(key_distance(x, y, 3, MetricKind::chebyshev), 4);
  EXPECT_DOUBLE_EQ(key_distance(x, y, 3, Metric::minkowski(3)), std::cbrt(27.0 + 64.0));
  EXPECT_EQ(key_distance(x, y, 3, Metric::minkowski(std::numeric_limits<double>::infinity())), 4);
  EXPECT_EQ(key_distance(x, y, 3, MetricKind::inner_product), 25);
  EXPECT_EQ(key_distance(x, y, 3, MetricKind::hamming), 2.0 / 3);
  EXPECT_EQ(key_distance(x, y, 3, MetricKind::canberra), 3.0 / 5 + 4.0 / 8);
  EXPECT_DOUBLE_EQ(key_distance(x, y, 3, MetricKind::cosine), 1 - 25 / std::sqrt(14.0 * 61.0));
  // (-1, 0, 1) and (-1/3, 5/3, -4/3): product -1, norms 2 and 14/3.
  EXPECT_DOUBLE_EQ(key_distance(x, y, 3, MetricKind::correlation), 1 + 1 / std::sqrt(2 * 14.0 / 3));
}

TEST(Support, TheKeyIsTheMathematicalDistance) {
  for (const Metric& metric : all_metrics()) {
    for (const Kind kind : {Kind::uniform, Kind::gaussian, Kind::clustered, Kind::large_offset, Kind::huge}) {
      const Sample<double> sample = generate<double>(kind, {20, 20, 133}, metric, 9);
      for (std::int64_t i = 0; i < 20; ++i) {
        const double* x = sample.queries.row(i);
        const double* y = sample.base.row(i);
        const auto precise = static_cast<double>(precise_distance(x, y, 133, metric));
        double scale = std::abs(precise);
        if (metric.kind == MetricKind::inner_product)
          scale = std::sqrt(key_distance(x, x, 133, metric)) * std::sqrt(key_distance(y, y, 133, metric));
        if (metric.kind == MetricKind::cosine) scale = 1;
        if (metric.kind == MetricKind::correlation) scale = kind == Kind::large_offset ? 1e10 : 1e4;
        EXPECT_NEAR(key_distance(x, y, 133, metric), precise, 1e-14 * scale)
            << kith::to_string(metric) << ' ' << to_string(kind);
      }
    }
  }
}

TEST(Support, ComparisonFindsWrongAnswers) {
  const Sample<float> sample = generate<float>(Kind::ties, {30, 2, 3}, MetricKind::sqeuclidean, 1);
  const Truth<float> truth = truth_of(sample, MetricKind::sqeuclidean);
  Neighbors<float> answer;
  answer.queries = 2;
  answer.k = 4;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (const std::int64_t id : truth.nearest(i, 4)) {
      answer.ids.push_back(id);
      answer.distances.push_back(truth.distance(i, id));
    }
  }
  const Agreement loose{false, 1e-6, 0};
  EXPECT_TRUE(matches_truth(answer, truth, 4));
  EXPECT_TRUE(matches_truth(answer, truth, 4, loose));
  Neighbors<float> wrong = answer;
  std::swap(wrong.ids[0], wrong.ids[1]);
  EXPECT_FALSE(matches_truth(wrong, truth, 4));
  EXPECT_FALSE(same_answer(wrong, answer));
  wrong = answer;
  wrong.ids[1] = wrong.ids[0];
  EXPECT_FALSE(matches_truth(wrong, truth, 4, loose));
  wrong = answer;
  wrong.distances[7] = std::nextafter(wrong.distances[7], 100.0F);
  EXPECT_FALSE(matches_truth(wrong, truth, 4));
  wrong.distances[7] += 0.5F;
  EXPECT_FALSE(matches_truth(wrong, truth, 4, loose));
  EXPECT_FALSE(matches_truth(answer, truth, 3));
}

}  // namespace
}  // namespace kith::test
