// graph(): the k-NN graph as compressed sparse rows, against neighbors sorted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kith/graph.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

template <class D>
using Edges = std::map<std::pair<std::int64_t, std::int64_t>, D>;

// Directed edges of the oracle: each point to its k nearest others.
template <class D>
Edges<D> directed_edges(const Truth<D>& truth, std::int64_t k) {
  Edges<D> edges;
  for (std::int64_t i = 0; i < truth.queries; ++i) {
    for (const std::int64_t j : truth.nearest(i, k, i)) edges[{i, j}] = truth.distance(i, j);
  }
  return edges;
}

template <class D>
Edges<D> symmetrized(const Edges<D>& directed, Symmetrize how) {
  if (how == Symmetrize::none) return directed;
  Edges<D> edges;
  for (const auto& [edge, distance] : directed) {
    const std::pair back{edge.second, edge.first};
    if (how == Symmetrize::mutual && !directed.contains(back)) continue;
    edges[edge] = distance;
    edges[back] = distance;
  }
  return edges;
}

template <class D>
testing::AssertionResult is_well_formed(const Graph<D>& graph, Symmetrize how, bool largest_first) {
  if (graph.indptr.size() != static_cast<std::size_t>(graph.points) + 1 || graph.indptr.front() != 0 ||
      graph.indptr.back() != static_cast<std::int64_t>(graph.indices.size()) ||
      graph.data.size() != graph.indices.size()) {
    return testing::AssertionFailure() << "indptr, indices and data do not fit";
  }
  for (std::int64_t i = 0; i < graph.points; ++i) {
    const std::int64_t first = graph.indptr[static_cast<std::size_t>(i)];
    const std::int64_t last = graph.indptr[static_cast<std::size_t>(i) + 1];
    if (last < first) return testing::AssertionFailure() << "indptr falls at row " << i;
    for (std::int64_t e = first; e < last; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const std::int64_t id = graph.indices[at];
      if (id < 0 || id >= graph.points || id == i) {
        return testing::AssertionFailure() << "row " << i << " has an edge to " << id;
      }
      if (e == first) continue;
      const bool rises = largest_first ? graph.data[at - 1] > graph.data[at] : graph.data[at - 1] < graph.data[at];
      const bool by_distance = rises || (graph.data[at - 1] == graph.data[at] && graph.indices[at - 1] < id);
      if (how == Symmetrize::none ? !by_distance : graph.indices[at - 1] >= id) {
        return testing::AssertionFailure() << "row " << i << " is not sorted";
      }
    }
  }
  return testing::AssertionSuccess();
}

template <class D>
Edges<D> edges_of(const Graph<D>& graph) {
  Edges<D> edges;
  for (std::int64_t i = 0; i < graph.points; ++i) {
    for (std::int64_t e = graph.indptr[static_cast<std::size_t>(i)]; e < graph.indptr[static_cast<std::size_t>(i) + 1];
         ++e) {
      edges[{i, graph.indices[static_cast<std::size_t>(e)]}] = graph.data[static_cast<std::size_t>(e)];
    }
  }
  return edges;
}

constexpr Symmetrize kForms[] = {Symmetrize::none, Symmetrize::either, Symmetrize::mutual};

template <Element T>
void expect_oracle_graph(Kind kind, const Metric& metric, Shape shape, std::int64_t k) {
  Sample<T> sample = generate<T>(kind, shape, metric, 3);
  sample.queries = sample.base;
  Options options;
  options.metric = metric;
  const auto truth = truth_of(sample, metric);
  const auto directed = directed_edges(truth, k);
  for (const Symmetrize how : kForms) {
    const auto got = graph(sample.base.view(), k, how, options);
    const std::string what = std::string(to_string(kind)) + ' ' + kith::to_string(metric) + ' ' +
                             kith::to_string(dtype_of<T>()) + " k=" + std::to_string(k) + ' ' + kith::to_string(how);
    EXPECT_EQ(got.points, shape.base_rows) << what;
    EXPECT_TRUE(is_well_formed(got, how, metric.kind == MetricKind::inner_product)) << what;
    EXPECT_EQ(edges_of(got), symmetrized(directed, how)) << what;
  }
}

TEST(Graph, EqualsTheOracleInEveryForm) {
  for (const Kind kind : {Kind::gaussian, Kind::clustered, Kind::duplicates, Kind::ties, Kind::all_equal}) {
    for (const MetricKind metric : {MetricKind::euclidean, MetricKind::manhattan, MetricKind::cosine,
                                    MetricKind::correlation, MetricKind::inner_product, MetricKind::hamming}) {
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
  Options options;
  options.metric = MetricKind::cosine;
  const Matrix<float> zero(3, 2, {1, 2, 0, 0, 3, 4});
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"row 1"}, [&] { graph(zero.view(), 1, Symmetrize::none, options); }));
}

TEST(Graph, NamesOfSymmetrizations) {
  EXPECT_STREQ(to_string(Symmetrize::none), "none");
  EXPECT_STREQ(to_string(Symmetrize::either), "union");
  EXPECT_STREQ(to_string(Symmetrize::mutual), "mutual");
  for (const Symmetrize how : kForms) EXPECT_EQ(parse_symmetrize(to_string(how)), how);
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"both", "none", "union", "mutual"}, [] { parse_symmetrize("both"); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [] { parse_symmetrize(""); }));
}

}  // namespace
}  // namespace kith::test
