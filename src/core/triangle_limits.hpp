// triangle_limits.hpp: limits of method triangle on a device, for kernels and for the planner.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith::core {

// Threads that share a query, by form.
inline constexpr unsigned kMaxIntervalScanThreads = 256;
inline constexpr unsigned kMaxSweetKnnThreads = 1024;

// Form sweet-knn keeps k neighbors for each thread: in registers, which unrolled loops must name, or in shared memory,
// where the lists of a warp must fit.
inline constexpr unsigned kMaxRegisterList = 64;
inline constexpr std::int64_t kMaxSharedListBytes = 160 << 10;

// The largest k of lists in the shared memory of a block. `key_bytes` counts a key and its id.
constexpr std::int64_t max_shared_list(std::int64_t key_bytes, std::int64_t shared_per_block) {
  constexpr std::int64_t kMinThreads = 32;
  return std::min(kMaxSharedListBytes, shared_per_block) / kMinThreads / key_bytes;
}

}  // namespace kith::core
