#include "api/devices/lane.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "api/devices/lane_call.hpp"
#include "backend/registry.hpp"
#include "kith/error.hpp"

namespace kith::api {
namespace {

std::vector<int> device_ids(const Options& options) {
  const std::vector<int> usable = backend::table_of(options.backend).usable_devices();
  if (options.devices == std::vector{kAllDevices}) return usable;
  for (const int id : options.devices)
    if (std::find(usable.begin(), usable.end(), id) == usable.end())
      throw Error(ErrorCode::no_device, fmt::format("devices = {}: there is no device {} that this build can use; "
                                                    "backend {} has {}",
                                                    format_devices(options.devices), id, to_string(options.backend),
                                                    fmt::join(usable, ", ")));
  return options.devices;
}

// A device's memory, or what the caller gives it, in as many parts as it has lanes.
std::int64_t budget_of(const Options& options, const plan::Machine& machine, std::int64_t lanes) {
  if (lanes == 1) return options.memory_budget;
  const std::int64_t all =
      options.memory_budget > 0 ? options.memory_budget : std::get<core::DeviceFacts>(machine).free_memory / 2;
  return std::max<std::int64_t>(1, all / lanes);
}

const std::string& name_of(const Lane& lane) {
  return std::get<core::DeviceFacts>(lane.machine).name;
}

// Points that a device searches in a second, for some number of queries: the same number for equal devices.
double rate_of(const Lane& lane, const Problem& problem, std::int64_t lanes) {
  constexpr std::int64_t kQueries = 10000;
  constexpr std::int64_t kNeighbors = 10;
  Problem stripe = problem;
  stripe.base_rows = std::max<std::int64_t>(1, problem.base_rows / lanes);
  stripe.queries = kQueries;
  stripe.k = std::min(kNeighbors, stripe.base_rows);
  try {
    return 1 / plan::choose(stripe, lane.options, lane.machine).seconds;
  } catch (const Error&) {
    return 0;  // the search itself says why
  }
}

// Shares of the base, in the order of the lanes.
std::vector<double> rates_of(const std::vector<Lane>& lanes, const Problem& problem) {
  const bool alike = std::all_of(lanes.begin(), lanes.end(),
                                 [&](const Lane& lane) { return name_of(lane) == name_of(lanes.front()); });
  std::vector<double> rates;
  for (const Lane& lane : lanes) {
    const auto same =
        std::count_if(lanes.begin(), lanes.end(), [&](const Lane& other) { return other.device == lane.device; });
    const double rate = alike ? 1 : rate_of(lane, problem, static_cast<std::int64_t>(lanes.size()));
    rates.push_back(rate / static_cast<double>(same));
  }
  if (std::count(rates.begin(), rates.end(), 0) > 0) std::fill(rates.begin(), rates.end(), 1);
  return rates;
}

}  // namespace

std::vector<Lane> make_lanes(const Problem& problem, const Options& options) {
  const std::vector<int> ids = device_ids(options);
  std::vector<Lane> lanes;
  for (const int id : ids) {
    Lane lane;
    lane.device = id;
    lane.options = options;
    lane.options.devices.clear();
    lane.options.progress = {};
    lane.options.pad_missing = false;
    lane.thread = std::make_unique<LaneThread>();
    lanes.push_back(std::move(lane));
  }
  LaneCall call(lanes, {}, 0);
  call.wait(call.start([&](std::size_t i) {
    backend::table_of(options.backend).set_device(lanes[i].device);
    lanes[i].machine = backend::machine_of(options.backend, options.backend);
  }));
  for (Lane& lane : lanes)
    lane.options.memory_budget = budget_of(options, lane.machine, std::count(ids.begin(), ids.end(), lane.device));
  const std::vector<Stripe> stripes = stripes_of(problem.base_rows, rates_of(lanes, problem));
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i].stripe = stripes[i];
  return lanes;
}

Plan joined_plan(const Problem& problem, const std::vector<Lane>& lanes, const std::vector<Plan>& plans) {
  Plan plan =
      *std::max_element(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return a.seconds < b.seconds; });
  plan.problem = problem;
  plan.stripes.clear();
  auto next = plans.begin();
  for (const Lane& lane : lanes)
    plan.stripes.push_back({lane.device, name_of(lane), lane.stripe.first, lane.stripe.rows,
                            lane.stripe.rows > 0 ? (next++)->seconds : 0});
  return plan;
}

Plan explain_lanes(const Problem& problem, const Options& options) {
  const std::vector<Lane> lanes = make_lanes(problem, options);
  std::vector<Plan> plans;
  for (const Lane& lane : lanes) {
    if (lane.stripe.rows == 0) continue;
    Problem stripe = problem;
    stripe.base_rows = lane.stripe.rows;
    stripe.k = std::min(problem.k, stripe.base_rows);
    plans.push_back(plan::choose(stripe, lane.options, lane.machine));
  }
  return joined_plan(problem, lanes, plans);
}

}  // namespace kith::api
