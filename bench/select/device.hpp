// device.hpp: what the measurements were made on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace kith::select_bench {

struct DeviceFacts {
  std::string name;
  std::string compute_capability;
  unsigned processors = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int cuda_driver = 0;   // the newest CUDA that the driver knows, 13000 for 13.0
  int cuda_runtime = 0;  // what this program was built with
};

// Of the current device; nothing where there is none.
std::optional<DeviceFacts> device_facts();

}  // namespace kith::select_bench
