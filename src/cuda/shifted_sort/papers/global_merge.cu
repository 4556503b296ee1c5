// global_merge.cu: a block takes a query and merges its candidates into its list, shift by shift.
// Idea    the first shift sorts 2k candidates in shared memory and keeps k. Later ones find the position of each
//         candidate in the list by binary search and count the newcomers of each position; a prefix sum over the counts
//         of newcomers and residents, which alternate, gives everyone a rank (Algorithm 2 of Li et al.). Newcomers of
//         one position come in any order, so another kernel sorts the list; where the list's end falls among them, it
//         is not certain which of them stay. Distances are those of true coordinates; Li et al. use those of the codes.
// Cost    a shift: 2k binary searches in shared memory, a scan of 2k counters, a sort of k keys, and the list is read
//         and written twice.
#include "cuda/shifted_sort/papers/global_merge.hpp"

#include <algorithm>
#include <bit>

#include "cuda/shifted_sort/curve_search.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

constexpr unsigned kMaxGlobalMergeThreads = 2 * kMaxGlobalMergeK;

template <class F>
struct GlobalMergeCall {
  CurveSearch<F> search;
  KeyOf<F>* lists;  // k a query, in the order of the curve
  int shift;
  unsigned padded;  // keys that a block sorts, a power of two
};

// Sorts ascending by a bitonic network. Must be called by all threads of the block; ends with a barrier.
template <class K>
__device__ void sort_shared(K* keys, unsigned count) {
  for (unsigned run = 2; run <= count; run *= 2)
    for (unsigned stride = run / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (unsigned c = threadIdx.x; c < count / 2; c += blockDim.x) {
        const unsigned low = (c & ~(stride - 1)) << 1U | (c & (stride - 1));
        order_pair(keys[low], keys[stride == run / 2 ? low ^ (run - 1) : low + stride]);
      }
    }
  __syncthreads();
}

// Candidate i of 2k: those on the left of the query's position, then those on the right.
template <class F, unsigned kWidth>
__device__ KeyOf<F> candidate(const GlobalMergeCall<F>& call, const CurvePoint<F, kWidth>& query, unsigned i) {
  const CurveSearch<F>& search = call.search;
  const std::int64_t position = search.positions[call.shift * search.count + blockIdx.x];
  const std::int64_t at = position - search.k + i;
  if (i >= 2 * search.k || at < 0 || at >= search.orders.count) return last_key<KeyOf<F>>();
  const auto* points = reinterpret_cast<const CurvePoint<F, kWidth>*>(search.orders.points);
  const CurvePoint<F, kWidth> point = points[call.shift * search.orders.count + at];
  return candidate_key<F>(curve_score(search.form, query.x, point.x), static_cast<unsigned>(point.id));
}

template <class F, unsigned kWidth>
__global__ void __launch_bounds__(kMaxGlobalMergeThreads) first_candidates_kernel(GlobalMergeCall<F> call) {
  auto* keys = dynamic_shared<KeyOf<F>>();
  const auto query = reinterpret_cast<const CurvePoint<F, kWidth>*>(call.search.queries)[blockIdx.x];
  for (unsigned i = threadIdx.x; i < call.padded; i += blockDim.x) keys[i] = candidate(call, query, i);
  sort_shared(keys, call.padded);
  KeyOf<F>* list = call.lists + static_cast<std::int64_t>(blockIdx.x) * call.search.k;
  for (unsigned i = threadIdx.x; i < call.search.k; i += blockDim.x) list[i] = keys[i];
}

// values[i] becomes the sum of those before it. Needs a thread a value; begins and ends with a barrier.
__device__ void exclusive_sum(unsigned* values, unsigned count) {
  __syncthreads();
  const unsigned own = threadIdx.x < count ? values[threadIdx.x] : 0;
  for (unsigned step = 1; step < count; step *= 2) {
    const bool adds = threadIdx.x >= step && threadIdx.x < count;
    const unsigned other = adds ? values[threadIdx.x - step] : 0;
    __syncthreads();
    if (adds) values[threadIdx.x] += other;
    __syncthreads();
  }
  if (threadIdx.x < count) values[threadIdx.x] -= own;
  __syncthreads();
}

