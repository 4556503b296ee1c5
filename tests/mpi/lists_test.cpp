// Searches by radius, and what is made of neighbors' values: the bits of one process.
#include "kith/index.hpp"
#include "mpi/ranks.hpp"

namespace kith::test {
namespace {

template <class D>
void expect_rows(const RadiusNeighbors<D>& got, const RadiusNeighbors<D>& all, const Cut& rows) {
  ASSERT_EQ(got.queries, rows.count());
  for (std::int64_t q = 0; q < rows.count(); ++q) {
    const auto ids = all.ids_of(rows.first() + q);
    const auto distances = all.distances_of(rows.first() + q);
    const auto got_ids = got.ids_of(q);
    const auto got_distances = got.distances_of(q);
    EXPECT_TRUE(same_bits(std::vector<std::int64_t>(got_ids.begin(), got_ids.end()),
                          std::vector<std::int64_t>(ids.begin(), ids.end())));
    EXPECT_TRUE(same_bits(std::vector<D>(got_distances.begin(), got_distances.end()),
                          std::vector<D>(distances.begin(), distances.end())));
  }
}

template <Element T>
void expect_same_within(const Metric& metric, double radius, std::uint64_t seed) {
  using D = DistanceOf<T>;
  const auto sample = generate<T>(Kind::ties, {90, 21, 3}, metric, seed);
  const Cut rows = cut_of(90, Spread::uneven, seed);
  const Cut queries = cut_of(21, Spread::uneven, seed + 1);
  std::vector<D> radii;
  for (std::int64_t q = 0; q < 21; ++q) radii.push_back(static_cast<D>(radius * static_cast<double>(q % 5)));
  const kith::Index<T> whole(sample.base.view(), options_of(metric));
  mpi::Index<T> index(MPI_COMM_WORLD, rows.of(sample.base), options_of(metric));
  const std::span<const D> mine = std::span<const D>(radii).subspan(static_cast<std::size_t>(queries.first()),
                                                                    static_cast<std::size_t>(queries.count()));
  expect_rows(index.search_radius(queries.of(sample.queries), mine, by(mpi::Layout::automatic, 4)),
              whole.search_radius(sample.queries.view(), radii), queries);
  const std::vector<D> one{static_cast<D>(radius)};
  expect_rows(index.search_radius_self(one), whole.search_radius_self(one), rows);
}

TEST(MpiRadius, TheListsOfOneProcess) {
  expect_same_within<float>(MetricKind::euclidean, 2, 1);
  expect_same_within<double>(MetricKind::manhattan, 3, 2);
  expect_same_within<std::uint8_t>(MetricKind::chebyshev, 1, 3);
  expect_same_within<float>(MetricKind::inner_product, 5, 4);
}

TEST(MpiReduce, TheBitsOfOneProcess) {
  const Metric metric = MetricKind::euclidean;
  const auto sample = generate<float>(Kind::uniform, {80, 17, 3}, metric, 5);
  const auto values = generate<float>(Kind::gaussian, {80, 1, 4}, metric, 6).base;
  const Cut rows = cut_of(80, Spread::uneven, 7);
  const Cut queries = cut_of(17, Spread::even);
  const kith::Index<float> whole(sample.base.view(), options_of(metric));
  mpi::Index<float> index(MPI_COMM_WORLD, rows.of(sample.base), options_of(metric));
  for (const std::string& name : reduce_op_names()) {
    const ReduceOp op = parse_reduce_op(name);
    const auto all = whole.reduce(sample.queries.view(), 6, values.view(), op);
    const auto got = index.reduce(queries.of(sample.queries), 6, rows.of(values), op);
    ASSERT_EQ(got.values.rows(), queries.count());
    const std::int64_t cols = all.values.cols();
    ASSERT_EQ(got.values.cols(), cols);
    const float* from = all.values.data() + queries.first() * cols;
    EXPECT_TRUE(same_bits(std::vector<float>(got.values.data(), got.values.data() + queries.count() * cols),
                          std::vector<float>(from, from + queries.count() * cols)))
        << name;
  }
}

TEST(MpiReduce, CovariancesOfBytes) {
  const Metric metric = MetricKind::euclidean;
  const auto sample = generate<std::uint8_t>(Kind::uniform, {60, 9, 3}, metric, 8);
  const Cut rows = cut_of(60, Spread::even);
  const Cut queries = cut_of(9, Spread::on_last);
  const auto all = kith::Index<std::uint8_t>(sample.base.view(), options_of(metric))
                       .reduce(sample.queries.view(), 6, {}, ReduceOp::covariance);
  const auto got = mpi::Index<std::uint8_t>(MPI_COMM_WORLD, rows.of(sample.base), options_of(metric))
                       .reduce(queries.of(sample.queries), 6, {}, ReduceOp::covariance);
  const float* from = all.values.data() + queries.first() * all.values.cols();
  const std::int64_t size = queries.count() * all.values.cols();
  EXPECT_TRUE(same_bits(std::vector<float>(got.values.data(), got.values.data() + size),
                        std::vector<float>(from, from + size)));
}

}  // namespace
}  // namespace kith::test
