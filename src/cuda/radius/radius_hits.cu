// radius_hits.cu: a thread takes a pair.
#include "cuda/radius/radius_hits.hpp"

#include "cuda/primitives/matrix_element.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::radius {
namespace {

constexpr unsigned kRadiusThreads = 256;

template <class F>
__global__ void __launch_bounds__(kRadiusThreads)
    label_hits_kernel(KeyedPairs<F> pairs, HitRule<F> rule, unsigned queries, unsigned* counts,
                      LabeledKey<OrderOf<F>>* labeled) {
  const std::int64_t i = thread_index();
  if (i >= pairs.count) return;
  const unsigned query = pairs.queries[i];
  const unsigned id = rule.first_id + pairs.ids[i];
  const F key = pairs.keys[i];
  const bool self = rule.first_self >= 0 && rule.first_self + query == id;
  const bool hit = key <= rule.radii[query] && !self;
  if (hit) atomicAdd(counts + query, 1U);
  if (labeled != nullptr) labeled[i] = {ordered_bits(key, false), id, hit ? query : queries};
}

template <class F>
__global__ void __launch_bounds__(kRadiusThreads) split_hits_kernel(Metric metric, const LabeledKey<OrderOf<F>>* hits,
                                                                    std::int64_t count, F* distances, unsigned* ids) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  distances[i] = core::returned_value(metric, value_of<F>(hits[i].order, false));
  ids[i] = hits[i].id;
}

}  // namespace

template <class F>
void label_hits(const KeyedPairs<F>& pairs, const HitRule<F>& rule, std::int64_t queries, unsigned* counts,
                LabeledKey<OrderOf<F>>* labeled, cudaStream_t stream) {
  launch("label_hits", label_hits_kernel<F>, thread_each(pairs.count), stream, pairs, rule,
         static_cast<unsigned>(queries), counts, labeled);
}

template <class F>
void split_hits(const Metric& metric, const LabeledKey<OrderOf<F>>* hits, std::int64_t count, F* distances,
                unsigned* ids, cudaStream_t stream) {
  launch("split_hits", split_hits_kernel<F>, thread_each(count), stream, metric, hits, count, distances, ids);
}

#define KITH_INSTANTIATE(F)                                                                                           \
  template void label_hits(const KeyedPairs<F>&, const HitRule<F>&, std::int64_t, unsigned*, LabeledKey<OrderOf<F>>*, \
                           cudaStream_t);                                                                             \
  template void split_hits(const Metric&, const LabeledKey<OrderOf<F>>*, std::int64_t, F*, unsigned*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::radius
