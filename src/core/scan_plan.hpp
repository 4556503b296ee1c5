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
constexpr std::int64_t kScanOtherBytes = 4096;   // shared memory of a block beside queries and keys

struct ScanPlan {
  std::int64_t chunks;        // of a row, in whole parts of those that are loaded at once
  std::int64_t sets;          // of 16 rows that a warp takes at once: 1, 2 or 4
  std::int64_t round_rows;    // that a block takes at once
  std::int64_t shared_bytes;  // of a block: queries, and keys of each
  std::int64_t blocks;
};

// What follows from how many sets of rows a warp takes at once; `blocks` is not set.
constexpr ScanPlan scan_with_sets(std::int64_t queries, std::int64_t row_bytes, std::int64_t sets) {
  constexpr std::int64_t kKeyBytes = 8;
  const std::int64_t at_once = 4 / sets;
  const std::int64_t chunks = (row_bytes + kScanChunk - 1) / kScanChunk;
  ScanPlan plan{};
  plan.sets = sets;
  plan.chunks = (chunks + at_once - 1) / at_once * at_once;
  plan.round_rows = kScanWarps * 16 * sets;
  plan.shared_bytes = plan.chunks * kScanChunk * kMaxScanQueries + queries * (kScanFull + plan.round_rows) * kKeyBytes;
  return plan;
}

constexpr bool scan_fits(const ScanPlan& plan, const DeviceHardware& hardware) {
  return plan.shared_bytes + kScanOtherBytes <= hardware.shared_per_block;
}

// Whether one reading of the base can serve the queries, each of which keeps `width` candidates.
constexpr bool can_scan(std::int64_t queries, std::int64_t width, std::int64_t row_bytes,
                        const DeviceHardware& hardware) {
  return queries <= kMaxScanQueries && width <= kMaxScanWidth && row_bytes <= kMaxScanRowBytes &&
         scan_fits(scan_with_sets(queries, row_bytes, 1), hardware);
}

// Warps take as many sets of rows as keep eight vectors of a lane in flight, or fewer where shared memory is small.
inline ScanPlan plan_scan(std::int64_t points, std::int64_t queries, std::int64_t row_bytes,
                          const DeviceHardware& hardware) {
  std::int64_t sets = row_bytes <= kScanChunk ? 4 : row_bytes <= 2 * kScanChunk ? 2 : 1;
  while (sets > 1 && !scan_fits(scan_with_sets(queries, row_bytes, sets), hardware)) sets /= 2;
  ScanPlan plan = scan_with_sets(queries, row_bytes, sets);
  const std::int64_t each = std::clamp<std::int64_t>(
      hardware.shared_per_multiprocessor / (plan.shared_bytes + kScanOtherBytes), 1, kScanBlocksEach);
  plan.blocks = std::min((points + plan.round_rows - 1) / plan.round_rows, hardware.multiprocessors * each);
  return plan;
}

}  // namespace kith::core
