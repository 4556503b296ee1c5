// shifted_sort.cpp: plans of method shifted-sort, on the CPU and on a device.
#include "plan/shifted_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "core/curve_shifts.hpp"
#include "core/key.hpp"
#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/cpu_plans.hpp"
#include "plan/cpu_threads.hpp"
#include "plan/device_plans.hpp"

namespace kith::plan {
namespace {

constexpr int kMostShifts = 32;  // a lane of a warp each
constexpr double kUsualShift = 0.05;
constexpr double kLeastExtent = 0.1;  // below, the shifts take nearly all of the codes' range
constexpr std::int64_t kLargestDeviceList = 1024;
constexpr std::int64_t kLargestGlobalMemoryList = 512;
constexpr std::int64_t kSide = 16;  // candidates that half a warp takes on one side of a query at once
constexpr std::int64_t kLargestBatch = 1 << 24;

bool has_form(core::Form form) {
  return form == core::Form::squared || form == core::Form::absolute || form == core::Form::maximum;
}

ShiftedSortTuning decide(const Problem& problem, const ShiftedSortTuning& asked, Backend backend) {
  ShiftedSortTuning tuning = asked;
  const bool on_cpu = backend == Backend::cpu;
  if (tuning.curve == Curve::automatic) tuning.curve = on_cpu ? Curve::morton : Curve::hilbert;
  if (tuning.guaranteed) {
    tuning.shifts = static_cast<int>(2 * ((problem.dims + 1) / 2) + 1);
    tuning.shift = core::kGuaranteedExtent / tuning.shifts;
  } else if (tuning.shift == 0) {
    tuning.shift = kUsualShift;
    if (tuning.shifts > 1) tuning.shift = std::min(kUsualShift, (1 - core::kGuaranteedExtent) / (tuning.shifts - 1));
  }
  if (tuning.merge == CurveMerge::automatic && !on_cpu) tuning.merge = CurveMerge::warp;
  if (tuning.positions == CurvePositions::automatic) tuning.positions = CurvePositions::search;
  if (tuning.merge == CurveMerge::global_memory) {
    tuning.window = problem.k;
  } else if (tuning.window == 0) {
    tuning.window = (problem.k + kSide - 1) / kSide * kSide;
  }
  tuning.window = std::min(std::max(tuning.window, problem.k), problem.base_rows);
  return tuning;
}

[[noreturn]] void refuse_budget(const Plan& plan, std::int64_t needed) {
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("a memory budget of {} bytes is too small for method shifted-sort: {} orders of {} points of "
                  "{} dimensions and a query need at least {} bytes",
                  plan.budget_bytes, plan.shifted_sort.shifts, plan.problem.base_rows, plan.problem.dims, needed));
}

// Completes a plan that has what every method has.
void plan_orders(Plan& plan, const Options& options) {
  check_shifted_sort(options, plan.problem.dims);
  plan.method = Method::shifted_sort;
  plan.distance = DistanceStage::direct;
  plan.select = SelectMethod::curve;
  plan.approximate = true;
  plan.statistics = options.statistics;
  plan.shifted_sort = decide(plan.problem, options.shifted_sort, plan.backend);
  plan.base_tile = plan.problem.base_rows;
  plan.candidates = plan.shifted_sort.shifts * std::min(2 * plan.shifted_sort.window, plan.problem.base_rows);
  plan.reason = "method shifted-sort asked for by name";
}

// As many queries at a time as the budget has room for beside what all of them need.
void fit_batch(Plan& plan, std::int64_t fixed_bytes, std::int64_t query_bytes) {
  const std::int64_t room = (plan.budget_bytes - fixed_bytes) / query_bytes;
  if (plan.budget_bytes < fixed_bytes || room < 1) refuse_budget(plan, fixed_bytes + query_bytes);
  plan.query_block = std::min({plan.problem.queries, room, kLargestBatch});
}

// Seconds by what it takes to sort a point and to look at a candidate.
double sorting_seconds(const Plan& plan, double sorted, double candidate) {
  const auto orders = static_cast<double>(plan.shifted_sort.shifts);
  return static_cast<double>(plan.problem.base_rows) * orders * sorted +
         static_cast<double>(plan.problem.queries) * (sorted + static_cast<double>(plan.candidates) * candidate);
}

}  // namespace

void check_shifted_sort(const Options& options, std::int64_t dims) {
  const ShiftedSortTuning& tuning = options.shifted_sort;
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::invalid_argument, text); };
  if (!has_form(core::form_of(options.metric)))
    refuse(fmt::format("method shifted-sort cannot search by {}; it has euclidean, sqeuclidean, manhattan, chebyshev",
                       to_string(options.metric)));
  if (dims > core::kMaxCurveDims)
    refuse(fmt::format("{} dimensions; method shifted-sort takes 1 to {}", dims, core::kMaxCurveDims));
  if (options.distance != DistanceStage::automatic || options.select != SelectMethod::automatic)
    refuse(fmt::format("method shifted-sort has no stages to choose; distance '{}' and selection '{}' were asked for",
                       to_string(options.distance), to_string(options.select)));
  if (tuning.shifts < 1 || tuning.shifts > kMostShifts)
    refuse(fmt::format("shifted_sort.shifts = {}; 1 to {} are allowed", tuning.shifts, kMostShifts));
  if (!(tuning.shift >= 0) || 1 - (tuning.shifts - 1) * tuning.shift < kLeastExtent)
    refuse(fmt::format("shifted_sort.shift = {}: {} shifts must take from 0 to {} of the cube together", tuning.shift,
                       tuning.shifts, 1 - kLeastExtent));
  if (tuning.window < 0 || tuning.window > std::numeric_limits<std::int32_t>::max())
    refuse(fmt::format("shifted_sort.window = {}; 0 (the method's choice) to {} are allowed", tuning.window,
                       std::numeric_limits<std::int32_t>::max()));
}

