// candidates.cu: one thread an element, or a query.
#include "cuda/brute/candidates.hpp"

#include <limits>

#include "cuda/brute/failed_queries.cuh"
#include "cuda/brute/score_limit.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

template <class F>
__global__ void join_lists_kernel(RunningLists<F> lists, TileCandidates<F> candidates, std::int64_t queries, F* keys,
                                  unsigned* ids) {
  const std::int64_t width = lists.count + candidates.count;
  const std::int64_t i = thread_index();
  if (i >= queries * width) return;
  const std::int64_t query = i / width;
  const std::int64_t at = i % width;
  if (at < lists.count) {
    keys[i] = lists.keys[query * lists.k + at];
    ids[i] = lists.ids[query * lists.k + at];
  } else {
    const std::int64_t from = query * candidates.count + at - lists.count;
    keys[i] = candidates.keys[from];
    ids[i] = candidates.first_id + static_cast<unsigned>(candidates.columns[from]);
  }
}

template <class F>
__global__ void keep_lists_kernel(const F* keys, const std::int64_t* ids, std::int64_t queries, RunningLists<F> lists) {
  const std::int64_t i = thread_index();
  if (i >= queries * lists.count) return;
  const std::int64_t to = i / lists.count * lists.k + i % lists.count;
  lists.keys[to] = keys[i];
  lists.ids[to] = static_cast<unsigned>(ids[i]);
}

template <class F>
__global__ void note_left_out_kernel(const F* scores, std::int64_t count, std::int64_t queries, F* left_out) {
  const std::int64_t query = thread_index();
  if (query >= queries) return;
  const F last = scores[query * count + count - 1];
  if (!(left_out[query] <= last)) left_out[query] = last;
}

template <class F>
__global__ void begin_left_out_kernel(F* left_out, std::int64_t queries, unsigned* failed_count) {
  const std::int64_t query = thread_index();
  if (query == 0) *failed_count = 0;
  if (query < queries) left_out[query] = std::numeric_limits<F>::infinity();
}

template <class F>
__global__ void return_values_kernel(Metric metric, F* keys, std::int64_t count) {
  const std::int64_t i = thread_index();
  if (i < count) keys[i] = core::returned_value(metric, keys[i]);
}

template <class F>
__global__ void return_answer_kernel(Metric metric, const F* keys, const unsigned* found, std::int64_t count,
                                     F* distances, std::int64_t* ids) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  distances[i] = core::returned_value(metric, keys[i]);
  ids[i] = found[i];
}

template <class F>
__device__ bool is_certified(const Certificate<F>& certificate, std::int64_t query) {
  // Written so that NaN fails. Where scores are exact, k points come before those that were left out, by (score, id).
  const F left_out = certificate.left_out[query];
  return left_out > score_limit(certificate, query) ||
         certificate.bounds.has_key_alone(left_out, kth_key(certificate, query), query_square_norm(certificate, query));
}

template <class F>
__global__ void __launch_bounds__(kCertificateThreads)
    certify_kernel(Certificate<F> certificate, std::int64_t queries, FailedQueries failed) {
  const std::int64_t query = thread_index();
  note_failure(query < queries && !is_certified(certificate, query), query, failed);
}

}  // namespace

template <class F>
void join_lists(const RunningLists<F>& lists, const TileCandidates<F>& candidates, std::int64_t queries, F* keys,
                unsigned* ids, cudaStream_t stream) {
  launch("join_lists", join_lists_kernel<F>, thread_each(queries * (lists.count + candidates.count)), stream, lists,
         candidates, queries, keys, ids);
}

template <class F>
void keep_lists(const F* keys, const std::int64_t* ids, std::int64_t queries, const RunningLists<F>& lists,
                cudaStream_t stream) {
  launch("keep_lists", keep_lists_kernel<F>, thread_each(queries * lists.count), stream, keys, ids, queries, lists);
}

template <class F>
void note_left_out(const F* scores, std::int64_t count, std::int64_t queries, F* left_out, cudaStream_t stream) {
  launch("note_left_out", note_left_out_kernel<F>, thread_each(queries), stream, scores, count, queries, left_out);
}

template <class F>
void begin_left_out(F* left_out, std::int64_t queries, unsigned* failed_count, cudaStream_t stream) {
  launch("begin_left_out", begin_left_out_kernel<F>, thread_each(queries), stream, left_out, queries, failed_count);
}

template <class F>
void return_values(const Metric& metric, F* keys, std::int64_t count, cudaStream_t stream) {
  if (metric.kind != MetricKind::inner_product) return;
  launch("return_values", return_values_kernel<F>, thread_each(count), stream, metric, keys, count);
}

template <class F>
void return_answer(const Metric& metric, const F* keys, const unsigned* found, std::int64_t count, F* distances,
                   std::int64_t* ids, cudaStream_t stream) {
  launch("return_answer", return_answer_kernel<F>, thread_each(count), stream, metric, keys, found, count, distances,
         ids);
}

template <class F>
void certify(const Certificate<F>& certificate, std::int64_t queries, const FailedQueries& failed,
             cudaStream_t stream) {
  launch_certificates("certify", certify_kernel<F>, queries, failed, stream, certificate, queries, failed);
}

#define KITH_INSTANTIATE(F)                                                                                    \
  template void join_lists(const RunningLists<F>&, const TileCandidates<F>&, std::int64_t, F*, unsigned*,      \
                           cudaStream_t);                                                                      \
  template void keep_lists(const F*, const std::int64_t*, std::int64_t, const RunningLists<F>&, cudaStream_t); \
  template void note_left_out(const F*, std::int64_t, std::int64_t, F*, cudaStream_t);                         \
  template void begin_left_out(F*, std::int64_t, unsigned*, cudaStream_t);                                     \
  template void return_values(const Metric&, F*, std::int64_t, cudaStream_t);                                  \
  template void return_answer(const Metric&, const F*, const unsigned*, std::int64_t, F*, std::int64_t*,       \
                              cudaStream_t);                                                                   \
  template void certify(const Certificate<F>&, std::int64_t, const FailedQueries&, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::brute
