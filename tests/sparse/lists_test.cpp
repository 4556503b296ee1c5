// Radius searches and graphs of sparse points have the ids and the bits of dense ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/graph.hpp"
#include "sparse/dense_twin.hpp"
#include "sparse/sparse_points.hpp"

namespace kith::test {
namespace {

class SparseLists : public testing::TestWithParam<SparseMetric> {
 protected:
  SparseOptions options(int threads = 2) const {
    SparseOptions options;
    options.metric = GetParam();
    options.threads = threads;
    return options;
  }
  bool directed() const { return GetParam() == SparseMetric::cosine; }
};

// A distance that some of the neighbors have.
template <class T>
T middle_distance(const Matrix<T>& base, const Matrix<T>& queries, SparseMetric metric) {
  const List<T> nearest = expected_nearest(base, &queries, 30, metric);
  return nearest.distances[17];
}

template <class T>
void compare_radius(const SparseIndex<T>& index, const Matrix<T>& base, const Matrix<T>* queries, const Csr<T>& asked,
                    T radius, SparseMetric metric) {
  const std::vector<T> radii{radius};
  const kith::SparseLists<T> found =
      queries != nullptr ? index.search_radius(asked.view(), radii) : index.search_radius_self(radii);
  const kith::SparseLists<T> counts = queries != nullptr
                                          ? index.search_radius(asked.view(), radii, RadiusOutput::count_only)
                                          : index.search_radius_self(radii, RadiusOutput::count_only);
  EXPECT_EQ(counts.offsets, found.offsets);
  EXPECT_TRUE(counts.ids.empty());
  if (metric != SparseMetric::jaccard) {
    const Index<T> dense(base.view(), dense_options<T>(metric));
    const RadiusNeighbors<T> want =
        queries != nullptr ? dense.search_radius(queries->view(), radii) : dense.search_radius_self(radii);
    EXPECT_EQ(found.offsets, want.offsets);
    EXPECT_TRUE(same_bits<T>(found.ids, found.distances, {want.ids, want.distances}));
    EXPECT_GT(found.ids.size(), 20U);
    return;
  }
  const Matrix<T>& points = queries != nullptr ? *queries : base;
  List<T> want;
  for (std::int64_t q = 0; q < points.rows(); ++q) {
    const List<T> all = sorted_by_jaccard(base, points.row(q), queries != nullptr ? -1 : q);
    for (std::size_t i = 0; i < all.ids.size() && all.distances[i] <= radius; ++i) {
      want.ids.push_back(all.ids[i]);
      want.distances.push_back(all.distances[i]);
    }
  }
  EXPECT_TRUE(same_bits(found.ids, found.distances, want));
}

template <class T>
void compare_all(const SparseOptions& options, Values kind) {
  const SparseMetric metric = options.metric;
  const bool directed = metric == SparseMetric::cosine;
  const Matrix<T> base = sparse_points<T>({700, 30, 0.1}, kind, 21, directed);
  const Matrix<T> queries = sparse_points<T>({19, 30, 0.1}, kind, 22, directed);
  const Csr<T> sparse = csr_of(base, 3);
  const Csr<T> asked = csr_of(queries);
  const SparseIndex<T> index(sparse.view(), options);
  const T radius = middle_distance(base, queries, metric);
  compare_radius(index, base, &queries, asked, radius, metric);
  compare_radius<T>(index, base, nullptr, asked, radius, metric);
}

TEST_P(SparseLists, WithinARadius) {
  for (const Values kind : {Values::real, Values::counts, Values::binary}) {
    SCOPED_TRACE(testing::PrintToString(kind));
    compare_all<float>(options(), kind);
    compare_all<double>(options(1), kind);
  }
}

TEST_P(SparseLists, Graphs) {
  const Matrix<float> base = sparse_points<float>({150, 30, 0.15}, Values::counts, 31, directed());
  const Csr<float> sparse = csr_of(base);
  const SparseIndex<float> index(sparse.view(), options());
  for (const Symmetrize how : {Symmetrize::none, Symmetrize::either, Symmetrize::mutual}) {
    const kith::SparseLists<float> made = index.graph(5, how);
    ASSERT_EQ(made.offsets.size(), 151U);
    if (GetParam() == SparseMetric::jaccard) {
      if (how != Symmetrize::none) continue;
      EXPECT_TRUE(same_bits(made.ids, made.distances, expected_nearest<float>(base, nullptr, 5, GetParam())));
      continue;
    }
    const Graph<float> want = graph(base.view(), 5, how, dense_options<float>(GetParam()));
    EXPECT_EQ(made.offsets, want.indptr);
    EXPECT_TRUE(same_bits<float>(made.ids, made.distances, {want.indices, want.data}));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparseLists, testing::ValuesIn(kSparseMetrics));

TEST(SparseRadius, HasOneRadiusForEachQuery) {
  const Matrix<float> base = sparse_points<float>({100, 10, 0.3}, Values::real, 41, false);
  const Csr<float> sparse = csr_of(base);
  const SparseIndex<float> index(sparse.view());
  std::vector<float> radii;
  for (int i = 0; i < 100; ++i) radii.push_back(static_cast<float>(i) * 0.03F);
  const kith::SparseLists<float> found = index.search_radius(sparse.view(), radii);
  const RadiusNeighbors<float> want = search_radius<float>(base.view(), base.view(), radii, RadiusOutput::neighbors,
                                                           dense_options<float>(SparseMetric::euclidean));
  EXPECT_EQ(found.offsets, want.offsets);
  EXPECT_TRUE(same_bits<float>(found.ids, found.distances, {want.ids, want.distances}));
}

}  // namespace
}  // namespace kith::test
