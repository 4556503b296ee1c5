// filter.hpp: distances and the first step of the selection in one kernel: pairs whose score is not above the query's
// limit become candidates, and no other score is stored.
#pragma once

#include "cuda/distance/half_rows.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND {

// Pairs of any queries in one list, in any order.
struct PairList {
  unsigned* queries = nullptr;  // query rows
  unsigned* ids = nullptr;      // base rows, counted from CandidateLists::first_id
  unsigned long long room = 0;
  // Pairs so far, also those that found no place; the caller sets it to 0.
  unsigned long long* count = nullptr;
};

// Candidates of a query come in any order.
template <class F>
struct CandidateLists {
  const F* limits = nullptr;  // one a query; NaN lets nothing pass
  unsigned room = 0;          // candidates that a query has place for
  F* scores = nullptr;        // room a query
  unsigned* ids = nullptr;    // room a query: base rows, counted from first_id
  unsigned first_id = 0;
  // One a query: candidates so far, also those that found no place; the caller sets it to 0.
  unsigned* counts = nullptr;
  PairList together{};  // for fused_pair_filter(), and all it has beside limits and first_id
};

template <class F>
struct FilterCall {
  PointRows<F> queries;
  PointRows<F> base;
  std::int64_t dims = 0;
  core::Form form = core::Form::squared;
  double p = 2;                // power only
  const F* addends = nullptr;  // one a base point, for form squared: expanded
  CandidateLists<F> lists;
  Workspace& workspace;
};

template <class F>
void fused_filter(const FilterCall<F>& call);

// Pairs of all queries go to one list, without their scores: queries may have any number of candidates.
template <class F>
void fused_pair_filter(const FilterCall<F>& call);

struct HalfFilterCall {
  HalfRows queries;
  HalfRows base;
  const float* addends = nullptr;  // as HalfScoreCall has them
  CandidateLists<float> lists;
  cudaStream_t stream = nullptr;
};

// Scores as half_gemm_scores has them.
void half_filter(const HalfFilterCall& call);

}  // namespace kith::KITH_BACKEND
