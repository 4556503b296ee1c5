// pair_search.hpp: brute force by a PairMetric: the distance of every pair, of which the nearest, those within a
// radius, or all are returned. Arguments are checked by the caller.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/order.hpp"
#include "kith/pair_metric.hpp"

namespace kith::custom {

template <Element T>
struct PairProblem {
  const PairMetric& metric;
  const MatrixView<T>& base;
  const MatrixView<T>& queries;
  const double* panels;  // all of the base, prepared, or null
  bool exclude_self;     // the queries are the base
};

// Sizes of the work, all of them chosen so that it fits into the budget.
struct PairPlan {
  int threads = 1;
  std::int64_t query_block = 0;
  std::int64_t base_tile = 0;  // a multiple of kPanelRows
  std::int64_t splits = 1;     // parts of the base, merged in the end
  std::int64_t workspace_bytes = 0;
};

// `k`: neighbors that a query collects, 0 where it collects none. Throws Error(out_of_memory) where the budget, unless
// it is 0, is less than the least that would do.
template <Element T>
PairPlan plan_pairs(const PairProblem<T>& problem, std::int64_t k, const Options& options);

// k, at most as many as there are points to find, neighbors of each query to rows of `k` places at `out`.
template <Element T>
void nearest_pairs(const PairProblem<T>& problem, const PairPlan& plan, std::int64_t k, const Options& options,
                   const NeighborsView<DistanceOf<T>>& out);

// The hits that are a query's answer, by (distance, id), without `self` unless that is −1; what is missing, or beyond
// `largest`, becomes −1 and infinity.
template <class D>
void write_row(std::vector<core::Hit<D>> hits, std::int64_t self, std::int64_t k, D largest, std::int64_t* ids,
               D* distances);

// Throws Error(out_of_memory) for more than `most` hits.
template <Element T>
void pairs_within(const PairProblem<T>& problem, const PairPlan& plan, std::span<const DistanceOf<T>> radii,
                  std::int64_t most, const Options& options, const RadiusLists<DistanceOf<T>>& out);

// queries × base.
template <Element T>
void all_pairs(const PairProblem<T>& problem, const PairPlan& plan, const Options& options, DistanceOf<T>* out);

}  // namespace kith::custom
