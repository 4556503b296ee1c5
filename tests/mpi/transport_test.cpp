// What goes between ranks: as many bytes as the model of the layouts says, in pieces of any size, and beside the
// search.
#include "mpi/communicator.hpp"

#include <chrono>
#include <thread>

#include "mpi/layout.hpp"
#include "mpi/ranks.hpp"

namespace kith::test {
namespace {

using mpi::Layout;

// The hooks are as they were when a test ends.
class MpiTransport : public testing::Test {
 protected:
  void TearDown() override { mpi::transport_hooks() = {}; }
};

mpi::LayoutFacts facts_of(const Cut& rows, const Cut& queries, std::int64_t dims, std::int64_t k) {
  mpi::LayoutFacts facts;
  facts.rows = rows.counts();
  facts.queries = queries.counts();
  facts.dims = dims;
  facts.k = k;
  return facts;
}

TEST_F(MpiTransport, BytesAreThoseOfTheModel) {
  for (const Spread spread : {Spread::even, Spread::uneven}) {
    const Metric metric = MetricKind::euclidean;
    const auto sample = generate<float>(Kind::uniform, {100, 31, 5}, metric, 3);
    const Cut rows = cut_of(100, spread, 1);
    const Cut queries = cut_of(31, spread, 2);
    const mpi::LayoutFacts facts = facts_of(rows, queries, 5, 6);
    for (const Layout layout : layouts_for(metric)) {
      if (layout == Layout::automatic || layout == Layout::landmarks) continue;
      mpi::Index<float> index(MPI_COMM_WORLD, rows.of(sample.base), options_of(metric));
      mpi::SearchOptions how = by(layout, 4);
      if (layout == Layout::grid) how.replicas = 2;
      if (layout == Layout::grid && ranks() % 2 != 0) continue;
      index.search(queries.of(sample.queries), 6, how);
      const mpi::RankTraffic model = mpi::traffic_of(layout, facts, how.replicas, my_rank());
      EXPECT_EQ(index.report().received_bytes, model.received) << to_string(layout);
      EXPECT_EQ(index.report().sent_bytes, model.sent) << to_string(layout);
    }
  }
}

// Of layout landmarks nobody knows before where queries go; afterwards every byte is accounted for.
TEST_F(MpiTransport, BytesOfLandmarks) {
  const Metric metric = MetricKind::euclidean;
  const auto sample = generate<float>(Kind::uniform, {400, 60, 3}, metric, 4);
  mpi::Index<float> index(MPI_COMM_WORLD, cut_of(400, Spread::even).of(sample.base), options_of(metric));
  index.search(cut_of(60, Spread::even).of(sample.queries), 5, by(Layout::landmarks));
  const mpi::ExchangeReport& report = index.report();
  constexpr std::int64_t kRow = 3 * 4;
  constexpr std::int64_t kList = 5 * (8 + 4);
  std::int64_t mine[2] = {report.sent_bytes, report.moved_rows * (kRow + 8) + report.asked_away * (kRow + kList) +
                                                 report.forwards * (kRow + 2 * kList)};
  std::int64_t all[2] = {0, 0};
  MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0] > 0, ranks() > 1);
}

TEST_F(MpiTransport, PiecesOfAnySize) {
  const Metric metric = MetricKind::euclidean;
  const auto sample = generate<float>(Kind::ties, {50, 13, 3}, metric, 5);
  const MatrixView<float> mine = cut_of(13, Spread::even).of(sample.queries);
  Neighbors<float> expected;
  if (mine.rows > 0) expected = search(sample.base.view(), mine, 4, options_of(metric));
  for (const std::int64_t bytes : {1, 7, 64}) {
    mpi::transport_hooks().piece_bytes = bytes;
    mpi::Index<float> index(MPI_COMM_WORLD, cut_of(50, Spread::even).of(sample.base), options_of(metric));
    for (const Layout layout : layouts_for(metric))
      EXPECT_TRUE(same_lists(index.search(mine, 4, by(layout, 5)), expected)) << to_string(layout) << ' ' << bytes;
  }
}

// With messages that take half as long as a batch is searched for, only the first and the last are waited for. Search
// is the sleep of a progress callback, which takes no core from other ranks.
TEST_F(MpiTransport, MessagesTravelWhileABatchIsSearched) {
  if (ranks() != 2) return;
  constexpr auto kSearch = std::chrono::milliseconds(20);
  constexpr auto kDelay = std::chrono::milliseconds(10);
  constexpr std::int64_t kBatches = 10;
  const Metric metric = MetricKind::euclidean;
  const auto sample = generate<float>(Kind::uniform, {40, 2 * kBatches, 3}, metric, 6);
  Options options = options_of(metric);
  options.method = Method::brute;
  std::int64_t slept = 0;
  options.progress = [&](const Progress& progress) {
    if (progress.done < progress.total) return true;
    std::this_thread::sleep_for(kSearch);
    ++slept;
    return true;
  };
  mpi::Index<float> index(MPI_COMM_WORLD, cut_of(40, Spread::even).of(sample.base), options);
  const MatrixView<float> mine = cut_of(2 * kBatches, Spread::even).of(sample.queries);
  const auto seconds_of_waiting = [&](Layout layout, std::chrono::nanoseconds delay) {
    mpi::transport_hooks().delay = delay;
    slept = 0;
    index.search(mine, 4, by(layout, 1));
    return index.report().waited_seconds;
  };
  const double without = seconds_of_waiting(Layout::stationary, {});
  const double with = seconds_of_waiting(Layout::stationary, kDelay);
  EXPECT_GE(slept, kBatches);
  // The first queries and the last lists; if nothing overlapped it were all 2 × 10.
  const double delay = std::chrono::duration<double>(kDelay).count();
  EXPECT_LT(with - without, 5 * delay) << with << " s of waiting, " << without << " s without delay";
}

}  // namespace
}  // namespace kith::test