Plan plan_cpu_shifted_sort(const Problem& problem, const Options& options, const core::CpuFacts& facts) {
  constexpr std::int64_t kMostPoints = std::numeric_limits<std::int32_t>::max();
  constexpr double kSortedSeconds = 6e-8;
  constexpr double kCandidateSeconds = 8e-9;
  constexpr double kCertifySeconds = 2e-6;
  if (options.shifted_sort.merge != CurveMerge::automatic)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("shifted_sort.merge = '{}' is for devices; backend cpu has one way to merge",
                            to_string(options.shifted_sort.merge)));
  if (options.shifted_sort.positions == CurvePositions::sort)
    throw Error(ErrorCode::invalid_argument,
                "shifted_sort.positions = 'sort' is for devices; backend cpu finds positions by search");
  if (problem.base_rows > kMostPoints)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} base points; method shifted-sort takes at most {}", problem.base_rows, kMostPoints));
  Plan plan = begin_cpu_plan(problem, options, facts);
  plan_orders(plan, options);
  double seconds = sorting_seconds(plan, kSortedSeconds, kCandidateSeconds);
  if (plan.shifted_sort.certify) seconds += static_cast<double>(problem.queries) * kCertifySeconds;
  set_threads(plan, options, facts, seconds);
  const std::int64_t code = 8 * core::code_shape(static_cast<int>(problem.dims)).words;
  const std::int64_t point = problem.dims * core::element_bytes(problem);
  // Orders: codes, ids and points; two more codes and ids while a thread sorts; lists and candidates of a thread.
  const std::int64_t orders = plan.shifted_sort.shifts * problem.base_rows * (code + 4 + point);
  const std::int64_t sorting = std::min(plan.threads, plan.shifted_sort.shifts) * problem.base_rows * (code + 4);
  const std::int64_t lists = plan.threads * (problem.k + 2 * plan.shifted_sort.window) * 40;
  const std::int64_t query = 2 * (code + 4);
  fit_batch(plan, orders + sorting + lists, query);
  plan.workspace_bytes = orders + sorting + lists + plan.query_block * query;
  plan.seconds = seconds / plan.threads;
  return plan;
}

Plan plan_device_shifted_sort(const Problem& problem, const Options& options, const core::DeviceFacts& facts) {
  const bool in_memory = options.shifted_sort.merge == CurveMerge::global_memory;
  const std::int64_t limit = in_memory ? kLargestGlobalMemoryList : kLargestDeviceList;
  if (problem.k > limit)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("k = {}; method shifted-sort{} takes at most {} on a device", problem.k,
                            in_memory ? " with merge global-memory" : "", limit));
  Plan plan = begin_device_plan(problem, options, facts);
  plan_orders(plan, options);
  const std::int64_t element = core::element_bytes(problem);
  const std::int64_t code = 8 * core::code_shape(static_cast<int>(problem.dims)).words;
  const std::int64_t point = (problem.dims <= 3 ? 4 : problem.dims <= 7 ? 8 : 20) * element;
  const std::int64_t base = problem.base_rows * (problem.dims * element + 24);
  // CUB's storage is small beside its second buffers; so are pieces that are rounded up.
  constexpr std::int64_t kRounding = std::int64_t{16} << 20;
  constexpr double kPicosecond = 1e12;
  const double sorted_seconds = static_cast<double>(facts.policy.sorted_picoseconds) / kPicosecond;
  const double candidate_seconds = static_cast<double>(facts.policy.curve_candidate_picoseconds) / kPicosecond;
  const std::int64_t query =
      2 * code + 16 + point + 4 * plan.shifted_sort.shifts + (in_memory ? problem.k * (element == 8 ? 16 : 8) : 0);
  plan.seconds = sorting_seconds(plan, sorted_seconds, candidate_seconds);
  if (plan.shifted_sort.positions == CurvePositions::sort) {
    // The points in their orders are of a batch here. Of a code and an id, two each and a count while they are sorted.
    const std::int64_t entry = 2 * code + 16;
    const std::int64_t points = problem.base_rows * (plan.shifted_sort.shifts * point + entry) + kRounding;
    fit_batch(plan, base + points, query + entry);
    plan.workspace_bytes = points + plan.query_block * (query + entry);
    const std::int64_t again = (problem.queries - 1) / plan.query_block * problem.base_rows + problem.queries;
    plan.seconds += static_cast<double>(again * plan.shifted_sort.shifts) * sorted_seconds;
    return plan;
  }
  const std::int64_t orders = plan.shifted_sort.shifts * problem.base_rows * (code + point);
  const std::int64_t sorting = problem.base_rows * (code + 12) + kRounding;
  fit_batch(plan, base + orders + sorting, query);
  plan.workspace_bytes = std::max(sorting, plan.query_block * query + kRounding);
  return plan;
}

}  // namespace kith::plan
