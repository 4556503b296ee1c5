// Facts about this machine, for `kith info`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

struct Machine {
  std::string cpu_model;                  // "unknown" where the system does not say
  int cores = 0;                          // logical
  int usable_cores = 0;                   // those this process may run on
  std::vector<std::string> simd_targets;  // those the library uses, the best first
  std::int64_t memory_bytes = 0;
  std::int64_t available_bytes = 0;
};

Machine inspect_machine();

}  // namespace kith::cli
