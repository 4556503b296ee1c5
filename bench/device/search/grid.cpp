// grid.cpp: the planner's choice, once an index has timed what it tried, and its first choice, beside every method and
// distance stage that can take the problem, over shapes from one query to 50,000, 3,000 points to a million, 3
// dimensions to 768, and five kinds of points; besides some shapes beyond that and other metrics. What is predicted to
// take far longer than the best is left out and named in the results.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "device/search/point_set.hpp"
#include "kith/plan.hpp"

namespace kith::bench::device::search {
namespace {

// Queries and k of a search.
struct GridCell {
  std::int64_t queries;
  std::int64_t k;
};

// Cells that share their points.
struct GridGroup {
  std::int64_t base_rows;
  std::int64_t dims;
  Data data = Data::gaussian;
  MetricKind metric = kL2;
  std::vector<GridCell> cells;
};

constexpr std::array<std::int64_t, 6> kGridQueries = {1, 16, 128, 1000, 10000, 50000};
constexpr std::array<std::int64_t, 4> kGridRows = {3000, 30000, 300000, 1000000};
constexpr std::array<std::int64_t, 7> kGridDims = {3, 8, 16, 64, 128, 384, 768};
constexpr std::array<std::int64_t, 3> kGridKs = {1, 10, 100};
constexpr Data kGridData[] = {Data::gaussian, Data::clustered, Data::low_rank, Data::copies, Data::bytes};

// A choice within this factor of the best is as good as the best.
constexpr double kGridNear = 1.10;
constexpr double kGridFar = 1.5;

// Some 30 ms where fp16 does not do.
constexpr double kMostWork = 4e11;

const GridGroup kBeyond[] = {
    {100000, 4096, Data::gaussian, kL2, {{1, 10}, {256, 10}}},
    {10000, 4096, Data::gaussian, kL2, {{16, 10}, {1000, 1}}},
    {10000000, 3, Data::gaussian, kL2, {{1, 1}, {64, 10}, {1000, 10}}},
    {10000000, 16, Data::gaussian, kL2, {{1, 100}, {256, 1}}},
    {1000000, 128, Data::gaussian, kL2, {{1, 1000}, {10000, 100}}},
    {100000, 64, Data::gaussian, MetricKind::manhattan, {{16, 10}, {10000, 10}}},
    {1000000, 128, Data::gaussian, MetricKind::manhattan, {{1, 10}, {100, 10}}},
    {100000, 128, Data::gaussian, MetricKind::inner_product, {{64, 10}, {10000, 10}}},
    {1000000, 64, Data::gaussian, MetricKind::inner_product, {{1, 10}, {1000, 100}}},
};

double work_of(std::int64_t queries, std::int64_t rows, std::int64_t dims) {
  return static_cast<double>(queries) * static_cast<double>(rows) *
         static_cast<double>(std::max<std::int64_t>(dims, 16));
}

// A third of all shapes: k follows from the others. Few queries of many points have another k too.
std::vector<GridCell> cells_of(std::size_t rows, std::size_t dims) {
  std::vector<GridCell> cells;
  for (std::size_t q = 0; q < kGridQueries.size(); ++q) {
    const std::size_t k = q + rows + dims;
    if (work_of(kGridQueries[q], kGridRows[rows], kGridDims[dims]) > kMostWork) continue;
    cells.push_back({kGridQueries[q], kGridKs[k % kGridKs.size()]});
    if (kGridRows[rows] == kGridRows.back() && kGridQueries[q] <= 128)
      cells.push_back({kGridQueries[q], kGridKs[(k + 1) % kGridKs.size()]});
  }
  return cells;
}

std::vector<GridGroup> all_groups() {
  std::vector<GridGroup> groups;
  for (std::size_t rows = 0; rows < kGridRows.size(); ++rows)
    for (std::size_t dims = 0; dims < kGridDims.size(); ++dims)
      for (const Data data : kGridData)
        groups.push_back({kGridRows[rows], kGridDims[dims], data, kL2, cells_of(rows, dims)});
  groups.insert(groups.end(), std::begin(kBeyond), std::end(kBeyond));
  return groups;
}

// What can take the problem, and what was left out.
struct GridVariants {
  std::vector<Variant> raced = {Variant()};
  Json left_out = Json::array();
};

// Triangle's prediction does not know how much the points leave to it.
double most_of_best(Method method) {
  return method == Method::triangle ? 25 : 5;
}

GridVariants variants_of(const Problem& problem, std::int64_t budget) {
  struct Candidate {
    Variant variant;
    double seconds;
  };
  std::vector<Candidate> candidates;
  double best = std::numeric_limits<double>::infinity();
  const auto add = [&](Method method, DistanceStage stage) {
    const std::string name = stage == DistanceStage::automatic
                                 ? kith::to_string(method)
                                 : fmt::format("{} {}", kith::to_string(method), kith::to_string(stage));
    Variant variant = forced(name, method, stage);
    Options options = variant.options;
    options.metric = problem.metric;
    options.backend = kBackend;
    options.memory_budget = budget;
    const DType dtype = problem.data == Data::bytes ? DType::uint8 : DType::float32;
    try {
      const Plan plan = explain({problem.base_rows, problem.queries, problem.dims, problem.k, dtype}, options);
      candidates.push_back({variant, plan.seconds});
      best = std::min(best, plan.seconds);
    } catch (const Error&) {
      return;  // it cannot take this problem
    }
  };
  for (const DistanceStage stage : distance_stages(kBackend))
    for (const Method method : {Method::two_stage, Method::fused})
      if (stage != DistanceStage::automatic) add(method, stage);
  add(Method::triangle, DistanceStage::automatic);
  GridVariants variants;
  for (const Candidate& one : candidates) {
    if (one.seconds <= most_of_best(one.variant.options.method) * best)
      variants.raced.push_back(one.variant);
    else
      variants.left_out.push_back({{"name", one.variant.name}, {"predicted_ms", one.seconds * 1e3}});
  }
  return variants;
}

// The planner's row with what all others took; and the rows that were wrong.
std::vector<Row> joined(std::vector<Row> rows, const Json& left_out) {
  Row cell = std::move(rows.front());
  rows.erase(rows.begin());
  cell.facts["others"] = Json::array();
  cell.facts["left_out"] = left_out;
  for (const Row& row : rows) {
    Json other = {{"name", row.contender}, {"status", to_string(row.status)}};
    if (row.timed()) other["median_ms"] = row.median_ms();
    if (!row.reason.empty()) other["reason"] = row.reason;
    cell.facts["others"].push_back(std::move(other));
  }
  std::erase_if(rows, [](const Row& row) { return row.status != Status::wrong; });
  rows.insert(rows.begin(), std::move(cell));
  return rows;
}

std::vector<Row> measure_group(const GridGroup& group, Harness& harness) {
  Problem problem{0, group.base_rows, group.dims, 0, group.metric, 0, false, group.data};
  for (const GridCell& cell : group.cells) problem.queries = std::max(problem.queries, cell.queries);
  const PointSet points(problem, harness.stream());
  std::vector<Row> rows;
  for (const GridCell& cell : group.cells) {
    problem.queries = cell.queries;
    problem.k = cell.k;
    const GridVariants variants = variants_of(problem, harness.free_memory() / 2);
    std::vector<Row> raced = search_rows(points, problem, variants.raced, {.compare_choice = true}, harness);
    for (Row& row : joined(std::move(raced), variants.left_out)) rows.push_back(std::move(row));
  }
  return rows;
}

GridGroup shrunk_group(GridGroup group) {
  group.base_rows = std::min<std::int64_t>(group.base_rows, 600);
  group.dims = std::min<std::int64_t>(group.dims, 64);
  group.cells.resize(1);
  group.cells.front() = {std::min<std::int64_t>(group.cells.front().queries, 20), 10};
  return group;
}

void print_summary(const Harness& harness) {
  struct Tally {
    int cells = 0;
    int near = 0;
    int far = 0;
    int first_near = 0;
    int searches = 0;
    double worst = 0;
    std::string where;
  };
  std::map<std::string, Tally> tallies;
  for (const Row& row : harness.rows) {
    if (!row.facts.contains("ratio")) continue;
    const double ratio = row.facts["ratio"].get<double>();
    for (const std::string& kind : {std::string("all"), row.facts["data"].get<std::string>()}) {
      Tally& tally = tallies[kind];
      ++tally.cells;
      tally.near += ratio <= kGridNear ? 1 : 0;
      tally.far += ratio > kGridFar ? 1 : 0;
      tally.first_near += row.facts.value("first_ratio", ratio) <= kGridNear ? 1 : 0;
      tally.searches += row.facts["searches_before"].get<int>();
      if (ratio > tally.worst) tally.where = fmt::format("{} of {}", row.problem, row.facts["best"].get<std::string>());
      tally.worst = std::max(tally.worst, ratio);
    }
  }
  for (const auto& [kind, tally] : tallies)
    fmt::print(
        "{:<10} {} of {} choices within {:.2f} of the best ({:.1f} %), after {:.1f} searches; first choices {:.1f} %; "
        "{} beyond {:.2f}, worst {:.2f}: {}\n",
        kind, tally.near, tally.cells, kGridNear, 100.0 * tally.near / tally.cells,
        static_cast<double>(tally.searches) / tally.cells, 100.0 * tally.first_near / tally.cells, tally.far, kGridFar,
        tally.worst, tally.where);
}

}  // namespace

Suite grid_suite(const Settings& settings) {
  Suite suite{"search/grid", "the planner's choice against the best of all methods and stages", "", {}, nullptr, {}};
  suite.limits = {.rounds = 9, .budget_ms = 30, .slow_ms = 300, .skip_ms = 100, .samples = 4};
  const std::vector<GridGroup> groups = all_groups();
  const std::size_t step = settings.quick ? 16 : 1;
  for (std::size_t i = 0; i < groups.size(); i += step) {
    if (groups[i].cells.empty() || static_cast<int>(i / step) % settings.parts != settings.part - 1) continue;
    const GridGroup group = settings.quick ? shrunk_group(groups[i]) : groups[i];
    std::string cells;
    for (const GridCell& cell : group.cells)
      cells += fmt::format("{}{} k {}", cells.empty() ? "" : ", ", cell.queries, cell.k);
    suite.cases.push_back({"",
                           fmt::format("{} × {}, {}, {}", group.base_rows, group.dims, kith::to_string(group.metric),
                                       to_string(group.data)),
                           "queries " + cells, [group](Harness& harness) { return measure_group(group, harness); }});
  }
  suite.summarize = print_summary;
  return suite;
}

}  // namespace kith::bench::device::search
