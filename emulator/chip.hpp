// chip.hpp: what the emulated devices are: limits that calls and launches obey, and which instructions there are.
// A few multiprocessors and little cache, unlike the chips: tests stay short, and small problems fill the devices.
#pragma once

#include <cstddef>

#include "emulator/execution.hpp"

namespace emulator {

struct Chip {
  const char* name;
  int major, minor;  // compute capability
  int multiprocessors;
  std::size_t shared_per_block;  // that a kernel can opt in to; 48 KiB without that
  std::size_t shared_per_multiprocessor;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int l2_bytes;

  int capability() const { return major * 10 + minor; }
};

// That of the environment variable KITH_EMULATOR_CHIP at first, or sm_90. Throws if there is no such chip.
const Chip& chip();

// The dynamic shared memory that the kernel opted in to on the current device, or 48 KiB.
std::size_t dynamic_shared_limit(const void* kernel);

}  // namespace emulator
