// device_tree.cpp: method tree on a device.
#include <fmt/format.h>

#include <algorithm>

#include "core/periodic.hpp"
#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/cpu_costs.hpp"
#include "plan/device_costs.hpp"
#include "plan/device_plans.hpp"

namespace kith::plan {
namespace {

constexpr std::int64_t kMostOrdered = std::int64_t{1} << 24;
// Pieces that are rounded up, and CUB's storage for a sort: a kibibyte for some four thousand elements.
constexpr std::int64_t kTreeRounding = std::int64_t{1} << 20;
constexpr std::int64_t kSortBytes = 1;

// The tree itself: points, ids and boxes.
std::int64_t tree_bytes(const Problem& problem) {
  const std::int64_t leaves = problem.base_rows / core::TreeLimits::kLeaf + 1;
  const std::int64_t row = problem.dims * core::element_bytes(problem);
  const std::int64_t boxes = leaves + leaves / 31 + 6 * core::TreeLimits::kLeaf;
  return leaves * core::TreeLimits::kLeaf * (row + 4) + boxes * (2 * row + 8);
}

// What a point takes while the tree is made: a sort key and its number, twice, and its coordinates in the frame of
// periodic axes.
std::int64_t making_bytes(const Problem& problem, bool is_periodic) {
  const std::int64_t element = core::element_bytes(problem);
  return 2 * (2 * element + 4) + kSortBytes + (is_periodic ? problem.dims * element : 0);
}

// A query's leaf and number, twice while they are sorted.
constexpr std::int64_t kOrderedQueryBytes = 2 * (8 + 4) + kSortBytes;

// A hit of a radius search: (key, point, query) twice while they are sorted, distance and id.
std::int64_t hit_bytes(const Problem& problem) {
  const std::int64_t element = core::element_bytes(problem);
  return 2 * (element + 8) + element + 4 + kSortBytes;
}
constexpr std::int64_t kRadiusQueryBytes = 12;  // the count and the offset

}  // namespace

Plan plan_device_tree(const Problem& problem, const Options& options, const core::DeviceFacts& facts, bool has_tree) {
  const bool lists_hits = problem.k == 0;
  const bool is_periodic = core::is_periodic(options.period);
  if (is_periodic && problem.dims > core::TreeLimits::kMostPeriodicDims)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a period and {} dimensions; backend {} takes at most {} with one, backend cpu any number",
                            problem.dims, to_string(facts.backend), core::TreeLimits::kMostPeriodicDims));
  Plan plan = begin_device_plan(problem, options, facts);
  plan.method = Method::tree;
  plan.period = options.period;
  plan.statistics = options.statistics;
  if (!lists_hits) set_limits(plan, {options.max_distance, options.epsilon});
  plan.distance = DistanceStage::direct;
  plan.select = lists_hits ? SelectMethod::radius : SelectMethod::automatic;
  plan.base_tile = problem.base_rows;
  const double points = static_cast<double>(problem.base_rows) * point_bytes(problem, options, facts.policy);
  const double base = points + static_cast<double>(tree_bytes(problem));
  const std::int64_t making = problem.base_rows * making_bytes(problem, is_periodic);
  const std::int64_t query = kOrderedQueryBytes + (lists_hits ? kRadiusQueryBytes : 0);
  const std::int64_t least_work = kTreeRounding + std::max(making, query + (lists_hits ? hit_bytes(problem) : 0));
  // The points alone may take half of the budget.
  const double least = std::max(base + static_cast<double>(least_work), 2 * points);
  if (static_cast<double>(plan.budget_bytes) < least)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a memory budget of {} bytes is too small for method tree: {} points of {} dimensions and "
                            "their boxes need at least {:.0f} bytes",
                            plan.budget_bytes, problem.base_rows, problem.dims, least));
  plan.workspace_bytes = plan.budget_bytes - static_cast<std::int64_t>(base);
  const std::int64_t free_bytes = plan.workspace_bytes - kTreeRounding;
  const std::int64_t room = lists_hits ? free_bytes / 4 : free_bytes;
  plan.query_block = std::clamp<std::int64_t>(room / query, 1, std::min(problem.queries, kMostOrdered));
  plan.candidates = problem.k;
  if (lists_hits)
    plan.candidates = std::max<std::int64_t>(1, (free_bytes - plan.query_block * query) / hit_bytes(problem));
  plan.seconds = tree_seconds(facts, problem, options.metric, has_tree);
  plan.reason = options.method == Method::automatic ? "periodic axes" : "method tree asked for by name";
  return plan;
}

}  // namespace kith::plan
