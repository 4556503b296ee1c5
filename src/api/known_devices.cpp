#include <fmt/format.h>

#include <algorithm>

#include "api/guard.hpp"
#include "api/validate.hpp"
#include "core/derived_profile.hpp"
#include "kith/error.hpp"
#include "kith/plan.hpp"
#include "plan/choose.hpp"

namespace kith {
namespace {

const core::Datasheet& datasheet_of(const std::string& device) {
  if (const core::Datasheet* sheet = core::find_datasheet(device)) return *sheet;
  std::string names;
  for (const core::Datasheet& sheet : core::datasheets())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", sheet.name);
  throw Error(ErrorCode::invalid_argument, fmt::format("device '{}' is not known; known are {}", device, names));
}

// Points that do not stay on a device pass through its link while others are searched.
void count_streaming(Plan& plan, const core::Datasheet& sheet) {
  const double bytes = static_cast<double>(plan.problem.base_rows) * static_cast<double>(plan.problem.dims) *
                       static_cast<double>(size_of(plan.problem.dtype));
  plan.reason += fmt::format("; the points, {:.3g} GB, are streamed through", bytes / 1e9);
  plan.seconds = std::max(plan.seconds, bytes / sheet.link);
}

}  // namespace

std::vector<KnownDevice> known_devices() {
  std::vector<KnownDevice> all;
  for (const core::Datasheet& sheet : core::datasheets())
    all.push_back({sheet.name, sheet.title, sheet.capability.major, sheet.capability.minor, sheet.multiprocessors,
                   static_cast<std::int64_t>(sheet.memory), sheet.bandwidth, sheet.link,
                   core::facts_of(sheet).profile_source});
  return all;
}

Plan explain(const Problem& problem, const Options& options, const std::string& device) {
  return api::guarded([&] {
    const core::Datasheet& sheet = datasheet_of(device);
    api::check_device_options(options);
    api::check_problem(problem);
    api::check_period(options.period, problem.dims);
    Plan plan = plan::choose(problem, options, core::facts_of(sheet));
    if (!plan.base_fits) count_streaming(plan, sheet);
    return plan;
  });
}

}  // namespace kith
