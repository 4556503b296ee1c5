// large_device.hpp: what a planner is told of a device that is large.
#pragma once

#include "core/facts.hpp"

namespace kith::test {

inline core::DeviceFacts large_device() {
  core::DeviceFacts facts;
  facts.free_memory = std::int64_t{100} << 30;
  return facts;
}

}  // namespace kith::test
