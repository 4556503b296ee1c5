#include "api/devices/worker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "api/devices/worker_call.hpp"
#include "backend/registry.hpp"
#include "kith/error.hpp"

namespace kith::api {
namespace {

std::vector<int> device_ids(const Options& options) {
  std::vector<int> usable = backend::table_of(options.backend).usable_devices();
  if (options.devices == std::vector{kAllDevices}) return usable;
  for (const int id : options.devices)
    if (std::find(usable.begin(), usable.end(), id) == usable.end())
      throw Error(ErrorCode::no_device, fmt::format("devices = {}: there is no device {} that this build can use; "
                                                    "backend {} has {}",
                                                    format_devices(options.devices), id, to_string(options.backend),
                                                    fmt::join(usable, ", ")));
  return options.devices;
}

// A device's memory, or what the caller gives it, in as many parts as it has workers.
std::int64_t budget_of(const Options& options, const plan::Machine& machine, std::int64_t workers) {
  if (workers == 1) return options.memory_budget;
  const std::int64_t all =
      options.memory_budget > 0 ? options.memory_budget : std::get<core::DeviceFacts>(machine).free_memory / 2;
  return std::max<std::int64_t>(1, all / workers);
}

const std::string& name_of(const Worker& worker) {
  return std::get<core::DeviceFacts>(worker.machine).name;
}

// Points that a device searches in a second, for some number of queries: the same number for equal devices.
double rate_of(const Worker& worker, const Problem& problem, std::int64_t workers) {
  constexpr std::int64_t kQueries = 10000;
  constexpr std::int64_t kNeighbors = 10;
  Problem stripe = problem;
  stripe.base_rows = std::max<std::int64_t>(1, problem.base_rows / workers);
  stripe.queries = kQueries;
  stripe.k = std::min(kNeighbors, stripe.base_rows);
  try {
    return 1 / plan::choose(stripe, worker.options, worker.machine).seconds;
  } catch (const Error&) {
    return 0;  // the search itself says why
  }
}

}  // namespace

std::vector<double> rates_of(const std::vector<Worker>& workers, const Problem& problem) {
  const bool alike = std::all_of(workers.begin(), workers.end(),
                                 [&](const Worker& worker) { return name_of(worker) == name_of(workers.front()); });
  std::vector<double> rates;
  for (const Worker& worker : workers) {
    const auto same = std::count_if(workers.begin(), workers.end(),
                                    [&](const Worker& other) { return other.device == worker.device; });
    const double rate = alike ? 1 : rate_of(worker, problem, static_cast<std::int64_t>(workers.size()));
    rates.push_back(rate / static_cast<double>(same));
  }
  if (std::count(rates.begin(), rates.end(), 0) > 0) std::fill(rates.begin(), rates.end(), 1);
  return rates;
}

std::vector<Worker> make_workers(const Problem& problem, const Options& options) {
  const std::vector<int> ids = device_ids(options);
  std::vector<Worker> workers;
  for (const int id : ids) {
    Worker worker;
    worker.device = id;
    worker.options = options;
    worker.options.devices.clear();
    worker.options.progress = {};
    worker.options.pad_missing = false;
    worker.thread = std::make_unique<WorkerThread>();
    workers.push_back(std::move(worker));
  }
  WorkerCall call(workers, {}, 0);
  call.wait(call.start([&](std::size_t i) {
    backend::table_of(options.backend).set_device(workers[i].device);
    workers[i].machine = backend::machine_of(options.backend, options.backend);
  }));
  for (Worker& worker : workers)
    worker.options.memory_budget =
        budget_of(options, worker.machine, std::count(ids.begin(), ids.end(), worker.device));
  const std::vector<Stripe> stripes = stripes_of(problem.base_rows, rates_of(workers, problem));
  for (std::size_t i = 0; i < workers.size(); ++i) workers[i].stripe = stripes[i];
  return workers;
}

Plan joined_plan(const Problem& problem, const std::vector<Worker>& workers, const std::vector<Plan>& plans) {
  Plan plan =
      *std::max_element(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return a.seconds < b.seconds; });
  plan.problem = problem;
  plan.stripes.clear();
  auto next = plans.begin();
  for (const Worker& worker : workers)
    plan.stripes.push_back({worker.device, name_of(worker), worker.stripe.first, worker.stripe.rows,
                            worker.stripe.rows > 0 ? (next++)->seconds : 0});
  return plan;
}

Plan explain_workers(const Problem& problem, const Options& options) {
  const std::vector<Worker> workers = make_workers(problem, options);
  std::vector<Plan> plans;
  for (const Worker& worker : workers) {
    if (worker.stripe.rows == 0) continue;
    Problem stripe = problem;
    stripe.base_rows = worker.stripe.rows;
    stripe.k = std::min(problem.k, stripe.base_rows);
    plans.push_back(plan::choose(stripe, worker.options, worker.machine));
  }
  return joined_plan(problem, workers, plans);
}

}  // namespace kith::api
