// scan_plan.hpp: how a scan of the base for few queries (cuda/brute/scan_candidates.hpp) divides its work, as far as
// the planner must know it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/device_policy.hpp"

namespace kith::core {

constexpr std::int64_t kMaxScanQueries = 8;      // columns of a product of fragments
constexpr std::int64_t kMaxScanWidth = 256;      // candidates of a query that each block keeps
constexpr std::int64_t kMaxScanRowBytes = 8192;  // of a point; queries of this size stay in shared memory
constexpr std::int64_t kScanChunk = 64;          // bytes of a row that four lanes load at once
constexpr std::int64_t kScanWarps = 12;          // of a block
constexpr std::int64_t kScanBlocksEach = 2;      // blocks of a multiprocessor
constexpr std::int64_t kScanFull = 1024;         // keys of a buffer from which the best are selected

constexpr bool can_scan(std::int64_t queries, std::int64_t width, std::int64_t row_bytes) {
  return queries <= kMaxScanQueries && width <= kMaxScanWidth && row_bytes <= kMaxScanRowBytes;
}

struct ScanPlan {
  std::int64_t chunks;        // of a row, in whole parts of those that are loaded at once
  std::int64_t sets;          // of 16 rows that a warp takes at once: 1, 2 or 4
  std::int64_t round_rows;    // that a block takes at once
  std::int64_t shared_bytes;  // of a block: queries, and keys of each
  std::int64_t blocks;
};

// Warps take as many sets of rows as keep eight vectors of a lane in flight.
inline ScanPlan plan_scan(std::int64_t points, std::int64_t queries, std::int64_t row_bytes,
                          const DeviceHardware& hardware) {
  constexpr std::int64_t kOther = 4096;  // shared memory of a block beside that
  constexpr std::int64_t kKeyBytes = 8;
  ScanPlan plan{};
  const std::int64_t chunks = (row_bytes + kScanChunk - 1) / kScanChunk;
  plan.sets = chunks == 1 ? 4 : chunks == 2 ? 2 : 1;
  const std::int64_t at_once = 4 / plan.sets;
  plan.chunks = (chunks + at_once - 1) / at_once * at_once;
  plan.round_rows = kScanWarps * 16 * plan.sets;
  plan.shared_bytes = plan.chunks * kScanChunk * kMaxScanQueries + queries * (kScanFull + plan.round_rows) * kKeyBytes;
  const std::int64_t each =
      std::clamp<std::int64_t>(hardware.shared_per_multiprocessor / (plan.shared_bytes + kOther), 1, kScanBlocksEach);
  plan.blocks = std::min((points + plan.round_rows - 1) / plan.round_rows, hardware.multiprocessors * each);
  return plan;
}

}  // namespace kith::core
