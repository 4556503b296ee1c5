#include "kith/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/guard.hpp"
#include "backend/profile_file.hpp"
#include "backend/registry.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

using backend::MeasuredCost;
using backend::TuneSize;

constexpr TuneSize kEmulated{32, 128, 8, 16, 4096, 3};

Backend resolve(Backend backend) {
  if (backend == Backend::automatic) backend = Backend::cuda;
  if (backend == Backend::cpu)
    throw Error(ErrorCode::invalid_argument, "backend cpu has no profile; tune is for devices");
  return backend::table_of(backend).id;
}

const TuneSize& size_of_work(Backend backend, bool quick) {
  if (backend == Backend::emulated) return kEmulated;
  return quick ? backend::kQuickTune : backend::kWholeTune;
}

void put(const MeasuredCost& measured, std::vector<StepCost>& costs) {
  const auto cost =
      std::find_if(costs.begin(), costs.end(), [&](const StepCost& one) { return one.name == measured.name; });
  if (cost == costs.end())
    throw Error(ErrorCode::internal, fmt::format("a profile has no cost '{}', which was measured", measured.name));
  cost->after = measured.seconds;
  cost->measured = true;
}

}  // namespace

TuneReport tune(const TuneOptions& options) {
  const Backend backend = resolve(options.backend);
  return api::guarded([&] {
    const auto start = std::chrono::steady_clock::now();
    const auto facts = std::get<core::DeviceFacts>(backend::machine_of(backend, backend));
    TuneReport report{facts.name, facts.profile_source, {}, 0};
    for (const core::CostField& field : core::kCostFields) {
      const double before = facts.profile.*field.cost;
      report.costs.push_back({field.name, field.meaning, before, before, false});
    }
    for (const MeasuredCost& measured : backend::table_of(backend).measure_costs(size_of_work(backend, options.quick)))
      put(measured, report.costs);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  });
}

std::string profile_text(const TuneReport& report) {
  core::DeviceProfile profile;
  for (const core::CostField& field : core::kCostFields)
    for (const StepCost& cost : report.costs)
      if (cost.name == field.name) profile.*field.cost = cost.after;
  return backend::to_text(profile, report.device);
}

std::string profile_path(const std::string& device) {
  return backend::profile_path(device);
}

}  // namespace kith
