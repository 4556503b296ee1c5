// graph(): the k-NN graph as compressed sparse rows, against neighbors sorted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kith/graph.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

// The oracle's graph: each point with its k nearest others in their order, symmetrized rows in the order of ids.
template <class D>
Graph<D> right_graph(const Truth<D>& truth, std::int64_t k, Symmetrize how) {
  std::vector<std::vector<std::int64_t>> rows;
  for (std::int64_t i = 0; i < truth.queries; ++i) rows.push_back(truth.nearest(i, k, i));
  if (how != Symmetrize::none) {
    std::vector<std::set<std::int64_t>> joined(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const std::int64_t id : rows[i]) {
        const auto j = static_cast<std::size_t>(id);
        const auto point = static_cast<std::int64_t>(i);
        const bool mutual = std::find(rows[j].begin(), rows[j].end(), point) != rows[j].end();
        if (how == Symmetrize::mutual && !mutual) continue;
        joined[i].insert(id);
        joined[j].insert(point);
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].assign(joined[i].begin(), joined[i].end());
  }
  Graph<D> graph;
  graph.indptr = {0};
  for (std::int64_t i = 0; i < truth.queries; ++i) {
    for (const std::int64_t id : rows[static_cast<std::size_t>(i)]) {
      graph.indices.push_back(id);
      graph.data.push_back(truth.distance(i, id));
    }
    graph.indptr.push_back(static_cast<std::int64_t>(graph.indices.size()));
  }
  return graph;
}

constexpr Symmetrize kForms[] = {Symmetrize::none, Symmetrize::either, Symmetrize::mutual};

template <Element T>
void expect_oracle_graph(Kind kind, const Metric& metric, Shape shape, std::int64_t k) {
  Sample<T> sample = generate<T>(kind, shape, metric, 3);
  sample.queries = sample.base;
  const auto truth = truth_of(sample, metric);
  for (const Symmetrize how : kForms) {
    const auto got = graph(sample.base.view(), k, how, options_for(metric));
    const std::string what = std::string(to_string(kind)) + ' ' + kith::to_string(metric) + ' ' +
                             kith::to_string(dtype_of<T>()) + " k=" + std::to_string(k) + ' ' + kith::to_string(how);
    EXPECT_EQ(got.points, shape.base_rows) << what;
    const auto right = right_graph(truth, k, how);
    EXPECT_EQ(got.indptr, right.indptr) << what;
    EXPECT_EQ(got.indices, right.indices) << what;
    EXPECT_EQ(got.data, right.data) << what;
  }
}

TEST(Graph, EqualsTheOracleInEveryForm) {
  for (const Kind kind : {Kind::gaussian, Kind::clustered, Kind::duplicates, Kind::ties, Kind::all_equal}) {
    for (const MetricKind metric :
         {MetricKind::euclidean, MetricKind::manhattan, MetricKind::cosine, MetricKind::correlation,
          MetricKind::inner_product, MetricKind::hamming, MetricKind::canberra}) {
      for (const std::int64_t k : {1, 7}) expect_oracle_graph<float>(kind, metric, {130, 1, 20}, k);
    }
  }
  for (const std::int64_t k : {1, 7}) {
    expect_oracle_graph<double>(Kind::duplicates, MetricKind::euclidean, {130, 1, 20}, k);
    expect_oracle_graph<std::uint8_t>(Kind::ties, MetricKind::chebyshev, {130, 1, 20}, k);
    expect_oracle_graph<std::int8_t>(Kind::clustered, MetricKind::sqeuclidean, {130, 1, 20}, k);
  }
}

TEST(Graph, KOfAllOthersIsComplete) {
  for (const std::int64_t points : {2, 3, 40}) {
    expect_oracle_graph<float>(Kind::duplicates, MetricKind::euclidean, {points, 1, 5}, points - 1);
  }
}

TEST(Graph, RefusesBadArguments) {
  const Sample<float> sample = generate<float>(Kind::gaussian, {5, 1, 3}, MetricKind::euclidean, 1);
  const MatrixView<float> points = sample.base.view();
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 5", "4"}, [&] { graph(points, 5); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 0"}, [&] { graph(points, 0); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { graph(points.rows_from(0, 1), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { graph(MatrixView<float>(), 1); }));
  const Matrix<float> zero(3, 2, {1, 2, 0, 0, 3, 4});
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"row 1"},
                         [&] { graph(zero.view(), 1, Symmetrize::none, options_for(MetricKind::cosine)); }));
}

}  // namespace
}  // namespace kith::test
