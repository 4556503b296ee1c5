// radius_hits.cu: a thread takes a pair; one block takes pairs that are few, and the offsets.
#include "cuda/radius/radius_hits.hpp"

#include "cuda/primitives/block.cuh"
#include "cuda/primitives/block_merge_sort.cuh"
#include "cuda/primitives/matrix_element.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::radius {
namespace {

constexpr unsigned kRadiusThreads = 256;
constexpr unsigned kSortItems = 2;  // of a thread: most parts that are few are sorted at once

template <class F>
__global__ void __launch_bounds__(kRadiusThreads) fill_radii_kernel(F key, std::int64_t queries, F* radii) {
  const std::int64_t query = thread_index();
  if (query < queries) radii[query] = key;
}

template <class F>
__device__ void label_hit(unsigned query, unsigned tile_id, F key, const HitRule<F>& rule, unsigned* counts,
                          LabeledKey<OrderOf<F>>* labeled) {
  const unsigned id = rule.first_id + tile_id;
  const bool self = rule.first_self >= 0 && rule.first_self + query == id;
  const bool hit = key <= rule.radii[query] && !self;
  if (hit) atomicAdd(counts + query, 1U);
  if (labeled != nullptr) *labeled = {ordered_bits(key, false), id, hit ? query : rule.queries};
}

template <class F>
__global__ void __launch_bounds__(kRadiusThreads)
    label_hits_kernel(KeyedPairs<F> pairs, HitRule<F> rule, unsigned* counts, LabeledKey<OrderOf<F>>* labeled) {
  const std::int64_t i = thread_index();
  if (i >= pairs.count) return;
  label_hit(pairs.queries[i], pairs.ids[i], pairs.keys[i], rule, counts, labeled == nullptr ? nullptr : labeled + i);
}

template <class F>
__device__ void split_hit(const Metric& metric, const LabeledKey<OrderOf<F>>& hit, F& distance, unsigned& id) {
  distance = core::returned_value(metric, value_of<F>(hit.order, false));
  id = hit.id;
}

template <class F>
__global__ void __launch_bounds__(kRadiusThreads) split_hits_kernel(Metric metric, const LabeledKey<OrderOf<F>>* hits,
                                                                    std::int64_t count, F* distances, unsigned* ids) {
  const std::int64_t i = thread_index();
  if (i < count) split_hit(metric, hits[i], distances[i], ids[i]);
}

// Pairs outside of the radius are sorted behind the hits, and split like them.
template <class F>
__global__ void __launch_bounds__(kRadiusThreads)
    rank_few_hits_kernel(FewPairs<F> pairs, HitRule<F> rule, Metric metric, unsigned* counts) {
  using Key = LabeledKey<OrderOf<F>>;
  KITH_SHARED(Key, sorting, kRadiusThreads * kSortItems);
  if (*pairs.count > static_cast<unsigned long long>(pairs.most)) return;
  const auto count = static_cast<unsigned>(*pairs.count);
  for (unsigned i = threadIdx.x; i < count; i += kRadiusThreads)
    label_hit(pairs.queries[i], pairs.ids[i], pairs.keys[i], rule, counts,
              pairs.labeled == nullptr ? nullptr : pairs.labeled + i);
  if (pairs.labeled == nullptr) return;
  __syncthreads();
  const Key* const sorted =
      block_merge_sort<Key, kRadiusThreads, kSortItems>(pairs.labeled, pairs.spare, count, sorting);
  for (unsigned i = threadIdx.x; i < count; i += kRadiusThreads)
    split_hit(metric, sorted[i], pairs.keys[i], pairs.ids[i]);
}

// Must be called by all threads of the block.
__device__ void sum_counts(const unsigned* counts, std::int64_t queries, std::int64_t* offsets) {
  KITH_SHARED(unsigned, scratch, kRadiusThreads / kWarp + 1);
  std::int64_t before = 0;
  for (std::int64_t first = 0; first < queries; first += kRadiusThreads) {
    const std::int64_t query = first + threadIdx.x;
    unsigned total = 0;
    const unsigned sum = block_exclusive_sum<kRadiusThreads>(query < queries ? counts[query] : 0U, scratch, total);
    if (query < queries) offsets[query] = before + sum;
    before += total;
  }
  if (threadIdx.x == 0) offsets[queries] = before;
}

template <class F>
__global__ void __launch_bounds__(kRadiusThreads)
    return_rows_kernel(HitRows<F> rows, std::int64_t* offsets, F* distances, std::int64_t* ids) {
  const std::int64_t i = thread_index();
  if (distances != nullptr && i < rows.hits) {
    distances[i] = rows.distances[i];
    ids[i] = rows.ids[i];
  }
  if (blockIdx.x == 0) sum_counts(rows.counts, rows.queries, offsets);
}

}  // namespace

template <class F>
void fill_radii(F key, std::int64_t queries, F* radii, cudaStream_t stream) {
  launch("fill_radii", fill_radii_kernel<F>, thread_each(queries), stream, key, queries, radii);
}

template <class F>
void label_hits(const KeyedPairs<F>& pairs, const HitRule<F>& rule, unsigned* counts, LabeledKey<OrderOf<F>>* labeled,
                cudaStream_t stream) {
  launch("label_hits", label_hits_kernel<F>, thread_each(pairs.count), stream, pairs, rule, counts, labeled);
}

template <class F>
void split_hits(const Metric& metric, const LabeledKey<OrderOf<F>>* hits, std::int64_t count, F* distances,
                unsigned* ids, cudaStream_t stream) {
  launch("split_hits", split_hits_kernel<F>, thread_each(count), stream, metric, hits, count, distances, ids);
}

template <class F>
void rank_few_hits(const FewPairs<F>& pairs, const HitRule<F>& rule, const Metric& metric, unsigned* counts,
                   cudaStream_t stream) {
  launch("rank_few_hits", rank_few_hits_kernel<F>, {.blocks = 1, .threads = kRadiusThreads}, stream, pairs, rule,
         metric, counts);
}

template <class F>
void return_rows(const HitRows<F>& rows, std::int64_t* offsets, const NeighborsView<F>& to, cudaStream_t stream) {
  const std::int64_t blocks = to.distances == nullptr ? 1 : ceil_div(rows.hits, kRadiusThreads);
  launch("return_rows", return_rows_kernel<F>, {.blocks = blocks > 1 ? blocks : 1, .threads = kRadiusThreads}, stream,
         rows, offsets, to.distances, to.ids);
}

#define KITH_INSTANTIATE(F)                                                                                            \
  template void fill_radii(F, std::int64_t, F*, cudaStream_t);                                                         \
  template void label_hits(const KeyedPairs<F>&, const HitRule<F>&, unsigned*, LabeledKey<OrderOf<F>>*, cudaStream_t); \
  template void split_hits(const Metric&, const LabeledKey<OrderOf<F>>*, std::int64_t, F*, unsigned*, cudaStream_t);   \
  template void rank_few_hits(const FewPairs<F>&, const HitRule<F>&, const Metric&, unsigned*, cudaStream_t);          \
  template void return_rows(const HitRows<F>&, std::int64_t*, const NeighborsView<F>&, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::radius
