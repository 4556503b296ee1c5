// chips.hpp: a device of each compute capability, with the sizes of an H200.
#pragma once

#include <vector>

#include "core/device_policy.hpp"

namespace kith::test {

inline std::vector<core::DeviceHardware> chips() {
  struct Capability {
    int major;
    int minor;
  };
  std::vector<core::DeviceHardware> all;
  for (const Capability of :
       {Capability{7, 0}, {7, 5}, {8, 0}, {8, 6}, {8, 7}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {11, 0}, {12, 0}, {12, 1}})
    all.push_back({.compute_major = of.major, .compute_minor = of.minor});
  return all;
}

}  // namespace kith::test
