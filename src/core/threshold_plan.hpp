// threshold_plan.hpp: sample size, threshold rank and candidate capacity of threshold_filter, by shape.
// A pure function. Long rows are sampled in sectors of memory, and of each 16 bytes only the minimum is counted: on
// random values that loses nothing, and correlated neighbors are not counted several times. Of N counted samples, the
// r-th smallest has about r/N of the row below it, within a factor 1 ± 1/√r. The rank r makes fewer than k candidates
// next to impossible, even if all values of one load are correlated; the capacity does the same for too many
// candidates. A row that fails nevertheless is searched whole, by a slower path: only time is lost.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace kith::core {

struct ThresholdPlan {
  unsigned samples = 0;               // a multiple of parts · samples_per_load; 0: all keys are candidates
  unsigned samples_per_load = 0;      // adjacent values sampled at one position, a power of two
  bool minima = true;                 // only the minimum of each 16 bytes is counted
  unsigned parts = 1;                 // blocks that sample one row; 1 with buckets
  unsigned rank = 0;                  // r, among the counted samples; 0: every key is a candidate (with buckets only)
  unsigned capacity = 0;              // candidates a row may leave in global memory, from k to its length
  unsigned staged = 0;                // candidates that are finished in shared memory; more are read from global memory
  unsigned buckets = 1;               // buckets the candidates are sorted in; more than 1 for k above kLargestSmallK
  unsigned chunk = 0;                 // values of a row that one block filters, a multiple of the values in 16 bytes
  bool whole_rows = false;            // one block samples, filters and finishes a row; float only
  unsigned second_rank = 0;           // whole_rows: the rank in a second sample, of as many values in single vectors
  std::uint64_t sample_interval = 0;  // values of a row per sampled position, times 2^16

  // Samples that are counted, with `width` values in 16 bytes.
  KITH_HOST_DEVICE unsigned counted(unsigned width) const { return minima ? samples / width : samples; }
};

// Up to this k a row's candidates are reduced to k in shared memory; above, they are sorted in buckets.
inline constexpr unsigned kLargestSmallK = 2048;
// Above it has a row so many buckets at most.
inline constexpr unsigned kMostBuckets = 2048;
// Rows up to this length need no threshold: all their keys are candidates.
inline constexpr unsigned kShortRow = 1024;
static_assert(kShortRow >= 256, "a shorter row has no sample");

}  // namespace kith::core
