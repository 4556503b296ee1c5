#include "plan/shifted_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "core/curve_shifts.hpp"
#include "core/key.hpp"
#include "kith/error.hpp"

namespace kith::plan {
namespace {

constexpr int kMostShifts = 32;  // a lane of a warp each
constexpr double kUsualShift = 0.05;
constexpr double kLeastExtent = 0.1;  // below, the shifts take nearly all of the codes' range
constexpr std::int64_t kLargestDeviceList = 1024;
constexpr std::int64_t kLargestPaperList = 512;
constexpr std::int64_t kSide = 16;  // candidates that half a warp takes on one side of a query at once
constexpr std::int64_t kLargestBatch = 1 << 24;

bool has_form(core::Form form) {
  return form == core::Form::squared || form == core::Form::absolute || form == core::Form::maximum;
}

ShiftedSortTuning decide(const Problem& problem, const Options& options, Backend backend, bool paper) {
  ShiftedSortTuning tuning = options.shifted_sort;
  if (tuning.curve == "auto") tuning.curve = backend == Backend::cpu ? "morton" : "hilbert";
  if (tuning.guaranteed) {
    tuning.shifts = static_cast<int>(2 * ((problem.dims + 1) / 2) + 1);
    tuning.shift = core::kGuaranteedExtent / tuning.shifts;
  } else if (tuning.shift == 0) {
    tuning.shift = kUsualShift;
    if (tuning.shifts > 1) tuning.shift = std::min(kUsualShift, (1 - core::kGuaranteedExtent) / (tuning.shifts - 1));
  }
  tuning.merge = paper ? "paper" : "warp";
  if (tuning.places == "auto") tuning.places = "search";
  if (paper) {
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
                  "{} dimensions and a query need {} bytes",
                  plan.budget_bytes, plan.shifted_sort.shifts, plan.problem.base_rows, plan.problem.dims, needed));
}

}  // namespace

Plan shifted_plan(const Problem& problem, const Options& options, Backend backend, bool paper) {
  check_shifted_sort(options, problem.dims);
  Plan plan;
  plan.problem = problem;
  plan.metric = options.metric;
  plan.backend = backend;
  plan.method = Method::shifted_sort;
  plan.distance = "direct";
  plan.select = "curve";
  plan.approximate = true;
  plan.statistics = options.statistics;
  plan.shifted_sort = decide(problem, options, backend, paper);
  plan.base_tile = problem.base_rows;
  plan.candidates = plan.shifted_sort.shifts * std::min(2 * plan.shifted_sort.window, problem.base_rows);
  plan.reason = "method shifted-sort asked for by name";
  return plan;
}

void fit_batch(Plan& plan, std::int64_t fixed_bytes, std::int64_t query_bytes) {
  const std::int64_t room = (plan.budget_bytes - fixed_bytes) / query_bytes;
  if (plan.budget_bytes < fixed_bytes || room < 1) refuse_budget(plan, fixed_bytes + query_bytes);
  plan.query_block = std::min({plan.problem.queries, room, kLargestBatch});
}

double shifted_seconds(const Plan& plan, double sorted, double candidate) {
  const auto orders = static_cast<double>(plan.shifted_sort.shifts);
  return static_cast<double>(plan.problem.base_rows) * orders * sorted +
         static_cast<double>(plan.problem.queries) * (sorted + static_cast<double>(plan.candidates) * candidate);
}

