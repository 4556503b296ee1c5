// Promise 2, one order: by (distance, id), the smaller id first among equals, from every stage and through every entry.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "kith/search.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

TEST(Promise2OneOrder, EqualPointsComeInTheOrderOfTheirIds) {
  const Sample<float> sample = generate<float>(Kind::all_equal, {3000, 5, 40}, MetricKind::euclidean, 1);
  std::vector<std::int64_t> first(500);
  std::iota(first.begin(), first.end(), 0);
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    for (const int threads : {1, 4}) {
      Options options;
      options.distance = stage;
      options.threads = threads;
      const Neighbors<float> got = search(sample.base.view(), sample.queries.view(), 500, options);
      for (std::int64_t i = 0; i < 5; ++i) {
        EXPECT_TRUE(std::equal(first.begin(), first.end(), got.ids_of(i).begin())) << stage;
        EXPECT_EQ(std::count(got.distances_of(i).begin(), got.distances_of(i).end(), 0.0F), 500) << stage;
      }
    }
  }
}

TEST(Promise2OneOrder, TheSmallestIdsOfATieThatDoesNotFitAreKept) {
  // Points at distance 1 and 2 alternate; k ends inside the second group.
  std::vector<float> base(2001);
  for (std::size_t i = 0; i < base.size(); ++i) base[i] = i % 2 == 0 ? 2.0F : -1.0F;
  const float query = 0;
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    Options options;
    options.distance = stage;
    const Neighbors<float> got =
        search(MatrixView<float>(base.data(), 2001, 1), MatrixView<float>(&query, 1, 1), 1003, options);
    for (std::size_t j = 0; j < 1000; ++j) ASSERT_EQ(got.ids[j], static_cast<std::int64_t>(2 * j + 1)) << stage;
    EXPECT_EQ(got.ids[1000], 0) << stage;
    EXPECT_EQ(got.ids[1001], 2) << stage;
    EXPECT_EQ(got.ids[1002], 4) << stage;
  }
}

// 4097² + 1 and 4097² are different floats with the same float root: a tie of euclidean, not of sqeuclidean.
TEST(Promise2OneOrder, OrderIsByTheReturnedValue) {
  const Sample<float> sample{Matrix<float>(2, 2, {4097, 1, 4097, 0}), Matrix<float>(1, 2, {0, 0})};
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    Options options;
    options.distance = stage;
    options.metric = MetricKind::sqeuclidean;
    EXPECT_EQ(search(sample.base.view(), sample.queries.view(), 1, options).ids[0], 1) << stage;
    options.metric = MetricKind::euclidean;
    const Neighbors<float> roots = search(sample.base.view(), sample.queries.view(), 2, options);
    EXPECT_EQ(roots.distances[0], roots.distances[1]) << stage;
    EXPECT_EQ(roots.ids, (std::vector<std::int64_t>{0, 1})) << stage;
    EXPECT_EQ(search(sample.base.view(), sample.queries.view(), 1, options).ids[0], 0) << stage;
  }
}

TEST(Promise2OneOrder, InnerProductsComeLargestFirst) {
  const Sample<float> sample{Matrix<float>(5, 1, {1, -3, 7, 7, 0}), Matrix<float>(2, 1, {2, -1})};
  Options options;
  options.metric = MetricKind::inner_product;
  const Neighbors<float> got = search(sample.base.view(), sample.queries.view(), 5, options);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{2, 3, 0, 4, 1, 1, 4, 0, 2, 3}));
  EXPECT_EQ(got.distances, (std::vector<float>{14, 14, 2, 0, -6, 3, 0, -1, -7, -7}));
}

TEST(Promise2OneOrder, MinusZeroEqualsZero) {
  const Sample<float> sample{Matrix<float>(4, 2, {0, 1, -0.0F, 1, 0, -0.0F, -0.0F, 0}),
                             Matrix<float>(1, 2, {-0.0F, 0})};
  Options options;
  options.metric = MetricKind::hamming;
  Neighbors<float> got = search(sample.base.view(), sample.queries.view(), 4, options);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{2, 3, 0, 1}));
  EXPECT_EQ(got.distances, (std::vector<float>{0, 0, 0.5F, 0.5F}));
  options.metric = MetricKind::inner_product;  // products of +0 and −0 are ties
  got = search(sample.base.view(), sample.queries.view(), 4, options);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

// Distances too large for float are infinite and tie; the ids still come in order.
TEST(Promise2OneOrder, InfiniteDistancesTie) {
  const Sample<float> sample = generate<float>(Kind::huge, {400, 3, 20}, MetricKind::sqeuclidean, 1);
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    Options options;
    options.metric = MetricKind::sqeuclidean;
    options.distance = stage;
    const Neighbors<float> got = search(sample.base.view(), sample.queries.view(), 30, options);
    for (std::size_t j = 0; j < 90; ++j) {
      ASSERT_EQ(got.ids[j], static_cast<std::int64_t>(j % 30)) << stage;
      ASSERT_EQ(got.distances[j], std::numeric_limits<float>::infinity()) << stage;
    }
  }
}

// The order is that of distances(): sorting the whole matrix gives the neighbors, for every metric and type.
TEST(Promise2OneOrder, SearchIsTheSortedMatrixOfDistances) {
  constexpr Shape kShape{203, 11, 29};
  for (const Metric& metric : all_metrics()) {
    for (const DType dtype : all_dtypes()) {
      for (const Kind kind : {Kind::gaussian, Kind::ties, Kind::clustered, Kind::tiny}) {
        with_dtype(dtype, [&]<class T>() {
          const Sample<T> sample = generate<T>(kind, kShape, metric, 6);
          Options options;
          options.metric = metric;
          const Matrix<DistanceOf<T>> all = distances(sample.base.view(), sample.queries.view(), options);
          Truth<DistanceOf<T>> matrix{kShape.base_rows, kShape.queries, metric.kind == MetricKind::inner_product, {}};
          matrix.distances.assign(all.data(), all.data() + all.rows() * all.cols());
          for (const std::int64_t k : {std::int64_t{7}, kShape.base_rows}) {
            EXPECT_TRUE(matches_truth(search(sample.base.view(), sample.queries.view(), k, options), matrix, k))
                << kith::to_string(metric) << ' ' << kith::to_string(dtype) << ' ' << to_string(kind);
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
