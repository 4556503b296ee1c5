// triangle_limits.hpp: what method triangle can do on a device, for kernels and for the planner.
#pragma once

#include <cstdint>

namespace kith::core {

inline constexpr unsigned kMaxIntervalScanThreads = 256;  // of a query
inline constexpr unsigned kMaxSweetKnnThreads = 1024;     // of a query
// Neighbors of a thread of the paper's form: as many registers as kernels have names for, and as much shared memory
// as a warp's lists may take.
inline constexpr unsigned kLargestRegisterList = 64;
inline constexpr std::int64_t kMostSharedLists = 160 << 10;  // bytes of a block

// k of a thread's neighbors in shared memory; a key has its id beside it.
constexpr std::int64_t largest_shared_list(std::int64_t key_bytes) {
  constexpr std::int64_t kThreadsAtLeast = 32;
  return kMostSharedLists / kThreadsAtLeast / key_bytes;
}

}  // namespace kith::core
