// What searches on the CPU may have of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "kith/export.hpp"

namespace kith {

struct HostLimits {
  // Threads of a search where Options::threads is 0 and the work is worth them: the least of the process's CPU
  // affinity, the CPU quota of its control groups (rounded up), the variable KITH_NUM_THREADS, and what OpenMP would
  // use in the calling thread (OMP_NUM_THREADS, omp_set_num_threads, threadpoolctl, OMP_THREAD_LIMIT).
  int threads = 1;
  std::string threads_source;  // which of them decided
  // Memory that can still be had without swapping: of the machine, or of what control groups leave the process. The
  // default budget of a search is a quarter of it.
  std::int64_t memory_bytes = 0;
  std::string memory_source;
};

// As they are now, asked in this thread. Throws Error(invalid_argument) where KITH_NUM_THREADS is no number from 1 on.
KITH_API HostLimits host_limits();

}  // namespace kith
