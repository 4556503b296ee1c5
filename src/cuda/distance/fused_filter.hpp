// fused_filter.hpp: distances and the first step of selection in one kernel: pairs whose score is not above the query's
// limit become candidates, and no other score is stored.
#pragma once

#include "cuda/distance/scores.hpp"
#include "cuda/points/fp16_rows.hpp"

namespace kith::KITH_BACKEND::distance {

// A list of candidates for each query, in any order.
template <class F>
struct CandidateLists {
  const F* limits = nullptr;  // one a query; NaN lets nothing pass
  unsigned capacity = 0;      // of a list
  F* scores = nullptr;        // a row of `capacity` a query
  unsigned* ids = nullptr;    // the same: base rows, counted from first_id
  unsigned first_id = 0;
  // One a query: candidates so far, those beyond the capacity included; the caller sets it to 0.
  unsigned* counts = nullptr;
};

// One list of the candidates of all queries, in any order and without scores: a query may have any number of them.
template <class F>
struct PairList {
  const F* limits = nullptr;    // one a query; NaN lets nothing pass
  unsigned* queries = nullptr;  // query rows
  unsigned* ids = nullptr;      // base rows, counted from first_id
  unsigned long long capacity = 0;
  unsigned first_id = 0;
  // Pairs so far, those beyond the capacity included; the caller sets it to 0.
  unsigned long long* count = nullptr;
};

// Lists is CandidateLists<F> or PairList<F>.
template <class F, class Lists = CandidateLists<F>>
struct FilterCall {
  PointRows<F> queries;
  PointRows<F> base;
  std::int64_t dims = 0;
  core::Form form = core::Form::squared;
  double p = 2;             // power only
  const F* bias = nullptr;  // one a base point, for form squared: expanded
  Lists lists;
  Workspace& workspace;
};

template <class F, class Lists>
void fused_filter(const FilterCall<F, Lists>& call);

struct Fp16FilterCall {
  Fp16Rows queries;
  Fp16Rows base;
  const float* bias = nullptr;  // that of Fp16ScoreCall
  CandidateLists<float> lists;
  cudaStream_t stream = nullptr;
};

// fused_filter() with the scores of fp16_gemm_scores().
void fp16_filter(const Fp16FilterCall& call);

}  // namespace kith::KITH_BACKEND::distance
