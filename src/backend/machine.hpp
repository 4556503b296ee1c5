// machine.hpp: what the operating system and the environment let this process have of the machine.
#pragma once

#include <cstdint>

namespace kith::backend {

struct ThreadLimit {
  int threads = 1;
  const char* source = "";  // what says so
};

// Threads that a search may use where nobody asked for a number, the least of:
// - the processors that this process may run on (its CPU affinity),
// - those that the CPU quota of its control groups is worth, rounded up,
// - the variable KITH_NUM_THREADS; Error(invalid_argument) where it is no number from 1 on,
// - what OpenMP would use in the calling thread: OMP_NUM_THREADS, omp_set_num_threads, threadpoolctl, OMP_THREAD_LIMIT;
//   one in a parallel region.
ThreadLimit available_threads();

// The same in two parts. The first reads files; the second asks OpenMP and takes nanoseconds.
ThreadLimit process_threads();
ThreadLimit calling_thread_limit(const ThreadLimit& process);

struct MemoryLimit {
  std::int64_t bytes = 0;
  const char* source = "";
};

// Memory that can still be had without swapping: of the machine, or of what its control groups leave this process.
MemoryLimit free_memory();

// Bytes that a limit on the address space (RLIMIT_AS, ulimit -v) leaves; the largest number where there is none.
std::int64_t free_address_space();

// The most that this process could have: the machine's memory, or what its control groups leave it.
std::int64_t largest_memory();

}  // namespace kith::backend
