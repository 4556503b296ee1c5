#include "search_device/profile.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "backend/contract.hpp"
#include "backend/profile_file.hpp"

namespace kith::search_bench {

void write_profile(const std::string& path, bool quick) {
  const std::string device = cuda::device_facts().name;
  core::DeviceProfile profile = backend::find_profile(device).profile;
  for (const MeasuredCost& measured : cuda::measure_costs(quick ? kQuickTune : kWholeTune)) {
    for (const core::CostField& field : core::kCostFields) {
      if (measured.name != field.name) continue;
      fmt::print("{:<16} {:.4g} s before, {:.4g} s now: {}\n", field.name, profile.*field.cost, measured.seconds,
                 field.meaning);
      profile.*field.cost = measured.seconds;
    }
  }
  std::ofstream file(path);
  file << backend::to_text(profile, device);
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", path));
}

}  // namespace kith::search_bench