void check_shifted_sort(const Options& options, std::int64_t dims) {
  const ShiftedSortTuning& tuning = options.shifted_sort;
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::invalid_argument, text); };
  if (!has_form(core::form_of(options.metric)))
    refuse(fmt::format("method shifted-sort cannot search by {}; it has euclidean, sqeuclidean, manhattan, chebyshev",
                       to_string(options.metric)));
  if (dims > core::kMaxCurveDims)
    refuse(fmt::format("{} dimensions; method shifted-sort takes 1 to {}", dims, core::kMaxCurveDims));
  if (options.distance != "auto" || options.select != "auto")
    refuse(fmt::format("method shifted-sort has no stages to choose; distance '{}' and selection '{}' were asked for",
                       options.distance, options.select));
  if (tuning.shifts < 1 || tuning.shifts > kMostShifts)
    refuse(fmt::format("shifted_sort.shifts = {}; 1 to {} are allowed", tuning.shifts, kMostShifts));
  if (!(tuning.shift >= 0) || 1 - (tuning.shifts - 1) * tuning.shift < kLeastExtent)
    refuse(fmt::format("shifted_sort.shift = {}: {} shifts must take from 0 to {} of the cube together", tuning.shift,
                       tuning.shifts, 1 - kLeastExtent));
  if (tuning.window < 0 || tuning.window > std::numeric_limits<std::int32_t>::max())
    refuse(fmt::format("shifted_sort.window = {}; 0 (the method's choice) to {} are allowed", tuning.window,
                       std::numeric_limits<std::int32_t>::max()));
  if (tuning.curve != "auto" && tuning.curve != "morton" && tuning.curve != "hilbert")
    refuse(fmt::format("shifted_sort.curve = '{}'; known are auto, morton, hilbert", tuning.curve));
  if (tuning.merge != "auto" && tuning.merge != "warp" && tuning.merge != "paper")
    refuse(fmt::format("shifted_sort.merge = '{}'; known are auto, warp, paper", tuning.merge));
  if (tuning.places != "auto" && tuning.places != "search" && tuning.places != "sort")
    refuse(fmt::format("shifted_sort.places = '{}'; known are auto, search, sort", tuning.places));
}

Plan plan_device_shifted(const Problem& problem, const Options& options, Backend backend,
                         const core::DeviceFacts& facts) {
  const bool paper = options.shifted_sort.merge == "paper";
  const std::int64_t limit = paper ? kLargestPaperList : kLargestDeviceList;
  if (problem.k > limit)
    throw Error(ErrorCode::invalid_argument, fmt::format("k = {}; method shifted-sort{} takes at most {} on a device",
                                                         problem.k, paper ? " with merge paper" : "", limit));
  Plan plan = shifted_plan(problem, options, backend, paper);
  plan.profile = facts.profile_source;
  plan.budget_bytes = device_budget(options, facts);
  const std::int64_t element = problem.dtype == DType::float64 ? 8 : 4;
  const std::int64_t code = 8 * core::code_shape(static_cast<int>(problem.dims)).words;
  const std::int64_t point = (problem.dims <= 3 ? 4 : problem.dims <= 7 ? 8 : 20) * element;
  const std::int64_t base = problem.base_rows * (problem.dims * element + 24);
  // CUB's storage is small beside its second buffers; so are pieces that are rounded up.
  constexpr std::int64_t kRounding = std::int64_t{16} << 20;
  constexpr double kSortedSeconds = 2e-10;
  const std::int64_t query =
      2 * code + 16 + point + 4 * plan.shifted_sort.shifts + (paper ? problem.k * (element == 8 ? 16 : 8) : 0);
  plan.seconds = shifted_seconds(plan, kSortedSeconds, 2e-11);
  if (plan.shifted_sort.places == "sort") {
    // The points in their orders are of a batch here. Of a code and an id, two each and a count while they are sorted.
    const std::int64_t entry = 2 * code + 16;
    const std::int64_t points = problem.base_rows * (plan.shifted_sort.shifts * point + entry) + kRounding;
    fit_batch(plan, base + points, query + entry);
    plan.workspace_bytes = points + plan.query_block * (query + entry);
    const std::int64_t again = (problem.queries - 1) / plan.query_block * problem.base_rows + problem.queries;
    plan.seconds += static_cast<double>(again * plan.shifted_sort.shifts) * kSortedSeconds;
    return plan;
  }
  const std::int64_t orders = plan.shifted_sort.shifts * problem.base_rows * (code + point);
  const std::int64_t sorting = problem.base_rows * (code + 12) + kRounding;
  fit_batch(plan, base + orders + sorting, query);
  plan.workspace_bytes = std::max(sorting, plan.query_block * query + kRounding);
  return plan;
}

}  // namespace kith::plan
