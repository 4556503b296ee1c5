// threshold_plan.hpp: how many values of a row are sampled, and how much room their verdict needs.
// A pure function of the shape. Long rows are sampled in sectors of memory, and of each 16 bytes only the smallest
// value counts: where values are random that tells as much, and where neighbors are alike they count less often. Of N
// things that count, the r-th smallest has about r/N of the row up to it, give or take a factor 1 ± 1/√r. r is chosen
// so that fewer than k is next to impossible, also where all that is sampled together is alike, and the room for
// candidates so that too many is. A row that fails is searched whole, by a slower path, never wrongly.
#pragma once

#include <cstdint>

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::select {

struct ThresholdPlan {
  unsigned samples = 0;     // values, over all parts and a multiple of what each takes together; 0: the row as it is
  unsigned together = 0;    // values that are sampled next to each other, a power of two
  bool minima = true;       // of each 16 bytes only the smallest counts
  unsigned parts = 1;       // blocks that sample one row; 1 with buckets
  unsigned rank = 0;        // r, of what counts; 0: no threshold, every key is a candidate, which only buckets can take
  unsigned room = 0;        // candidates a row may leave in memory, from k to its length
  unsigned staged = 0;      // how many of them are finished in shared memory; more are read where they lie
  unsigned buckets = 1;     // that its candidates are sorted in; more than 1 for k above kLargestSmallK
  unsigned chunk = 0;       // values of a row that one block filters, a multiple of what 16 bytes hold
  bool whole_rows = false;  // one block does all of a row; float only
  unsigned again_rank = 0;  // there, of a second sample of as many values, all over the row
  std::uint64_t stretch = 0;  // values of a row for each place that is sampled, in 2^-16

  // What the sample counts for, of rows with `width` values in 16 bytes.
  __host__ __device__ unsigned counted(unsigned width) const { return minima ? samples / width : samples; }
};

// Selection of k of `length` values, rows of `value_bytes` each, on a device of `processors` multiprocessors.
ThresholdPlan plan_threshold(std::int64_t rows, unsigned length, unsigned k, unsigned value_bytes, unsigned processors);

// Up to this k a row's candidates are reduced to k in shared memory; above, they are sorted in buckets.
constexpr unsigned kLargestSmallK = 2048;
// Rows up to this length need no threshold: all of them is the candidates.
constexpr unsigned kShortRow = 1024;
static_assert(kShortRow >= 256, "a shorter row has no sample");

}  // namespace kith::KITH_BACKEND::select
