// properties.hpp: what the current device is and has.
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
  unsigned processors = 0;  // multiprocessors
  std::size_t memory = 0;   // bytes in all
  std::size_t free_memory = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes = 0;  // a block may ask for
};

// The devices there are; empty where there is none or no driver.
std::vector<DeviceProperties> devices();

// Multiprocessors of the current device; asked once a device.
unsigned processor_count();

// Of the current device.
std::string device_name();

}  // namespace kith::KITH_BACKEND::inline runtime
