// Promise 2, one order: by (distance, id), the smaller id first among equals, from every stage and through every entry.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "kith/search.hpp"
#include "kith/topk.hpp"
#include "support/cases.hpp"
#include "support/compare.hpp"

namespace kith::test {
namespace {

TEST(Promise2OneOrder, EqualPointsComeInTheOrderOfTheirIds) {
  const Sample<float> sample = generate<float>(Kind::all_equal, {3000, 5, 40}, MetricKind::euclidean, 1);
  std::vector<std::int64_t> first(500);
  std::iota(first.begin(), first.end(), 0);
  for (const DistanceStage stage : stages_of(DType::float32)) {
    for (const int threads : {1, 4}) {
      const Neighbors<float> got = search(sample, 500, options_for(stage, threads));
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
  for (const DistanceStage stage : stages_of(DType::float32)) {
    const Neighbors<float> got =
        search(MatrixView<float>(base.data(), 2001, 1), MatrixView<float>(&query, 1, 1), 1003, options_for(stage));
    for (std::size_t j = 0; j < 1000; ++j) ASSERT_EQ(got.ids[j], static_cast<std::int64_t>(2 * j + 1)) << stage;
    EXPECT_EQ(got.ids[1000], 0) << stage;
    EXPECT_EQ(got.ids[1001], 2) << stage;
    EXPECT_EQ(got.ids[1002], 4) << stage;
  }
}

// 4097² + 1 and 4097² are different floats with the same float root: a tie of euclidean, not of sqeuclidean.
TEST(Promise2OneOrder, OrderIsByTheReturnedValue) {
  const Sample<float> sample{Matrix<float>(2, 2, {4097, 1, 4097, 0}), Matrix<float>(1, 2, {0, 0})};
  for (const DistanceStage stage : stages_of(DType::float32)) {
    Options options = options_for(MetricKind::sqeuclidean, stage);
    EXPECT_EQ(search(sample, 1, options).ids[0], 1) << stage;
    options.metric = MetricKind::euclidean;
    const Neighbors<float> roots = search(sample, 2, options);
    EXPECT_EQ(roots.distances[0], roots.distances[1]) << stage;
    EXPECT_EQ(roots.ids, (std::vector<std::int64_t>{0, 1})) << stage;
    EXPECT_EQ(search(sample, 1, options).ids[0], 0) << stage;
  }
}

TEST(Promise2OneOrder, InnerProductsComeLargestFirst) {
  const Sample<float> sample{Matrix<float>(5, 1, {1, -3, 7, 7, 0}), Matrix<float>(2, 1, {2, -1})};
  const Neighbors<float> got = search(sample, 5, options_for(MetricKind::inner_product));
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{2, 3, 0, 4, 1, 1, 4, 0, 2, 3}));
  EXPECT_EQ(got.distances, (std::vector<float>{14, 14, 2, 0, -6, 3, 0, -1, -7, -7}));
}

TEST(Promise2OneOrder, MinusZeroEqualsZero) {
  const Sample<float> sample{Matrix<float>(4, 2, {0, 1, -0.0F, 1, 0, -0.0F, -0.0F, 0}),
                             Matrix<float>(1, 2, {-0.0F, 0})};
  Options options = options_for(MetricKind::hamming);
  Neighbors<float> got = search(sample, 4, options);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{2, 3, 0, 1}));
  EXPECT_EQ(got.distances, (std::vector<float>{0, 0, 0.5F, 0.5F}));
  options.metric = MetricKind::inner_product;  // products of +0 and −0 are ties
  got = search(sample, 4, options);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

// Distances too large for float are infinite and tie; the ids still come in order.
TEST(Promise2OneOrder, InfiniteDistancesTie) {
  const Sample<float> sample = generate<float>(Kind::huge, {400, 3, 20}, MetricKind::sqeuclidean, 1);
  for (const DistanceStage stage : stages_of(DType::float32)) {
    const Neighbors<float> got = search(sample, 30, options_for(MetricKind::sqeuclidean, stage));
    for (std::size_t j = 0; j < 90; ++j) {
      ASSERT_EQ(got.ids[j], static_cast<std::int64_t>(j % 30)) << stage;
      ASSERT_EQ(got.distances[j], std::numeric_limits<float>::infinity()) << stage;
    }
  }
}

// The order is that of distances(): topk of the whole matrix gives the neighbors, for every metric, type and kind.
TEST(Promise2OneOrder, SearchIsTopkOfTheMatrixOfDistances) {
  for (const Case& c : every_metric_type_and_kind({{203, 11, 29}})) {
    with_dtype(c.dtype, [&]<class T>() {
      const Sample<T> sample = generate<T>(c.kind, c.shape, c.metric, c.seed);
      const auto all = distances(sample.base.view(), sample.queries.view(), c.options());
      TopkOptions selection;
      selection.largest = c.metric.kind == MetricKind::inner_product;
      for (const std::int64_t k : {std::int64_t{7}, c.shape.base_rows}) {
        const auto want = topk(all.view(), k, selection);
        const auto got = search(sample, k, c.options());
        EXPECT_EQ(got.ids, want.ids) << c;
        EXPECT_EQ(got.distances, want.values) << c;
      }
    });
  }
}

}  // namespace
}  // namespace kith::test