// A thread takes a candidate.
template <class F, unsigned kWidth>
__global__ void __launch_bounds__(kMaxGlobalMergeThreads) merge_candidates_kernel(GlobalMergeCall<F> call) {
  using K = KeyOf<F>;
  const unsigned k = call.search.k;
  const unsigned thread = threadIdx.x;
  auto* current = dynamic_shared<K>();
  auto* counters = reinterpret_cast<unsigned*>(current + k);
  K* list = call.lists + static_cast<std::int64_t>(blockIdx.x) * k;
  if (thread < k) current[thread] = list[thread];
  if (thread < 2 * k) counters[thread] = thread % 2;
  __syncthreads();
  const auto query = reinterpret_cast<const CurvePoint<F, kWidth>*>(call.search.queries)[blockIdx.x];
  const K key = candidate(call, query, thread);
  const unsigned position = count_keys_less(current, k, 1U << (bit_width(k) - 1), key);
  const bool comes = position < k && key < last_key<K>() && !(current[position] == key);
  const unsigned before = comes ? atomicAdd(&counters[2 * position], 1U) : 0;
  exclusive_sum(counters, 2 * k);
  // All threads have read the list in global memory: it can be overwritten.
  if (thread < k && counters[2 * thread + 1] < k) list[counters[2 * thread + 1]] = current[thread];
  if (comes && counters[2 * position] + before < k) list[counters[2 * position] + before] = key;
}

template <class F>
__global__ void __launch_bounds__(kMaxGlobalMergeThreads) sort_list_kernel(GlobalMergeCall<F> call) {
  auto* keys = dynamic_shared<KeyOf<F>>();
  KeyOf<F>* list = call.lists + static_cast<std::int64_t>(blockIdx.x) * call.search.k;
  for (unsigned i = threadIdx.x; i < call.padded; i += blockDim.x)
    keys[i] = i < call.search.k ? list[i] : last_key<KeyOf<F>>();
  sort_shared(keys, call.padded);
  for (unsigned i = threadIdx.x; i < call.search.k; i += blockDim.x) list[i] = keys[i];
}

// Computes the exact keys, sorts by them and writes the answer.
template <class F, unsigned kWidth>
__global__ void __launch_bounds__(kMaxGlobalMergeThreads)
    return_list_kernel(GlobalMergeCall<F> call, F* out, std::int64_t* ids) {
  auto* keys = dynamic_shared<KeyOf<F>>();
  const unsigned k = call.search.k;
  const auto query = reinterpret_cast<const CurvePoint<F, kWidth>*>(call.search.queries)[blockIdx.x];
  const KeyOf<F>* list = call.lists + static_cast<std::int64_t>(blockIdx.x) * k;
  for (unsigned i = threadIdx.x; i < call.padded; i += blockDim.x) {
    keys[i] = last_key<KeyOf<F>>();
    if (i < k) keys[i] = candidate_key<F>(exact_curve_key(call.search, query.x, id_of(list[i])), id_of(list[i]));
  }
  sort_shared(keys, call.padded);
  const std::int64_t row = static_cast<std::int64_t>(query.id) * k;
  for (unsigned i = threadIdx.x; i < k; i += blockDim.x) {
    out[row + i] = candidate_value<F>(keys[i]);
    ids[row + i] = static_cast<std::int64_t>(id_of(keys[i]));
  }
}

unsigned whole_warps(unsigned threads) {
  return (threads + kWarp - 1) / kWarp * kWarp;
}

}  // namespace

template <class F>
void global_merge_search(const CurveSearch<F>& search, F* keys, std::int64_t* ids, Workspace& workspace) {
  const unsigned k = search.k;
  GlobalMergeCall<F> call{search, workspace.allocate<KeyOf<F>>(static_cast<std::size_t>(search.count) * k), 0, 0};
  const auto shape = [&](unsigned threads, std::size_t bytes) {
    return LaunchShape{.blocks = search.count, .threads = whole_warps(threads), .shared_bytes = bytes};
  };
  const unsigned sorted = std::bit_ceil(k);
  const LaunchShape for_lists = shape(std::max(sorted / 2, 1U), sizeof(KeyOf<F>) * sorted);
  const LaunchShape for_merges = shape(2 * k, sizeof(KeyOf<F>) * k + sizeof(unsigned) * 2 * k);
  with_curve_width(search.orders.dims, [&](auto width) {
    constexpr unsigned kWidth = decltype(width)::value;
    call.padded = std::bit_ceil(2 * k);
    launch("first_candidates", first_candidates_kernel<F, kWidth>, shape(k, sizeof(KeyOf<F>) * call.padded),
           workspace.stream(), call);
    call.padded = sorted;
    for (call.shift = 1; call.shift < search.orders.shifts; ++call.shift) {
      launch("merge_candidates", merge_candidates_kernel<F, kWidth>, for_merges, workspace.stream(), call);
      launch("sort_list", sort_list_kernel<F>, for_lists, workspace.stream(), call);
    }
    launch("return_list", return_list_kernel<F, kWidth>, for_lists, workspace.stream(), call, keys, ids);
  });
}

template void global_merge_search(const CurveSearch<float>&, float*, std::int64_t*, Workspace&);
template void global_merge_search(const CurveSearch<double>&, double*, std::int64_t*, Workspace&);

}  // namespace kith::KITH_BACKEND::shifted_sort
