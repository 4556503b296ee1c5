// cgroup.hpp: what control groups (version 1 and 2) leave this process of the machine. A group is in those above it, so
// the least limit of all of them counts. What is not mounted or cannot be read limits nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace kith::backend {

// Processors' worth of time; infinity where there is no quota. `root` is the folder that is / (tests have their own).
double cgroup_processors(const std::string& root = "");

struct CgroupMemory {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  std::int64_t limit = kNone;  // bytes
  std::int64_t free = kNone;   // of them, with what the kernel can take back: files that nobody read lately
};
CgroupMemory cgroup_memory(const std::string& root = "");

}  // namespace kith::backend
