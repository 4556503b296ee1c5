// The k nearest sparse points have the ids and the bits of dense ones, whatever the values, shapes and metrics.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "sparse/dense_twin.hpp"
#include "sparse/sparse_points.hpp"

namespace kith::test {
namespace {

SparseOptions options_of(SparseMetric metric, int threads = 0) {
  SparseOptions options;
  options.metric = metric;
  options.threads = threads;
  return options;
}

template <class T>
void compare(const SparseShape& shape, Values kind, SparseMetric metric, std::int64_t k, std::uint64_t seed,
             bool zipf = false) {
  const bool directed = metric == SparseMetric::cosine;
  const Matrix<T> base = sparse_points<T>(shape, kind, seed, directed, zipf);
  const Matrix<T> queries = sparse_points<T>({23, shape.dims, shape.density}, kind, seed + 1, directed, zipf);
  const Csr<T> sparse_base = csr_of(base, 5);
  const Csr<T> sparse_queries = csr_of(queries);
  const SparseIndex<T> index(sparse_base.view(), options_of(metric, 2));
  const SparseNeighbors<T> found = index.search(sparse_queries.view(), k);
  EXPECT_EQ(found.queries, 23);
  EXPECT_EQ(found.k, k);
  EXPECT_TRUE(same_bits(found.ids, found.distances, expected_nearest(base, &queries, k, metric)));
  if (k >= shape.rows) return;
  const SparseNeighbors<T> others = index.search_self(k);
  EXPECT_TRUE(same_bits<T>(others.ids, others.distances, expected_nearest<T>(base, nullptr, k, metric)));
}

class SparseNearest : public testing::TestWithParam<std::tuple<SparseMetric, Values>> {};

TEST_P(SparseNearest, HasTheBitsOfDensePoints) {
  const auto [metric, kind] = GetParam();
  std::uint64_t seed = 1;
  const SparseShape shapes[] = {{1, 1, 1.0},      {7, 1, 0.5},      {40, 3, 0.6},     {300, 9, 0.3},
                                {500, 100, 0.05}, {400, 640, 0.02}, {90, 5000, 0.004}};
  for (const SparseShape& shape : shapes) {
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, shape.rows}) {
      if (k > shape.rows) continue;
      SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.dims << ", k = " << k);
      compare<float>(shape, kind, metric, k, seed, seed % 3 == 0);
      // Squares of these, or their products, would not fit into double under the dense twin either.
      compare<double>(shape, kind, metric, k, seed, seed % 3 == 1);
      ++seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparseNearest,
                         testing::Combine(testing::ValuesIn(kSparseMetrics),
                                          testing::Values(Values::real, Values::counts, Values::binary, Values::unit,
                                                          Values::tiny, Values::huge, Values::mixed)));

// Several blocks of rows, whose lists must come together.
TEST(SparseBlocks, AreJoined) {
  for (const SparseMetric metric : kSparseMetrics) {
    SCOPED_TRACE(to_string(metric));
    const bool directed = metric == SparseMetric::cosine;
    const Matrix<double> base = sparse_points<double>({40000, 12, 0.15}, Values::real, 3, directed);
    const Matrix<double> queries = sparse_points<double>({3, 12, 0.3}, Values::real, 4, directed);
    const Csr<double> sparse = csr_of(base);
    const Csr<double> asked = csr_of(queries);
    const List<double> want = expected_nearest(base, &queries, 100, metric);
    for (const int threads : {1, 2, 7}) {
      const SparseIndex<double> index(sparse.view(), options_of(metric, threads));
      const SparseNeighbors<double> found = index.search(asked.view(), 100);
      EXPECT_TRUE(same_bits(found.ids, found.distances, want)) << threads << " threads";
      EXPECT_LT(found.report.block_rows, 40000);
      EXPECT_GE(found.report.finalists, 300);
    }
  }
}

TEST(SparseTies, GoToTheSmallerId) {
  // No column in common: distances are those of the lengths, or all the same.
  const Matrix<float> base(200, 40);
  Matrix<float> points = base;
  for (std::int64_t r = 0; r < 200; ++r) points(r, r % 20) = 1;
  Matrix<float> query(1, 40);
  query(0, 30) = 1;
  const Csr<float> sparse = csr_of(points);
  const Csr<float> asked = csr_of(query);
  for (const SparseMetric metric : kSparseMetrics) {
    const SparseNeighbors<float> found = search_sparse(sparse.view(), asked.view(), 50, options_of(metric));
    for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(found.ids[static_cast<std::size_t>(i)], i) << to_string(metric);
  }
}

// Rows without a column in common with the query cost no key each, once k of them are known.
TEST(SparseTies, OfNothingInCommonNeedFewKeys) {
  const Matrix<float> base = sparse_points<float>({20000, 2000, 0.001}, Values::real, 5, true);
  const Matrix<float> queries = sparse_points<float>({4, 2000, 0.001}, Values::real, 6, true);
  const Csr<float> sparse = csr_of(base);
  const Csr<float> asked = csr_of(queries);
  for (const SparseMetric metric : {SparseMetric::cosine, SparseMetric::inner_product}) {
    const SparseNeighbors<float> found = search_sparse(sparse.view(), asked.view(), 200, options_of(metric));
    EXPECT_TRUE(same_bits(found.ids, found.distances, expected_nearest(base, &queries, 200, metric)));
    EXPECT_LT(found.report.finalists, 4 * 4000) << to_string(metric);
  }
}

TEST(SparseNearest, LeavesOutWhatIsTooFarAway) {
  for (const SparseMetric metric : {SparseMetric::euclidean, SparseMetric::manhattan}) {
    const Matrix<float> base = sparse_points<float>({300, 20, 0.2}, Values::real, 8, false);
    const Matrix<float> queries = sparse_points<float>({10, 20, 0.2}, Values::real, 9, false);
    const Csr<float> sparse = csr_of(base);
    const Csr<float> asked = csr_of(queries);
    Options dense = dense_options<float>(metric);
    dense.max_distance = 1.5;
    const Neighbors<float> want = search(base.view(), queries.view(), 40, dense);
    SparseOptions options = options_of(metric);
    options.max_distance = 1.5;
    const SparseNeighbors<float> found = search_sparse(sparse.view(), asked.view(), 40, options);
    EXPECT_TRUE(same_bits<float>(found.ids, found.distances, {want.ids, want.distances}));
  }
}

TEST(SparseMetrics, HaveNames) {
  for (const SparseMetric metric : kSparseMetrics) EXPECT_EQ(parse_sparse_metric(to_string(metric)), metric);
  EXPECT_EQ(parse_sparse_metric("L2"), SparseMetric::euclidean);
  EXPECT_EQ(parse_sparse_metric("cityblock"), SparseMetric::manhattan);
  EXPECT_EQ(sparse_metric_names().size(), kSparseMetrics.size());
  EXPECT_THROW(parse_sparse_metric("chebyshev"), Error);
}

}  // namespace
}  // namespace kith::test
