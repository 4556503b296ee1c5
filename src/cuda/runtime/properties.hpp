// properties.hpp: the devices of this machine and their hardware properties.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cuda/runtime/check.hpp"

namespace kith::KITH_BACKEND::inline runtime {

struct DeviceProperties {
  int id = 0;
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  unsigned multiprocessors = 0;
  std::size_t memory = 0;  // bytes
  std::size_t free_memory = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes = 0;  // dynamic shared memory that a block may request
};

// All devices; empty if there is none or no driver.
std::vector<DeviceProperties> devices();

// Multiprocessors of the current device. The driver is asked once per device.
unsigned multiprocessor_count();

// The current device's name.
std::string device_name();

}  // namespace kith::KITH_BACKEND::inline runtime
