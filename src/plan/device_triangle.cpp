// device_triangle.cpp: method triangle on a device.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/limit.hpp"
#include "core/sizes.hpp"
#include "core/triangle_limits.hpp"
#include "core/triangle_sample.hpp"
#include "kith/error.hpp"
#include "plan/device_costs.hpp"
#include "plan/device_plans.hpp"

namespace kith::plan {
namespace {

// The adaptive scheme of Chen et al.
struct Adaptive {
  static constexpr std::int64_t kPartialFrom = 8;  // k / dims above it: partial filtering
  static constexpr std::int64_t kRegisters = 255;  // of a thread
  static constexpr double kConflicts = 0.25;       // r: the fraction of all threads that fit which are of use
};

constexpr std::int64_t kFewestLandmarks = 16;
constexpr std::int64_t kWorkspaceLeast = std::int64_t{1} << 16;

// The paper's 3 √n; where distances are dear, and queries not few, twice as many rule out more than they cost.
std::int64_t landmarks(std::int64_t asked, std::int64_t points, const Problem& problem) {
  constexpr std::int64_t kManyDims = 24;
  const bool more = problem.dims >= kManyDims && 2 * problem.queries >= problem.base_rows;
  const auto usual = static_cast<std::int64_t>((more ? 6 : 3) * std::sqrt(static_cast<double>(points)));
  return std::clamp<std::int64_t>(asked > 0 ? asked : usual, 1, points);
}

// A padded row, its length, number and cluster; while clusters are made, keys that are sorted beside them.
std::int64_t cluster_bytes(const Problem& problem) {
  const std::int64_t width = (problem.dims + 3) / 4 * 4;
  return width * core::element_bytes(problem) + 16;
}
constexpr std::int64_t kClusterSortBytes = 41;

// Level 1 has a row of this size for each query cluster, at least one.
std::int64_t row_bytes(std::int64_t base_landmarks) {
  return base_landmarks * 12 + 64;
}

// As the kernels would say it.
void require_possible(const TriangleTuning& tuning, const Problem& problem, const core::DeviceHardware& hardware) {
  if (tuning.form != TriangleForm::sweet_knn)
    return require_within("method triangle, form interval-scan", "threads_per_query", tuning.threads_per_query, 0,
                          core::kMaxIntervalScanThreads);
  constexpr const char* kName = "method triangle, form sweet-knn";
  require_within(kName, "threads_per_query", tuning.threads_per_query, 0, core::kMaxSweetKnnThreads);
  if (tuning.filter == TriangleFilter::partial) return;
  if (tuning.placement == TrianglePlacement::registers)
    require_within(kName, "k of neighbors in registers", problem.k, 1, core::kMaxRegisterList);
  if (tuning.placement == TrianglePlacement::shared)
    require_within(kName, "k of neighbors in shared memory", problem.k, 1,
                   core::max_shared_list(2 * core::element_bytes(problem), hardware.shared_per_block));
}

// What form sweet-knn does where nobody says so (Chen et al., section IV-D and figure 8).
TriangleTuning adapt_sweet_knn(const TriangleTuning& asked, const Problem& problem,
                               const core::DeviceHardware& hardware) {
  TriangleTuning tuning = asked;
  if (tuning.filter == TriangleFilter::automatic)
    tuning.filter = problem.k > Adaptive::kPartialFrom * problem.dims ? TriangleFilter::partial : TriangleFilter::full;
  if (tuning.placement == TrianglePlacement::automatic) {
    // A neighbor is a key with its number.
    const std::int64_t bytes = problem.k * 2 * core::element_bytes(problem);
    const std::int64_t shared = hardware.shared_per_multiprocessor / hardware.threads_per_multiprocessor;
    const std::int64_t registers = Adaptive::kRegisters * 4;
    const bool in_registers = bytes < registers && problem.k <= core::kMaxRegisterList;
    tuning.placement = bytes <= shared ? TrianglePlacement::shared
                       : in_registers  ? TrianglePlacement::registers
                                       : TrianglePlacement::global;
  }
  if (tuning.threads_per_query == 0) {
    const double threads =
        Adaptive::kConflicts * static_cast<double>(hardware.threads_per_multiprocessor * hardware.multiprocessors);
    const double each = threads / static_cast<double>(std::max<std::int64_t>(problem.queries, 1));
    tuning.threads_per_query = std::clamp(static_cast<int>(each), 1, static_cast<int>(core::kMaxSweetKnnThreads));
  }
  return tuning;
}

}  // namespace

Plan plan_device_triangle(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  Plan plan = begin_device_plan(problem, options, facts);
  plan.method = Method::triangle;
  plan.distance = DistanceStage::direct;
  plan.select = SelectMethod::automatic;
  plan.statistics = options.statistics;
  plan.triangle = options.triangle;
  if (plan.triangle.form == TriangleForm::automatic) plan.triangle.form = TriangleForm::interval_scan;
  if (plan.triangle.form == TriangleForm::sweet_knn)
    plan.triangle = adapt_sweet_knn(plan.triangle, problem, facts.policy.hardware);
  require_possible(plan.triangle, problem, facts.policy.hardware);
  plan.triangle.base_landmarks = landmarks(options.triangle.base_landmarks, problem.base_rows, problem);
  plan.base_tile = problem.base_rows;
  plan.candidates = problem.k;

  const double n = static_cast<double>(problem.base_rows);
  const double centers = static_cast<double>(plan.triangle.base_landmarks * cluster_bytes(problem));
  const double base = centers + n * (point_bytes(problem, options, facts.policy) +
                                     static_cast<double>(cluster_bytes(problem) + kClusterSortBytes));
  const double left = static_cast<double>(plan.budget_bytes) - base;
  // The points alone may take half of it.
  const double least =
      std::max(base + static_cast<double>(kWorkspaceLeast), 2 * n * point_bytes(problem, options, facts.policy));
  if (static_cast<double>(plan.budget_bytes) < least)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a memory budget of {} bytes is too small for method triangle: {} points of {} dimensions "
                            "and their clusters need at least {:.0f} bytes",
                            plan.budget_bytes, problem.base_rows, problem.dims, least));
  plan.workspace_bytes = static_cast<std::int64_t>(left / 2);
  while (options.triangle.base_landmarks == 0 && plan.triangle.base_landmarks > kFewestLandmarks &&
         row_bytes(plan.triangle.base_landmarks) > plan.workspace_bytes / 4)
    plan.triangle.base_landmarks /= 2;
  plan.query_block = std::clamp<std::int64_t>(plan.workspace_bytes / 2 / (cluster_bytes(problem) + kClusterSortBytes),
                                              1, problem.queries);
  plan.triangle.query_landmarks = landmarks(options.triangle.query_landmarks, plan.query_block, problem);
  plan.seconds = triangle_seconds(facts.profile, problem, options.metric, plan.triangle, core::kUsualSurvivors.points);
  plan.reason = "method triangle asked for by name";
  return plan;
}

}  // namespace kith::plan
