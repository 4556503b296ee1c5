#include "mpi/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/names.hpp"

namespace kith::mpi {
namespace {

constexpr std::array<core::Name<Layout>, 6> kLayouts{{
    {"auto", Layout::automatic},
    {"stationary", Layout::stationary},
    {"replicated", Layout::replicated},
    {"grid", Layout::grid},
    {"ring", Layout::ring},
    {"landmarks", Layout::landmarks},
}};

// So many queries at once keep a search of a shard busy.
constexpr std::int64_t kBatchQueries = 16384;

LayoutCost cost_of(Layout layout) {
  LayoutCost cost;
  cost.layout = layout;
  return cost;
}

std::int64_t largest(const std::vector<std::int64_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

std::int64_t ranks_of(const LayoutFacts& facts) {
  return static_cast<std::int64_t>(facts.rows.size());
}
std::int64_t row_bytes(const LayoutFacts& facts) {
  return facts.dims * facts.element_bytes;
}
std::int64_t list_bytes(const LayoutFacts& facts) {
  return facts.k * (8 + facts.distance_bytes);
}

double ratio(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// A group of grid is `shards` ranks that follow each other; what they hold are columns: ranks at the same place of all
// groups. Stationary is a grid of one group, replicated one of groups of one rank.
struct Grid {
  const LayoutFacts& facts;
  std::int64_t shards;

  std::int64_t column_rows(std::int64_t rank) const {
    std::int64_t rows = 0;
    for (std::int64_t other = rank % shards; other < ranks_of(facts); other += shards) rows += at(facts.rows, other);
    return rows;
  }
  std::int64_t group_queries(std::int64_t rank) const {
    const std::int64_t first = rank / shards * shards;
    std::int64_t queries = 0;
    for (std::int64_t other = first; other < first + shards; ++other) queries += at(facts.queries, other);
    return queries;
  }
  RankTraffic traffic(std::int64_t rank) const {
    const std::int64_t own = at(facts.queries, rank);
    const std::int64_t others = group_queries(rank) - own;
    const std::int64_t rows = at(facts.rows, rank);
    const std::int64_t replicas = ranks_of(facts) / shards;
    return {
        (column_rows(rank) - rows) * row_bytes(facts) + others * row_bytes(facts) +
            (shards - 1) * own * list_bytes(facts),
        (replicas - 1) * rows * row_bytes(facts) + (shards - 1) * own * row_bytes(facts) + others * list_bytes(facts)};
  }
  static std::int64_t at(const std::vector<std::int64_t>& values, std::int64_t rank) {
    return values[static_cast<std::size_t>(rank)];
  }
};

// Queries of two batches; lists of two batches on their way out, of one on its way in.
std::int64_t bytes_per_batch_row(const LayoutFacts& facts, std::int64_t shards) {
  return shards * (2 * row_bytes(facts) + 3 * list_bytes(facts));
}

std::int64_t least_budget(const LayoutFacts& facts) {
  return *std::min_element(facts.budgets.begin(), facts.budgets.end());
}

std::int64_t batch_rows_for(const LayoutFacts& facts, const SearchOptions& how, std::int64_t shards,
                            std::int64_t fixed_bytes, std::int64_t bytes_of_row) {
  const std::int64_t most = std::max<std::int64_t>(1, largest(facts.queries));
  if (how.batch_rows > 0) return std::min(how.batch_rows, most);
  const std::int64_t left = least_budget(facts) - fixed_bytes;
  return std::clamp<std::int64_t>(std::min(kBatchQueries / shards, left / std::max<std::int64_t>(1, bytes_of_row)), 1,
                                  most);
}

void add_seconds(LayoutCost& cost, const LayoutFacts& facts, double pairs, double messages) {
  cost.search_seconds = pairs * facts.seconds_per_pair;
  cost.exchange_seconds =
      static_cast<double>(cost.received_bytes) / facts.link_bytes_per_second + messages * facts.message_seconds;
}

void add_traffic(LayoutCost& cost, const LayoutFacts& facts) {
  for (std::int64_t rank = 0; rank < ranks_of(facts); ++rank) {
    const std::int64_t received = traffic_of(cost.layout, facts, cost.replicas, rank).received;
    cost.received_bytes = std::max(cost.received_bytes, received);
    cost.total_bytes += received;
  }
}

LayoutCost grid_cost(Layout layout, const LayoutFacts& facts, const SearchOptions& how, std::int64_t replicas) {
  const std::int64_t shards = ranks_of(facts) / replicas;
  const Grid grid{facts, shards};
  LayoutCost cost = cost_of(layout);
  cost.replicas = static_cast<int>(replicas);
  std::int64_t copy = 0;
  double pairs = 0;
  for (std::int64_t rank = 0; rank < ranks_of(facts); ++rank) {
    const std::int64_t rows = grid.column_rows(rank);
    const std::int64_t ids = shards > 1 ? 8 : 0;
    if (replicas > 1) copy = std::max(copy, rows * (row_bytes(facts) + ids));
    pairs = std::max(pairs, static_cast<double>(rows) * static_cast<double>(grid.group_queries(rank)));
  }
  const std::int64_t each = shards > 1 ? bytes_per_batch_row(facts, shards) : 0;
  std::int64_t batches = 0;
  if (shards > 1) {
    cost.batch_rows = batch_rows_for(facts, how, shards, copy, each);
    batches = (largest(facts.queries) + cost.batch_rows - 1) / cost.batch_rows;
  }
  cost.memory_bytes = copy + cost.batch_rows * each;
  add_traffic(cost, facts);
  add_seconds(cost, facts, pairs, static_cast<double>(batches) * std::sqrt(static_cast<double>(shards)));
  return cost;
}

std::vector<std::int64_t> divisors(std::int64_t ranks) {
  std::vector<std::int64_t> between;
  for (std::int64_t replicas = 2; replicas < ranks; ++replicas)
    if (ranks % replicas == 0) between.push_back(replicas);
  return between;
}

LayoutCost grid_cost(const LayoutFacts& facts, const SearchOptions& how) {
  if (how.replicas > 0) return grid_cost(Layout::grid, facts, how, how.replicas);
  const std::vector<std::int64_t> possible = divisors(ranks_of(facts));
  if (possible.empty()) {
    LayoutCost none = cost_of(Layout::grid);
    none.problem = fmt::format("{} ranks make no groups of equal size", ranks_of(facts));
    return none;
  }
  LayoutCost cost = grid_cost(Layout::grid, facts, how, possible.front());
  for (const std::int64_t replicas : possible) {
    const LayoutCost other = grid_cost(Layout::grid, facts, how, replicas);
    if (other.memory_bytes <= least_budget(facts)) cost = other;
  }
  return cost;
}

LayoutCost ring_cost(const LayoutFacts& facts) {
  LayoutCost cost = cost_of(Layout::ring);
  // Two slots for rows that travel, and the lists before and after a step.
  cost.memory_bytes = (ranks_of(facts) > 1 ? 2 : 0) * largest(facts.rows) * row_bytes(facts) +
                      largest(facts.queries) * list_bytes(facts);
  add_traffic(cost, facts);
  // All wait for the slowest of each step.
  double pairs = 0;
  for (std::int64_t step = 0; step < ranks_of(facts); ++step) {
    double slowest = 0;
    for (std::int64_t rank = 0; rank < ranks_of(facts); ++rank)
      slowest = std::max(slowest, static_cast<double>(Grid::at(facts.queries, rank)) *
                                      static_cast<double>(Grid::at(facts.rows, (rank + step) % ranks_of(facts))));
    pairs += slowest;
  }
  add_seconds(cost, facts, pairs, static_cast<double>(ranks_of(facts) - 1));
  return cost;
}

LayoutCost landmarks_cost(const LayoutFacts& facts, const SearchOptions& how) {
  LayoutCost cost = cost_of(Layout::landmarks);
  if (!facts.no_bounds.empty()) {
    cost.problem = facts.no_bounds;
    return cost;
  }
  const std::int64_t ranks = ranks_of(facts);
  const auto p = static_cast<double>(ranks);
  const std::int64_t part = (sum(facts.rows) + ranks - 1) / ranks;
  const double asked = std::min(p, parts_touched(part, facts.dims, facts.k));  // ranks of a query
  const auto row = static_cast<double>(row_bytes(facts));
  const auto list = static_cast<double>(list_bytes(facts));
  const double away = (p - 1) / p;
  const double queries = static_cast<double>(sum(facts.queries)) / p;
  const double moved = static_cast<double>(part) * (row + 8) * away + queries * away * (row + list) +
                       queries * (asked - 1) * (row + 2 * list);
  cost.received_bytes = static_cast<std::int64_t>(moved);
  cost.total_bytes = static_cast<std::int64_t>(moved * p);
  const std::int64_t each = 4 * (row_bytes(facts) + 2 * list_bytes(facts));
  const std::int64_t copy = 2 * part * (row_bytes(facts) + 8);  // that which is sent, and that which is received
  cost.batch_rows = batch_rows_for(facts, how, 1, copy, each);
  cost.memory_bytes = copy + cost.batch_rows * each;
  const double batches = std::ceil(ratio(largest(facts.queries), cost.batch_rows));
  add_seconds(cost, facts, queries * asked * static_cast<double>(part), 4 * batches * std::sqrt(p));
  return cost;
}

std::string seconds_text(const LayoutCost& cost) {
  return fmt::format("{:.3g} s search + {:.3g} s exchange", cost.search_seconds, cost.exchange_seconds);
}

void check(const LayoutFacts& facts, const SearchOptions& how) {
  if (facts.rows.empty() || facts.queries.size() != facts.rows.size() || facts.budgets.size() != facts.rows.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows of {} ranks, queries of {} and budgets of {}; each rank needs all three",
                            facts.rows.size(), facts.queries.size(), facts.budgets.size()));
  if (how.batch_rows < 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("batch_rows = {}; it must be 0 or more", how.batch_rows));
  if (how.replicas < 0 || (how.replicas > 0 && ranks_of(facts) % how.replicas != 0))
    throw Error(ErrorCode::invalid_argument, fmt::format("replicas = {} but there are {} ranks, which it must divide",
                                                         how.replicas, ranks_of(facts)));
}

// Which rank has too little for a cost, or −1.
std::int64_t too_poor(const LayoutFacts& facts, const LayoutCost& cost) {
  for (std::int64_t rank = 0; rank < ranks_of(facts); ++rank)
    if (Grid::at(facts.budgets, rank) < cost.memory_bytes) return rank;
  return -1;
}

double total_seconds(const LayoutCost& cost) {
  return cost.search_seconds + cost.exchange_seconds;
}

}  // namespace

const char* to_string(Layout layout) noexcept {
  return core::name_of(kLayouts, layout);
}

Layout parse_layout(std::string_view name) {
  return core::parse_name(kLayouts, "layout", name);
}

std::vector<std::string> layout_names() {
  std::vector<std::string> names;
  for (const auto& [name, layout] : kLayouts)
    if (layout != Layout::automatic) names.emplace_back(name);
  return names;
}

double parts_touched(std::int64_t rows, std::int64_t dims, std::int64_t k) {
  const auto d = static_cast<double>(dims);
  // The radius of the ball that holds k of `rows` points in a cube of side 1.
  const double unit_ball = d / 2 * std::log(std::numbers::pi) - std::lgamma(d / 2 + 1);
  const double radius = std::exp((std::log(ratio(k, std::max<std::int64_t>(1, rows))) - unit_ball) / d);
  return std::pow(1 + 2 * radius, d);
}

RankTraffic traffic_of(Layout layout, const LayoutFacts& facts, int replicas, std::int64_t rank) {
  const std::int64_t ranks = ranks_of(facts);
  if (layout == Layout::ring) {
    const std::int64_t others = sum(facts.rows) - Grid::at(facts.rows, rank);
    const std::int64_t passed_on = sum(facts.rows) - Grid::at(facts.rows, (rank + ranks - 1) % ranks);
    return {others * row_bytes(facts), ranks == 1 ? 0 : passed_on * row_bytes(facts)};
  }
  const std::int64_t groups = layout == Layout::replicated ? ranks : layout == Layout::grid ? replicas : 1;
  return Grid{facts, ranks / groups}.traffic(rank);
}

LayoutPlan explain(const LayoutFacts& facts, const SearchOptions& how) {
  check(facts, how);
  LayoutPlan plan;
  plan.layouts = {grid_cost(Layout::stationary, facts, how, 1),
                  grid_cost(Layout::replicated, facts, how, ranks_of(facts)), grid_cost(facts, how), ring_cost(facts),
                  landmarks_cost(facts, how)};
  const LayoutCost* least = nullptr;  // of memory
  for (LayoutCost& cost : plan.layouts) {
    if (!cost.problem.empty()) continue;
    if (least == nullptr || cost.memory_bytes < least->memory_bytes) least = &cost;
    const std::int64_t rank = too_poor(facts, cost);
    if (rank >= 0)
      cost.problem = fmt::format("rank {} may take {} bytes but {} are needed", rank, Grid::at(facts.budgets, rank),
                                 cost.memory_bytes);
  }
  if (how.layout != Layout::automatic) {
    const auto index = static_cast<std::size_t>(how.layout) - 1;
    plan.chosen = plan.layouts[index];
    plan.reason = fmt::format("layout {} was asked for", to_string(how.layout));
    if (!plan.chosen.problem.empty()) {
      const bool memory = plan.chosen.memory_bytes > least_budget(facts);
      throw Error(memory ? ErrorCode::out_of_memory : ErrorCode::invalid_argument,
                  fmt::format("layout {}: {}", to_string(how.layout), plan.chosen.problem));
    }
    return plan;
  }
  const LayoutCost* best = nullptr;
  for (const LayoutCost& cost : plan.layouts)
    if (cost.problem.empty() && (best == nullptr || total_seconds(cost) < total_seconds(*best))) best = &cost;
  if (best == nullptr)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{}; layout {} needs least", least->problem, to_string(least->layout)));
  plan.chosen = *best;
  plan.reason = fmt::format("least time of the layouts that fit: {}", seconds_text(*best));
  return plan;
}

std::string to_string(const LayoutPlan& plan) {
  std::string text = fmt::format("layout {} ({})\n{:<11} {:>8} {:>10} {:>16} {:>16} {:>10} {:>10}\n",
                                 to_string(plan.chosen.layout), plan.reason, "layout", "replicas", "batch",
                                 "bytes into a rank", "memory of a rank", "search s", "exchange s");
  for (const LayoutCost& cost : plan.layouts)
    text += fmt::format("{:<11} {:>8} {:>10} {:>16} {:>16} {:>10.3g} {:>10.3g} {}\n", to_string(cost.layout),
                        cost.replicas, cost.batch_rows, cost.received_bytes, cost.memory_bytes, cost.search_seconds,
                        cost.exchange_seconds, cost.problem);
  return text;
}

}  // namespace kith::mpi
