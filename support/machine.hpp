// machine.hpp: what the operating system says about this machine.
#pragma once

#include <cstdint>
#include <string>

namespace kith::support {

struct Machine {
  std::string cpu_model;         // "unknown" where the system does not say
  int cores = 0;                 // logical
  int usable_cores = 0;          // those this process may run on
  std::int64_t cache_bytes = 0;  // all last-level caches together; 0 where the system does not say
  std::int64_t memory_bytes = 0;
  std::int64_t available_bytes = 0;  // without swapping
};

Machine inspect_machine();

}  // namespace kith::support
