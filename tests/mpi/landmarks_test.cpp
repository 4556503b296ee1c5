// Layout landmarks: cells rule out what they may, and spare most queries other ranks.
#include "kith/index.hpp"
#include "mpi/ranks.hpp"
#include "mpi/regions.hpp"

namespace kith::test {
namespace {

// Of uniform points in three dimensions, that lie in no order, few queries are asked of a second rank.
TEST(MpiLandmarks, FewQueriesAreForwarded) {
  const Metric metric = MetricKind::euclidean;
  Options options = options_of(metric);
  options.method = Method::tree;
  const auto sample = generate<float>(Kind::uniform, {20'000, 1, 3}, metric, 1);
  const Cut rows = cut_of(20'000, Spread::even);
  mpi::Index<float> index(MPI_COMM_WORLD, rows.of(sample.base), options);
  const auto got = index.search_self(4, by(mpi::Layout::landmarks));
  const auto all = kith::Index<float>(sample.base.view(), options).search_self(4);
  const auto first = all.ids.begin() + rows.first() * 4;
  EXPECT_TRUE(same_bits(got.ids, std::vector<std::int64_t>(first, first + rows.count() * 4)));
  std::int64_t mine = index.report().forwarded;
  std::int64_t forwarded = 0;
  MPI_Allreduce(&mine, &forwarded, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  // The ball of the fourth neighbor has radius 0.036; four or more parts have walls of a few unit squares.
  EXPECT_LT(static_cast<double>(forwarded) / 20'000, 0.35);
  EXPECT_EQ(forwarded > 0, ranks() > 1);
}

// A cell is only ruled out where no point of it is as near as the bound, ties included.
TEST(MpiLandmarks, NoCellThatHoldsANeighborIsRuledOut) {
  constexpr std::int64_t kDims = 3;
  for (const Metric& metric : all_metrics()) {
    if (mpi::why_no_bounds(metric, false) != nullptr) continue;
    const auto sample = generate<float>(Kind::ties, {64, 12, kDims}, metric, 2);
    std::vector<mpi::CellSummary> cells(4, mpi::CellSummary(kDims));
    double point[kDims];
    for (std::int64_t r = 0; r < 64; ++r) {
      mpi::metric_point(metric, sample.base.row(r), 1, kDims, point);
      cells[static_cast<std::size_t>(r / 16)].add(metric, point, kDims);
    }
    const mpi::CellBounds<float> bounds(metric, kDims);
    for (std::int64_t q = 0; q < 12; ++q) {
      mpi::metric_point(metric, sample.queries.row(q), 1, kDims, point);
      for (std::int64_t cell = 0; cell < 4; ++cell) {
        const auto nearest = search(sample.base.view().rows_from(16 * cell, 16), sample.queries.view().rows_from(q, 1),
                                    1, options_of(metric));
        EXPECT_TRUE(bounds.may_hold(cells[static_cast<std::size_t>(cell)], point, bounds.theta(nearest.distances[0])))
            << to_string(metric) << ", query " << q << ", cell " << cell;
      }
    }
  }
}

TEST(MpiLandmarks, FarCellsAreRuledOut) {
  for (const Metric& metric : {Metric(MetricKind::euclidean), Metric(MetricKind::cosine)}) {
    mpi::CellSummary cell(2);
    const double x[2] = {1, 0};
    const double y[2] = {0, 1};
    cell.add(metric, x, 2);
    const mpi::CellBounds<float> bounds(metric, 2);
    EXPECT_FALSE(bounds.may_hold(cell, y, bounds.theta(0.5F))) << to_string(metric);
    EXPECT_TRUE(bounds.may_hold(cell, y, bounds.theta(1.5F))) << to_string(metric);
    EXPECT_FALSE(bounds.may_hold(mpi::CellSummary(2), y, bounds.theta(1.5F))) << "a cell without points";
  }
}

TEST(MpiLandmarks, CellsHaveAboutAsManyPoints) {
  constexpr std::int64_t kRows = 4096;
  const auto sample = generate<double>(Kind::clustered, {kRows, 1, 4}, MetricKind::euclidean, 3).base;
  const mpi::CellTree tree(std::vector<double>(sample.data(), sample.data() + kRows * 4), 4, 12);
  std::vector<std::int64_t> counts(12);
  for (std::int64_t r = 0; r < kRows; ++r) ++counts[static_cast<std::size_t>(tree.cell_of(sample.row(r)))];
  for (const std::int64_t count : counts) {
    EXPECT_GT(count, kRows / 12 / 2);
    EXPECT_LT(count, kRows / 12 * 2);
  }
}

}  // namespace
}  // namespace kith::test
