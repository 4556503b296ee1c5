// Register-tiled scores against plain sums, and the fused filter against those scores, bit for bit: every
// form, counts and dimensions around the sizes of tiles and chunks, rows of any alignment, nothing written elsewhere.
#include "cuda/distance/panels.hpp"

#include "distance/candidate_lists.hpp"
#include "distance/score_problem.hpp"

namespace kith::test::register_tiled {
namespace {

using RegisterTiled = DeviceTest;
using FusedFilter = DeviceTest;

struct Size {
  std::int64_t queries;
  std::int64_t base;
};
constexpr Size kSizes[] = {{1, 1}, {3, 5}, {129, 130}, {200, 77}};
constexpr std::int64_t kDims[] = {1, 3, 7, 8, 16, 17, 33, 130};

// Of rows and of scores.
constexpr RowLayout kLayouts[] = {{0, 0}, {0, 4}, {1, 0}, {3, 5}};

template <class F>
std::vector<F> all_scores(ScoreProblem<F>& problem, const FormCase& form) {
  return problem.scores(device::distance::register_tiled_scores<F>, form);
}

template <class F>
void check_forms(ScoreProblem<F>& problem, unsigned variant, std::size_t forms = std::size(kForms)) {
  for (std::size_t i = 0; i < forms && !testing::Test::HasFailure(); ++i, ++variant) {
    set_schedule(variant % kSchedules);
    problem.check(device::distance::register_tiled_scores<F>, kForms[i], kLayouts[variant % 4]);
  }
}

template <class F>
void check_sizes(unsigned variant, Size size, std::int64_t dims) {
  Random random(variant);
  auto queries = score_points<F>(size.queries, dims, kLayouts[variant % 4], random);
  auto base = score_points<F>(size.base, dims, kLayouts[variant / 4 % 4], random);
  ScoreProblem<F> problem(std::move(queries), std::move(base));
  check_forms(problem, variant);
}

template <class F>
void check_all_sizes() {
  unsigned variant = 0;
  for (const Size& size : kSizes) {
    for (const std::int64_t dims : kDims) {
      check_sizes<F>(variant++, size, dims);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST_F(RegisterTiled, Scores) {
  check_all_sizes<float>();
  check_all_sizes<double>();
}

// So many base points that all blocks but the last run through two tiles.
template <class F>
std::int64_t many_points() {
  using Shape = device::distance::TileShape<F>;
  const std::int64_t blocks = std::int64_t{Shape::kBlocks} * device::multiprocessor_count();
  const std::int64_t points = (2 * blocks - 1) * Shape::kPoints - 5;
  EXPECT_EQ(device::distance::plan_tiles<F>({nullptr, 5, 0}, {nullptr, points, 0}, 17, nullptr).tiles_each, 2U);
  return points;
}

TEST_F(RegisterTiled, BlocksRunThroughSeveralTiles) {
  check_sizes<float>(1, {5, many_points<float>()}, 17);
  check_sizes<double>(2, {5, many_points<double>()}, 17);
  // Queries that do not stay in shared memory.
  if (!under_sanitizer()) check_sizes<double>(3, {5, many_points<double>()}, 150);
}

// So many queries that points are transposed first, with memory for panels of the queries and of one base tile.
template <class F>
ScoreProblem<F> problem_of_panels(std::int64_t dims, unsigned variant) {
  constexpr std::int64_t kPoints = device::distance::TileShape<F>::kPoints;
  const std::int64_t queries = 3 * kPoints + 1;
  EXPECT_TRUE(device::distance::panels::are_worthwhile<F>(queries, dims));
  Random random(variant);
  auto query_points = score_points<F>(queries, dims, kLayouts[variant % 4], random);
  auto base_points = score_points<F>(2 * kPoints + 9, dims, kLayouts[variant / 4 % 4], random);
  const std::int64_t values =
      device::distance::panels::values<F>(queries, dims) + device::distance::panels::values<F>(1, dims);
  const auto budget = 8 * static_cast<std::size_t>(values) * sizeof(F);
  ScoreProblem<F> problem(std::move(query_points), std::move(base_points), budget);
  EXPECT_EQ(device::distance::panels::part_points<F>(queries, dims, problem.workspace), kPoints);
  return problem;
}

template <class F>
void check_panels() {
  unsigned variant = 0;
  for (const std::int64_t dims : {17, 33, 70}) {
    ScoreProblem<F> problem = problem_of_panels<F>(dims, variant);
    check_forms(problem, ++variant, under_sanitizer() ? 1 : std::size(kForms));
  }
}

TEST_F(RegisterTiled, PanelsOfPartsOfTheBase) {
  check_panels<float>();
  check_panels<double>();
}

// Without memory for panels, rows are read, and give the same scores, bit for bit.
TEST_F(RegisterTiled, PanelsChangeNoScore) {
  ScoreProblem<float> problem = problem_of_panels<float>(70, 3);
  const std::vector<float> turned = all_scores(problem, kForms[0]);
  problem.workspace = device::Workspace(problem.stream, 64);
  EXPECT_EQ(device::distance::panels::part_points<float>(problem.queries.rows, 70, problem.workspace), 0);
  EXPECT_EQ(all_scores(problem, kForms[0]), turned);
}

TEST_F(RegisterTiled, NothingToDo) {
  device::Stream stream;
  device::Workspace workspace(stream);
  device::distance::register_tiled_scores<float>(
      {.queries = {}, .base = {nullptr, 5, 3}, .dims = 3, .workspace = workspace});
  device::distance::fused_filter(device::distance::FilterCall<float>{
      .queries = {nullptr, 5, 3}, .base = {}, .dims = 3, .lists = {}, .workspace = workspace});
  stream.synchronize();
}

TEST(RegisterTiledPlanning, BlocksCoverAllTilesInFewRounds) {
  for (const std::int64_t query_tiles : {1, 2, 7, 79, 8000}) {
    for (const std::int64_t base_tiles : {1, 2, 31, 33, 1000, 7813}) {
      const unsigned tiles = device::distance::best_tiles_each(query_tiles, base_tiles, 264, 32);
      ASSERT_GE(tiles, 1U);
      ASSERT_LE(tiles, 32U);
      ASSERT_LE(tiles, base_tiles);
      const std::int64_t rounds = device::ceil_div(query_tiles * device::ceil_div(base_tiles, tiles), 264);
      const std::int64_t least = device::ceil_div(query_tiles * base_tiles, 264);
      EXPECT_LE(rounds * tiles, least + least / 4 + 1) << query_tiles << " x " << base_tiles;
    }
  }
}

// The filter of one form, for limits of its own scores.
template <class F>
void check_filter(ScoreProblem<F>& problem, const FormCase& form, const CandidateCheck<F>& candidates) {
  SCOPED_TRACE(testing::Message() << form.name << ", " << problem.queries.rows << " x " << problem.base.rows << ", "
                                  << problem.queries.dims << " dims, " << sizeof(F) << " bytes");
  problem.workspace.reset();
  candidates.run(problem.stream, [&](const device::distance::CandidateLists<F>& lists) {
    device::distance::fused_filter(device::distance::FilterCall<F>{.queries = problem.query_rows(),
                                                                   .base = problem.base_rows(),
                                                                   .dims = problem.queries.dims,
                                                                   .form = form.form,
                                                                   .p = kPower,
                                                                   .bias = problem.bias(form),
                                                                   .lists = lists,
                                                                   .workspace = problem.workspace});
  });
}

template <class F>
void check_filter(unsigned variant, Size size, std::int64_t dims, bool with_nan = false) {
  Random random(variant);
  auto queries = score_points<F>(size.queries, dims, kLayouts[variant % 4], random);
  auto base = score_points<F>(size.base, dims, kLayouts[variant / 4 % 4], random);
  if (with_nan) {
    queries.at(size.queries / 2, dims / 2) = std::numeric_limits<F>::quiet_NaN();
    base.at(size.base / 2, 0) = std::numeric_limits<F>::quiet_NaN();
    base.at(size.base - 1, dims - 1) = -std::numeric_limits<F>::infinity();
  }
  ScoreProblem<F> problem(std::move(queries), std::move(base));
  for (const FormCase& form : kForms) {
    const std::vector<F> scores = all_scores(problem, form);
    const unsigned capacity = variant % 2 == 0 ? static_cast<unsigned>(size.base) + 3 : 4;
    set_schedule(variant++ % kSchedules);
    check_filter(problem, form, {scores, make_limits(scores, size.queries, random), capacity});
    if (testing::Test::HasFailure()) return;
  }
}

template <class F>
void check_filter_sizes() {
  unsigned variant = 0;
  for (const Size& size : kSizes) {
    for (const std::int64_t dims : {std::int64_t{1}, std::int64_t{7}, std::int64_t{16}, std::int64_t{33}}) {
      check_filter<F>(variant++, size, dims);
      if (testing::Test::HasFailure()) return;
    }
  }
  check_filter<F>(variant, {129, 130}, 150);
}

TEST_F(FusedFilter, FindsWhatPassesTheLimits) {
  check_filter_sizes<float>();
  check_filter_sizes<double>();
}

TEST_F(FusedFilter, BlocksRunThroughSeveralTiles) {
  check_filter<float>(1, {5, many_points<float>()}, 17);
  check_filter<double>(2, {5, many_points<double>()}, 40);
  // Queries that do not stay in shared memory.
  if (!under_sanitizer()) check_filter<double>(3, {5, many_points<double>()}, 150);
}

TEST_F(FusedFilter, PanelsOfPartsOfTheBase) {
  Random random(8);
  ScoreProblem<float> problem = problem_of_panels<float>(33, 2);
  const std::vector<float> scores = all_scores(problem, kForms[1]);
  const CandidateCheck<float> candidates(scores, make_limits(scores, problem.queries.rows, random),
                                         static_cast<unsigned>(problem.base.rows));
  for_each_schedule([&] { check_filter(problem, kForms[1], candidates); });
}

// NaN scores are not above any limit.
TEST_F(FusedFilter, KeepsNaN) {
  check_filter<float>(0, {70, 140}, 9, true);
  check_filter<double>(1, {70, 140}, 9, true);
}

// All points are candidates of all queries, in every order of threads.
TEST_F(FusedFilter, ManyCandidates) {
  Random random(5);
  ScoreProblem<float> problem(score_points<float>(20, 4, {}, random), score_points<float>(300, 4, {}, random));
  const std::vector<float> scores = all_scores(problem, kForms[0]);
  for_each_schedule([&] {
    for (const unsigned capacity : {0U, 7U, 300U})
      check_filter(problem, kForms[0], {scores, std::vector<float>(20, 1e9F), capacity});
  });
}

}  // namespace
}  // namespace kith::test::register_tiled
