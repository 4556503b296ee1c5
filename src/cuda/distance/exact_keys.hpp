// exact_keys.hpp: the distances that are returned and that order neighbours, by the direct formula in double and in the
// fixed order of core/key.hpp, so that every backend gets the same bits (but for minkowski, whose powers are the
// device's own).
#pragma once

#include "core/key.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND {

// Points and what the metric needs to know of each: null where it needs nothing.
template <class F>
struct ExactSet {
  PointRows<F> rows;
  const double* square_norms = nullptr;  // of rows less their means
  const double* means = nullptr;         // correlation only
};

template <class F>
struct KeyCall {
  ExactSet<F> queries;
  ExactSet<F> base;
  std::int64_t dims = 0;
  Metric metric;
  cudaStream_t stream = nullptr;
};

// Means and sums of squares of rows, as ExactSet has them; `means` may be null.
template <class F>
void row_facts(const PointRows<F>& rows, std::int64_t dims, double* square_norms, double* means, cudaStream_t stream);

// keys[q · count + i] is that of query q and base point ids[q · count + i].
template <class F>
void candidate_keys(const KeyCall<F>& call, const unsigned* ids, std::int64_t count, F* keys);

// keys[i] is that of query queries[i] and base point ids[i].
template <class F>
void pair_keys(const KeyCall<F>& call, const unsigned* queries, const unsigned* ids, std::int64_t count, F* keys);

// All queries × all base points; rows of keys are `stride` apart.
template <class F>
void all_keys(const KeyCall<F>& call, F* keys, std::int64_t stride);

}  // namespace kith::KITH_BACKEND
