// batch_scan.hpp: many small sets of points in one launch, each query among the points of its own.
// Idea    a warp has a query; its lanes compute the exact keys of 32 points at a time. The k best stay in registers.
//         There are no scores: a set is so small that bounds would cost as much as they save.
// Limits  k ≤ kMostOfBatchScan.
// Cost    a key for every pair of a batch.
#pragma once

#include "core/key.hpp"
#include "cuda/points/point_rows.hpp"

namespace kith::KITH_BACKEND::brute {

constexpr unsigned kMostOfBatchScan = 1024;

// Queries first_query … of all queries search `rows` points from first_row on. `begin` counts the queries of the
// batches before.
struct BatchRange {
  std::int64_t begin;
  std::int64_t first_query;
  std::int64_t first_row;
  std::int64_t rows;
};

template <class F>
struct BatchScan {
  ExactSet<F> queries;
  ExactSet<F> base;
  unsigned dims = 0;
  Metric metric;
  const double* periods = nullptr;      // on the device, one for each dimension; null where no axis is periodic
  const BatchRange* batches = nullptr;  // on the device
  unsigned batch_count = 0;
  std::int64_t query_count = 0;  // of all batches
  bool exclude_self = false;     // queries are the base, and no neighbors of themselves
  unsigned k = 1;
  F* keys = nullptr;  // k a query, in the order of the batches; NaN where a batch has fewer points
  unsigned* ids = nullptr;
};

template <class F>
void batch_scan(const BatchScan<F>& scan, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::brute
