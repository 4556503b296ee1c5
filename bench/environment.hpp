// environment.hpp: where and with what a run was made: what one must know to compare two of them.
#pragma once

#include <string>
#include <vector>

#include "support/machine.hpp"

namespace kith::bench {

struct Environment {
  support::Machine machine;
  std::vector<std::string> simd_targets;  // those the library uses, the best first
  double load = 0;                        // runnable processes, mean of the last minute, before the run
  std::string compiler;                   // and build type
  std::string kith_version;
  std::string commit;  // "unknown" outside a repository; ends in "-dirty" when sources differ from it
  std::string blas;    // OpenBLAS' description of itself
  std::string faiss;   // version; empty: not installed
  std::string nanoflann;
  std::string date;  // UTC, ISO 8601
  bool optimized = false;
};

Environment inspect_environment();

}  // namespace kith::bench
