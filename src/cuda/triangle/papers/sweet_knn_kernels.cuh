// sweet_knn_kernels.cuh: the kernels of sweet_knn.hpp for one type of coordinates; sweet_knn_float.cu and
// sweet_knn_double.cu instantiate them.
// One change to Algorithm 2 of Chen et al.: its line 4 fills the list with the k upper bounds of the query's cluster. A
// point's bound and its distance may then both be in the list, which would count it twice and lose a neighbor. Here the
// list starts empty, and the k-th bound remains the search bound until k neighbors are nearer.
#pragma once

#include "core/triangle_limits.hpp"
#include "cuda/primitives/matrix_element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/exact_key.cuh"
#include "cuda/triangle/papers/sweet_knn_call.hpp"
#include "cuda/triangle/papers/sweet_knn_lists.cuh"
#include "cuda/triangle/search_bound.cuh"

namespace kith::KITH_BACKEND::triangle {

// The part of a query's search that one thread does.
template <class F, bool kSquared, class Sink>
class SweetKnnSearch {
  using Key = KeyOf<F>;

 public:
  __device__ SweetKnnSearch(const SweetKnnCall<F>& call, Sink& sink, std::int64_t query, unsigned position)
      : call_(call),
        batch_(call.batch),
        sink_(sink),
        query_(query),
        position_(position),
        row_(batch_.queries.clusters[position] - batch_.candidates.first) {
    set_search_bound(batch_.candidates.search_bounds[row_]);
  }

  __device__ void run(unsigned thread) {
    const unsigned outer = call_.options.threads / call_.options.inner;
    const unsigned count = batch_.candidates.counts[row_];
    for (unsigned i = thread / call_.options.inner; i < count; i += outer)
      scan_cluster(batch_.candidates.clusters[static_cast<std::int64_t>(row_) * batch_.candidates.stride + i],
                   thread % call_.options.inner);
  }

  unsigned visited = 0;
  unsigned center_distances = 0;
  unsigned distances = 0;
  unsigned exact = 0;

 private:
  __device__ void set_search_bound(double search_bound) {
    search_bound_ = search_bound;
    limit_ = score_limit(batch_.space, search_bound);
  }
  __device__ __forceinline__ const F* query_row() const {
    return batch_.queries.rows + static_cast<std::int64_t>(position_) * batch_.space.width;
  }

  // Takes over a lower search bound that another thread of the query has found.
  __device__ void read_shared_bound() {
    if (call_.search_bounds == nullptr) return;
    const double other = __longlong_as_double(static_cast<long long>(atomicMin(call_.search_bounds + query_, ~0ULL)));
    if (other < search_bound_) set_search_bound(other);
  }

  // Lowers the search bound after an insertion (line 17).
  __device__ void follow_list() {
    const double search_bound = search_bound_of_key(batch_.space, value_of<F>(order_of(sink_.head()), false));
    if (!(search_bound < search_bound_)) return;
    set_search_bound(search_bound);
    if (call_.search_bounds != nullptr)
      atomicMin(call_.search_bounds + query_, static_cast<unsigned long long>(__double_as_longlong(search_bound)));
  }

  __device__ void scan_cluster(unsigned cluster, unsigned first_member) {
    const Space<F>& space = batch_.space;
    const ClusterView<F>& base = batch_.base;
    const double a = metric_distance<kSquared>(
        space.metric,
        sum_of_pair<1, double>(distance_terms<kSquared>(space), query_row(),
                               base.centers + static_cast<std::int64_t>(cluster) * space.width, space.width));
    ++center_distances;
    if (first_member == 0) ++visited;
    read_shared_bound();
    const double radius = base.radii[cluster];
    const unsigned end = base.offsets[cluster + 1];
    core::DistanceInterval interval = space.bounds.interval(a, radius, search_bound_);
    for (unsigned i = base.offsets[cluster] + first_member; i < end; i += call_.options.inner) {
      const double distance = base.member_distances[i];
      if (set_low_word(distance) < interval.low) break;  // members behind it are nearer to the center
      if (distance < interval.low || distance > interval.high) continue;
      ++distances;
      if (score_member(i)) interval = space.bounds.interval(a, radius, search_bound_);
    }
  }

