// properties.hpp: the devices of this machine, their hardware and their policies.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/device_policy.hpp"
#include "cuda/runtime/check.hpp"

namespace kith::KITH_BACKEND::inline runtime {

struct DeviceProperties {
  int id = 0;
  std::string name;
  core::DeviceHardware hardware;
  std::size_t memory = 0;  // bytes
  std::size_t free_memory = 0;
};

// All devices; empty if there is none or no driver.
std::vector<DeviceProperties> devices();

// The policy of the current device. The driver is asked once per device.
const core::DevicePolicy& device_policy();
unsigned multiprocessor_count();

// Of the current device: hertz of its multiprocessors, and bytes a second of its memory; 0 where the driver does not
// tell.
struct DeviceSpeed {
  double clock = 0;
  double bandwidth = 0;
};
const DeviceSpeed& device_speed();

// The current device's name.
const std::string& device_name();

}  // namespace kith::KITH_BACKEND::inline runtime
