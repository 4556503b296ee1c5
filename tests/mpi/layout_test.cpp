// The choice of a layout: facts in, plan out.
#include "mpi/layout.hpp"

#include <gtest/gtest.h>

#include "support/fails_with.hpp"

namespace kith::test {
namespace {

using mpi::Layout;

mpi::LayoutFacts facts_of(std::int64_t ranks, std::int64_t rows, std::int64_t queries) {
  mpi::LayoutFacts facts;
  const auto size = static_cast<std::size_t>(ranks);
  facts.rows.assign(size, rows / ranks);
  facts.queries.assign(size, queries / ranks);
  facts.budgets.assign(size, std::int64_t{1} << 40);
  facts.dims = 128;
  facts.k = 10;
  facts.no_bounds = "it is not of this test";
  facts.seconds_per_pair = 1e-11;
  return facts;
}

const mpi::LayoutCost& cost_of(const mpi::LayoutPlan& plan, Layout layout) {
  return plan.layouts.at(static_cast<std::size_t>(layout) - 1);
}

TEST(MpiLayout, BytesByHand) {
  const mpi::LayoutFacts facts = facts_of(4, 4000, 400);
  const mpi::LayoutPlan plan = mpi::explain(facts, {});
  // 300 queries of others with 512 bytes, three lists of 120 bytes for each of 100 own ones.
  EXPECT_EQ(cost_of(plan, Layout::stationary).received_bytes, 300 * 512 + 3 * 100 * 120);
  EXPECT_EQ(cost_of(plan, Layout::replicated).received_bytes, 3000 * 512);
  EXPECT_EQ(cost_of(plan, Layout::ring).received_bytes, 3000 * 512);
  // Two groups of two: 1000 rows of the column, 100 queries, one list for each of 100.
  EXPECT_EQ(cost_of(plan, Layout::grid).replicas, 2);
  EXPECT_EQ(cost_of(plan, Layout::grid).received_bytes, 1000 * 512 + 100 * 512 + 100 * 120);
  EXPECT_EQ(cost_of(plan, Layout::stationary).total_bytes, 4 * cost_of(plan, Layout::stationary).received_bytes);
}

TEST(MpiLayout, FewQueriesTravelManyStay) {
  EXPECT_EQ(mpi::explain(facts_of(8, 80'000'000, 8'000), {}).chosen.layout, Layout::stationary);
  const mpi::LayoutPlan many = mpi::explain(facts_of(8, 80'000, 80'000'000), {});
  EXPECT_TRUE(many.chosen.layout == Layout::replicated || many.chosen.layout == Layout::ring) << to_string(many);
}

TEST(MpiLayout, TheBudgetDecidesWhatFits) {
  mpi::LayoutFacts facts = facts_of(8, 640'000, 80'000'000);
  facts.k = 1;
  facts.budgets[5] = 2 * 80'000 * 512 + 10'000'000 * 12;  // two slots of a ring, and lists
  const mpi::LayoutPlan ring = mpi::explain(facts, {});
  EXPECT_EQ(ring.chosen.layout, Layout::ring);
  EXPECT_NE(cost_of(ring, Layout::replicated).problem.find("rank 5"), std::string::npos);
  facts.budgets[5] = 8 * (2 * 512 + 3 * 12);  // a batch of one row of each rank
  const mpi::LayoutPlan stationary = mpi::explain(facts, {});
  EXPECT_EQ(stationary.chosen.layout, Layout::stationary);
  EXPECT_EQ(stationary.chosen.batch_rows, 1);
  --facts.budgets[5];
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"rank 5 may take 8479 bytes but 8480 are needed", "stationary"},
                         [&] { mpi::explain(facts, {}); }));
}

TEST(MpiLayout, ALayoutByName) {
  mpi::SearchOptions how;
  how.layout = Layout::ring;
  EXPECT_EQ(mpi::explain(facts_of(8, 80'000'000, 8'000), how).chosen.layout, Layout::ring);
  how.layout = Layout::grid;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"layout grid", "7 ranks"},
                         [&] { mpi::explain(facts_of(7, 700, 70), how); }));
  how.replicas = 3;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"replicas = 3", "8 ranks"},
                         [&] { mpi::explain(facts_of(8, 800, 80), how); }));
  how = {};
  how.layout = Layout::landmarks;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"layout landmarks", "not of this test"},
                         [&] { mpi::explain(facts_of(8, 800, 80), how); }));
  how = {};
  how.batch_rows = -1;
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"batch_rows = -1"}, [&] { mpi::explain(facts_of(8, 800, 80), how); }));
}

TEST(MpiLayout, LandmarksAreForFewDimensions) {
  mpi::LayoutFacts facts = facts_of(8, 80'000'000, 80'000'000);
  facts.no_bounds.clear();
  facts.dims = 3;
  EXPECT_EQ(mpi::explain(facts, {}).chosen.layout, Layout::landmarks);
  facts.dims = 128;
  EXPECT_NE(mpi::explain(facts, {}).chosen.layout, Layout::landmarks);
}

TEST(MpiLayout, Names) {
  for (const std::string& name : mpi::layout_names()) EXPECT_EQ(to_string(mpi::parse_layout(name)), name);
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"unknown layout 'star'", "ring"}, [] { mpi::parse_layout("star"); }));
}

}  // namespace
}  // namespace kith::test