  // Returns whether the search bound may have changed.
  __device__ bool score_member(unsigned i) {
    const Space<F>& space = batch_.space;
    const F* y = batch_.base.rows + static_cast<std::int64_t>(i) * space.width;
    const F score = sum_of_pair<1, F>(score_terms<kSquared>(space), query_row(), y, space.width);
    if (score > limit_) return false;
    ++exact;
    const unsigned id = batch_.base.ids[i];
    ExactKeyPair<F> pair{query_row(), y, space.width, {}, {}};
    if (!kSquared && batch_.source.directions) pair = directions_pair(batch_.source, batch_.queries.ids[position_], id);
    if (!sink_.offer(exact_key<F, 1, kSquared>(batch_.source, pair, id))) return false;
    follow_list();
    return true;
  }

  const SweetKnnCall<F>& call_;
  const QueryBatch<F>& batch_;
  Sink& sink_;
  std::int64_t query_;
  unsigned position_;
  unsigned row_;
  double search_bound_ = 0;
  F limit_ = 0;
};

// Sinks of keys: the thread's list, or the query's row of survivors. offer() returns whether a full list has changed.
template <class List>
struct SweetKnnListSink {
  List list;
  __device__ __forceinline__ bool offer(const typename List::Key& key) {
    if (!(key < list.head())) return false;
    list.insert(key);
    return list.head() < last_key<typename List::Key>();
  }
  __device__ __forceinline__ const typename List::Key& head() const { return list.head(); }
};

template <class F>
struct SweetKnnRowSink {
  const Survivors<F>& survivors;
  std::int64_t row;
  __device__ bool offer(const KeyOf<F>& key) const {
    const unsigned slot = atomicAdd(survivors.counts + row, 1U);
    if (survivors.keys == nullptr || slot >= survivors.capacity) return false;
    survivors.keys[row * survivors.capacity + slot] = value_of<F>(order_of(key), false);
    survivors.ids[row * survivors.capacity + slot] = id_of(key);
    return false;
  }
  __device__ KeyOf<F> head() const { return last_key<KeyOf<F>>(); }
};

// Must be called by all threads of the warp.
template <class Search>
__device__ void count_sweet_knn(const Search& search, bool active, TriangleCounters* counters) {
  if (counters == nullptr) return;
  TriangleCounters& mine = counters[blockIdx.x % kCounterSlots];
  const auto add = [&](unsigned long long& to, unsigned value) {
    unsigned long long all = active ? value : 0;
    for (int step = kWarp / 2; step > 0; step /= 2) all += __shfl_xor_sync(kFullMask, all, step);
    if (lane_id() == 0) atomicAdd(&to, all);
  };
  add(mine.clusters_visited, search.visited);
  add(mine.center_distances, search.center_distances);
  add(mine.distances, search.distances);
  add(mine.keys, search.exact);
}

// The query of a thread, and its number among the query's threads. Threads behind the last one repeat the first query.
struct SweetKnnThread {
  std::int64_t query;
  unsigned thread;
  unsigned position;
  bool active;
};

template <class F>
__device__ SweetKnnThread sweet_knn_thread(const SweetKnnCall<F>& call) {
  const std::int64_t index = thread_index();
  const bool active = index < call.batch.count * call.options.threads;
  const std::int64_t at = active ? index / call.options.threads : 0;
  const unsigned position =
      call.positions != nullptr ? call.positions[at] : static_cast<unsigned>(call.batch.first + at);
  return {static_cast<std::int64_t>(position) - call.batch.first, static_cast<unsigned>(index % call.options.threads),
          position, active};
}

// The slots of a thread's list.
template <class F>
__device__ select::Interleaved<KeyOf<F>> sweet_knn_slots(const SweetKnnCall<F>& call) {
  const bool shared = call.options.placement == TrianglePlacement::shared;
  KeyOf<F>* const all = shared ? dynamic_shared<KeyOf<F>>() : call.slots;
  const std::int64_t lists = shared ? blockDim.x : static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t mine = shared ? threadIdx.x : thread_index();
  if (call.options.interleaved) return {all + mine, lists};
  return {all + mine * call.batch.k, 1};
}

template <class F, class List, bool kSquared>
__global__ void __launch_bounds__(kSweetKnnThreads) sweet_knn_kernel(const __grid_constant__ SweetKnnCall<F> call) {
  const SweetKnnThread mine = sweet_knn_thread(call);
  const unsigned k = call.batch.k;
  select::Interleaved<KeyOf<F>> slots{};
  if constexpr (List::kInMemory) slots = sweet_knn_slots(call);
  SweetKnnListSink<List> sink{List(slots, k)};
  SweetKnnSearch<F, kSquared, SweetKnnListSink<List>> search(call, sink, mine.query, mine.position);
  if (mine.active) search.run(mine.thread);
  count_sweet_knn(search, mine.active, call.batch.counters);
  if (!mine.active) return;
  sink.list.sort();
  if (call.options.threads == 1) {
    const std::int64_t row = static_cast<std::int64_t>(call.batch.queries.ids[mine.position]) * k;
    return sink.list.each(k, [&](unsigned rank, const KeyOf<F>& key) {
      call.batch.keys[row + rank] = value_of<F>(order_of(key), false);
      call.batch.ids[row + rank] = id_of(key);
    });
  }
  // Slots without a neighbor get an id that no point has, and NaN.
  const std::int64_t first = mine.query * call.survivors.capacity + static_cast<std::int64_t>(mine.thread) * k;
  sink.list.each(k, [&](unsigned rank, const KeyOf<F>& key) {
    const bool is_key = key < last_key<KeyOf<F>>();
    call.survivors.keys[first + rank] = value_of<F>(order_of(key), false);
    call.survivors.ids[first + rank] = is_key ? id_of(key) : kPaddingId + mine.thread * k + rank;
  });
}

template <class F, bool kSquared>
__global__ void __launch_bounds__(kSweetKnnThreads)
    store_sweet_knn_kernel(const __grid_constant__ SweetKnnCall<F> call) {
  const SweetKnnThread mine = sweet_knn_thread(call);
  SweetKnnRowSink<F> sink{call.survivors, mine.query};
  SweetKnnSearch<F, kSquared, SweetKnnRowSink<F>> search(call, sink, mine.query, mine.position);
  if (mine.active) search.run(mine.thread);
  count_sweet_knn(search, mine.active, call.batch.counters);
}

template <class F, class List>
void launch_sweet_knn(const SweetKnnCall<F>& call, const LaunchShape& shape, cudaStream_t stream) {
  if (call.batch.space.is_plain()) return launch("sweet_knn", sweet_knn_kernel<F, List, true>, shape, stream, call);
  launch("sweet_knn", sweet_knn_kernel<F, List, false>, shape, stream, call);
}

// Lists in shared memory take the block's dynamic part.
template <class F>
void run_sweet_knn(const SweetKnnCall<F>& call, unsigned threads, cudaStream_t stream) {
  using Key = KeyOf<F>;
  const unsigned k = call.batch.k;
  LaunchShape shape{.blocks = ceil_div(call.batch.count * call.options.threads, threads), .threads = threads};
  if (call.options.partial) {
    if (call.batch.space.is_plain())
      return launch("store_sweet_knn", store_sweet_knn_kernel<F, true>, shape, stream, call);
    return launch("store_sweet_knn", store_sweet_knn_kernel<F, false>, shape, stream, call);
  }
  if (call.options.placement == TrianglePlacement::registers) {
    if (k <= 8) return launch_sweet_knn<F, RegisterList<Key, 8>>(call, shape, stream);
    if (k <= 32) return launch_sweet_knn<F, RegisterList<Key, 32>>(call, shape, stream);
    return launch_sweet_knn<F, RegisterList<Key, core::kMaxRegisterList>>(call, shape, stream);
  }
  if (call.options.placement == TrianglePlacement::shared)
    shape.shared_bytes = static_cast<std::size_t>(threads) * k * sizeof(Key);
  launch_sweet_knn<F, HeapList<Key>>(call, shape, stream);
}

}  // namespace kith::KITH_BACKEND::triangle
