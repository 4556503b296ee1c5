// Every layout, metric and type, however rows and queries lie: the answer of one process, bit for bit.
#include "mpi/ranks.hpp"

#include "kith/index.hpp"
#include "support/matrix_of.hpp"

namespace kith::test {
namespace {

using mpi::Layout;

template <Element T>
void expect_same(const Sample<T>& sample, const Metric& metric, std::int64_t k, const Cut& rows, const Cut& queries,
                 std::int64_t batch_rows, const std::vector<Layout>& layouts) {
  const MatrixView<T> mine = queries.of(sample.queries);
  Neighbors<DistanceOf<T>> expected;
  if (mine.rows > 0) expected = search(sample.base.view(), mine, k, options_of(metric));
  mpi::Index<T> index(MPI_COMM_WORLD, rows.of(sample.base), options_of(metric));
  for (const Layout layout : layouts) {
    const auto got = index.search(mine, k, by(layout, batch_rows));
    EXPECT_TRUE(same_lists(got, expected))
        << to_string(layout) << ' ' << to_string(metric) << ' ' << to_string(dtype_of<T>()) << " k " << k
        << ", batches of " << batch_rows << ", rows from " << rows.first() << ", queries from " << queries.first();
  }
}

template <class T>
class MpiTypes : public testing::Test {};
using Types = testing::Types<float, double, std::uint8_t>;
TYPED_TEST_SUITE(MpiTypes, Types);

TYPED_TEST(MpiTypes, EveryMetricAndLayout) {
  std::uint64_t seed = 1;
  for (const Metric& metric : all_metrics()) {
    const auto sample = generate<TypeParam>(seed % 2 == 0 ? Kind::ties : Kind::duplicates, {90, 23, 4}, metric, seed);
    expect_same(sample, metric, 7, cut_of(90, Spread::uneven, seed), cut_of(23, Spread::uneven, seed + 100), 5,
                layouts_for(metric));
    ++seed;
  }
}

TEST(MpiSearch, EveryKindOfPoints) {
  std::uint64_t seed = 50;
  for (const Kind kind : all_kinds()) {
    const Metric metric = MetricKind::euclidean;
    expect_same(generate<float>(kind, {120, 20, 5}, metric, ++seed), metric, 10, cut_of(120, Spread::even),
                cut_of(20, Spread::even), 0, layouts_for(metric));
  }
}

TEST(MpiSearch, BatchesOfAnySize) {
  const Metric metric = MetricKind::euclidean;
  const auto sample = generate<float>(Kind::ties, {60, 9, 3}, metric, 7);
  for (std::int64_t batch_rows = 1; batch_rows <= 9; ++batch_rows)
    expect_same(sample, metric, 4, cut_of(60, Spread::even), cut_of(9, Spread::uneven, 3), batch_rows,
                {Layout::stationary, Layout::landmarks});
}

TEST(MpiSearch, ShardsWithFewerThanKPoints) {
  const Metric metric = MetricKind::sqeuclidean;
  for (const std::int64_t points : {1, 2, 6, 11}) {
    const auto sample = generate<double>(Kind::duplicates, {points, 8, 2}, metric, 9);
    expect_same(sample, metric, points, cut_of(points, Spread::even), cut_of(8, Spread::even), 3, layouts_for(metric));
    expect_same(sample, metric, points, cut_of(points, Spread::on_last), cut_of(8, Spread::even), 0,
                layouts_for(metric));
  }
}

TEST(MpiSearch, QueriesOnOneRankOrOnNone) {
  const Metric metric = MetricKind::manhattan;
  const auto sample = generate<float>(Kind::uniform, {70, 12, 3}, metric, 11);
  expect_same(sample, metric, 5, cut_of(70, Spread::even), cut_of(12, Spread::on_last), 4, layouts_for(metric));
  expect_same(sample, metric, 5, cut_of(70, Spread::even), cut_of(0, Spread::even), 4, layouts_for(metric));
}

TEST(MpiSearch, ViewsThatAreNotPacked) {
  const Metric metric = MetricKind::euclidean;
  const auto sample = generate<float>(Kind::ties, {50, 14, 4}, metric, 13);
  const auto column_major = [](const Matrix<float>& rows) {
    std::vector<float> values;
    for (std::int64_t c = 0; c < rows.cols(); ++c)
      for (std::int64_t r = 0; r < rows.rows(); ++r) values.push_back(rows(r, c));
    return values;
  };
  const std::vector<float> base = column_major(sample.base);
  const std::vector<float> queries = column_major(sample.queries);
  const Cut rows = cut_of(50, Spread::even);
  const Cut asked = cut_of(14, Spread::even);
  const auto part = [](const std::vector<float>& values, std::int64_t all, const Cut& cut) {
    return MatrixView<float>::column_major(values.data(), all, 4).rows_from(cut.first(), cut.count());
  };
  mpi::Index<float> index(MPI_COMM_WORLD, part(base, 50, rows), options_of(metric));
  const MatrixView<float> mine = asked.of(sample.queries);
  Neighbors<float> expected;
  if (mine.rows > 0) expected = search(sample.base.view(), mine, 6, options_of(metric));
  for (const Layout layout : layouts_for(metric))
    EXPECT_TRUE(same_lists(index.search(part(queries, 14, asked), 6, by(layout, 2)), expected)) << to_string(layout);
}

TEST(MpiSearch, PointsWithoutThemselves) {
  for (const Spread spread : {Spread::even, Spread::uneven, Spread::on_last}) {
    const Metric metric = MetricKind::euclidean;
    const auto sample = generate<float>(Kind::duplicates, {80, 1, 3}, metric, 17);
    const Cut rows = cut_of(80, spread, 5);
    const auto all = kith::Index<float>(sample.base.view(), options_of(metric)).search_self(9);
    Neighbors<float> expected;
    expected.ids.assign(all.ids.begin() + rows.first() * 9, all.ids.begin() + (rows.first() + rows.count()) * 9);
    expected.distances.assign(all.distances.begin() + rows.first() * 9,
                              all.distances.begin() + (rows.first() + rows.count()) * 9);
    mpi::Index<float> index(MPI_COMM_WORLD, rows.of(sample.base), options_of(metric));
    EXPECT_EQ(index.rows(), 80);
    EXPECT_EQ(index.first_row(), rows.first());
    for (const Layout layout : layouts_for(metric))
      EXPECT_TRUE(same_lists(index.search_self(9, by(layout, 7)), expected)) << to_string(layout);
    const auto graph = index.graph(9, by(Layout::ring));
    EXPECT_TRUE(same_bits(graph.indices, expected.ids));
    EXPECT_TRUE(same_bits(graph.data, expected.distances));
    ASSERT_EQ(graph.indptr.size(), static_cast<std::size_t>(rows.count()) + 1);
    for (std::int64_t i = 0; i <= rows.count(); ++i) EXPECT_EQ(graph.indptr[static_cast<std::size_t>(i)], 9 * i);
  }
}

TEST(MpiSearch, LimitsAndPeriods) {
  const auto sample = generate<float>(Kind::uniform, {90, 16, 3}, MetricKind::euclidean, 19);
  const Cut rows = cut_of(90, Spread::even);
  const MatrixView<float> mine = cut_of(16, Spread::even).of(sample.queries);
  Options limited = options_of(MetricKind::euclidean);
  limited.max_distance = 0.3;
  Options periodic = options_of(MetricKind::euclidean);
  periodic.period = {1, 0, 0.7};
  Options padded = options_of(MetricKind::euclidean);
  padded.pad_missing = true;
  for (const auto& [options, k] : {std::pair(limited, 12), std::pair(periodic, 12), std::pair(padded, 95)}) {
    Neighbors<float> expected;
    if (mine.rows > 0) expected = search(sample.base.view(), mine, k, options);
    mpi::Index<float> index(MPI_COMM_WORLD, rows.of(sample.base), options);
    for (const Layout layout : layouts_for(options.metric)) {
      if (layout == Layout::landmarks && !options.period.empty()) continue;  // refused: errors_test.cpp
      EXPECT_TRUE(same_lists(index.search(mine, k, by(layout, 3)), expected)) << to_string(layout) << " k " << k;
    }
  }
}

// Method tree, and points of 16 bits.
TEST(MpiSearch, MethodsAndNarrowTypes) {
  Options options = options_of(MetricKind::euclidean);
  options.method = Method::tree;
  const auto sample = generate<float>(Kind::clustered, {300, 40, 3}, options.metric, 23);
  const MatrixView<float> mine = cut_of(40, Spread::even).of(sample.queries);
  Neighbors<float> expected;
  if (mine.rows > 0) expected = search(sample.base.view(), mine, 8, options);
  mpi::Index<float> index(MPI_COMM_WORLD, cut_of(300, Spread::uneven, 4).of(sample.base), options);
  for (const Layout layout : layouts_for(options.metric))
    EXPECT_TRUE(same_lists(index.search(mine, 8, by(layout)), expected)) << to_string(layout);
  Random random(29);
  const auto coordinate = [&](std::int64_t, std::int64_t) { return 0.5 + random.uniform(); };
  const Sample<Float16> narrow{matrix_of<Float16>(60, 6, coordinate), matrix_of<Float16>(10, 6, coordinate)};
  expect_same(narrow, MetricKind::cosine, 5, cut_of(60, Spread::even), cut_of(10, Spread::even), 0,
              layouts_for(MetricKind::cosine));
}

}  // namespace
}  // namespace kith::test
