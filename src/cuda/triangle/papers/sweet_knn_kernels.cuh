// sweet_knn_kernels.cuh: the kernels of paper.hpp for one type of coordinates; compiled in a file for each.
//
// Line 4 of the algorithm fills the list with the k upper bounds of the query's cluster. A point's bound and its
// distance may then both be in the list, which would count it twice and lose a neighbor; so the list starts empty, and
// the k-th bound stays the reach until k neighbors are nearer.
#pragma once

#include "core/triangle_limits.hpp"
#include "cuda/primitives/element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/triangle/exact_key.cuh"
#include "cuda/triangle/papers/sweet_knn_lists.cuh"
#include "cuda/triangle/papers/sweet_knn_work.hpp"
#include "cuda/triangle/search_bound.cuh"

namespace kith::KITH_BACKEND::triangle {

// A thread's part of a query.
template <class F, bool kSquared, class Sink>
class SweetKnnSearch {
  using Key = KeyOf<F>;

 public:
  __device__ SweetKnnSearch(const SweetKnnWork<F>& work, Sink& sink, std::int64_t query, unsigned position)
      : work_(work),
        level2_(work.level2),
        sink_(sink),
        query_(query),
        position_(position),
        row_(level2_.queries.clusters[position] - level2_.level1.first) {
    set_reach(level2_.level1.reaches[row_]);
  }

  __device__ void run(unsigned thread) {
    const unsigned outer = work_.shape.threads / work_.shape.inner;
    const unsigned count = level2_.level1.counts[row_];
    for (unsigned i = thread / work_.shape.inner; i < count; i += outer)
      take_cluster(level2_.level1.clusters[static_cast<std::int64_t>(row_) * level2_.level1.stride + i],
                   thread % work_.shape.inner);
  }

  unsigned visited = 0;
  unsigned centers = 0;
  unsigned distances = 0;
  unsigned exact = 0;

 private:
  __device__ void set_reach(double reach) {
    reach_ = reach;
    limit_ = score_limit(level2_.space, reach);
  }
  __device__ __forceinline__ const F* x() const {
    return level2_.queries.rows + static_cast<std::int64_t>(position_) * level2_.space.width;
  }

  // What other threads of the query have found.
  __device__ void read_shared() {
    if (work_.reaches == nullptr) return;
    const double other = __longlong_as_double(static_cast<long long>(atomicMin(work_.reaches + query_, ~0ULL)));
    if (other < reach_) set_reach(other);
  }

  // After an insertion (line 17).
  __device__ void follow_list() {
    const double reach = reach_of_key(level2_.space, value_of<F>(order_of(sink_.head()), false));
    if (!(reach < reach_)) return;
    set_reach(reach);
    if (work_.reaches != nullptr)
      atomicMin(work_.reaches + query_, static_cast<unsigned long long>(__double_as_longlong(reach)));
  }

  __device__ void take_cluster(unsigned cluster, unsigned first_member) {
    const Space<F>& space = level2_.space;
    const ClusterView<F>& base = level2_.base;
    const double a = length_of<kSquared>(
        space.metric,
        sum_between<1, double>(length_terms<kSquared>(space), x(),
                               base.centers + static_cast<std::int64_t>(cluster) * space.width, space.width));
    ++centers;
    if (first_member == 0) ++visited;
    read_shared();
    const double radius = base.radii[cluster];
    const unsigned end = base.offsets[cluster + 1];
    core::LengthWindow window = space.bounds.window(a, radius, reach_);
    for (unsigned i = base.offsets[cluster] + first_member; i < end; i += work_.shape.inner) {
      const double length = base.lengths[i];
      if (half_above(length) < window.low) break;  // and so are all behind it
      if (length < window.low || length > window.high) continue;
      ++distances;
      if (take_member(i)) window = space.bounds.window(a, radius, reach_);
    }
  }

  // Whether the reach may have changed.
  __device__ bool take_member(unsigned i) {
    const Space<F>& space = level2_.space;
    const F* y = level2_.base.rows + static_cast<std::int64_t>(i) * space.width;
    const F score = sum_between<1, F>(score_terms<kSquared>(space), x(), y, space.width);
    if (score > limit_) return false;
    ++exact;
    const unsigned id = level2_.base.ids[i];
    KeyPair<F> pair{x(), y, space.width, {}, {}};
    if (!kSquared && level2_.source.directions)
      pair = directions_pair(level2_.source, level2_.queries.ids[position_], id);
    if (!sink_.take(exact_key<F, 1, kSquared>(level2_.source, pair, id))) return false;
    follow_list();
    return true;
  }

  const SweetKnnWork<F>& work_;
  const Level2<F>& level2_;
  Sink& sink_;
  std::int64_t query_;
  unsigned position_;
  unsigned row_;
  double reach_ = 0;
  F limit_ = 0;
};

// Where keys go: into a list, or with all others into the query's row. take() tells whether a full list has changed.
template <class List>
struct IntoList {
  List list;
  __device__ __forceinline__ bool take(const typename List::Key& key) {
    if (!(key < list.head())) return false;
    list.insert(key);
    return list.head() < last_key<typename List::Key>();
  }
  __device__ __forceinline__ const typename List::Key& head() const { return list.head(); }
};

template <class F>
struct IntoRow {
  const Survivors<F>& survivors;
  std::int64_t row;
  __device__ bool take(const KeyOf<F>& key) const {
    const unsigned place = atomicAdd(survivors.counts + row, 1U);
    if (survivors.keys == nullptr || place >= survivors.room) return false;
    survivors.keys[row * survivors.room + place] = value_of<F>(order_of(key), false);
    survivors.ids[row * survivors.room + place] = id_of(key);
    return false;
  }
  __device__ KeyOf<F> head() const { return last_key<KeyOf<F>>(); }
};

// All threads of the warp call.
template <class Search>
__device__ void count_paper(const Search& search, bool active, TriangleCounters* counters) {
  if (counters == nullptr) return;
  TriangleCounters& mine = counters[blockIdx.x % kCounterSlots];
  const auto add = [&](unsigned long long& to, unsigned value) {
    unsigned long long all = active ? value : 0;
    for (int step = kWarp / 2; step > 0; step /= 2) all += __shfl_xor_sync(kFullMask, all, step);
    if (lane_id() == 0) atomicAdd(&to, all);
  };
  add(mine.clusters_visited, search.visited);
  add(mine.center_distances, search.centers);
  add(mine.distances, search.distances);
  add(mine.keys, search.exact);
}

// Which query a thread has, and which of its threads it is. Threads behind the last one have the first once more.
struct SweetKnnThread {
  std::int64_t query;
  unsigned thread;
  unsigned position;
  bool active;
};

template <class F>
__device__ SweetKnnThread paper_thread(const SweetKnnWork<F>& work) {
  const std::int64_t index = thread_index();
  const bool active = index < work.level2.count * work.shape.threads;
  const std::int64_t at = active ? index / work.shape.threads : 0;
  const unsigned position =
      work.positions != nullptr ? work.positions[at] : static_cast<unsigned>(work.level2.first + at);
  return {static_cast<std::int64_t>(position) - work.level2.first, static_cast<unsigned>(index % work.shape.threads),
          position, active};
}

// The slots of a thread's list.
template <class F>
__device__ select::Interleaved<KeyOf<F>> paper_slots(const SweetKnnWork<F>& work) {
  const bool shared = work.shape.placement == SweetKnnShape::Placement::shared;
  KeyOf<F>* const all = shared ? dynamic_shared<KeyOf<F>>() : work.slots;
  const std::int64_t lists = shared ? blockDim.x : static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t mine = shared ? threadIdx.x : thread_index();
  if (work.shape.interleaved) return {all + mine, lists};
  return {all + mine * work.level2.k, 1};
}

template <class F, class List, bool kSquared>
__global__ void __launch_bounds__(kPaperThreads) paper_kernel(const __grid_constant__ SweetKnnWork<F> work) {
  const SweetKnnThread who = paper_thread(work);
  const unsigned k = work.level2.k;
  select::Interleaved<KeyOf<F>> slots{};
  if constexpr (List::kInMemory) slots = paper_slots(work);
  IntoList<List> sink{List(slots, k)};
  SweetKnnSearch<F, kSquared, IntoList<List>> search(work, sink, who.query, who.position);
  if (who.active) search.run(who.thread);
  count_paper(search, who.active, work.level2.counters);
  if (!who.active) return;
  sink.list.sort();
  if (work.shape.threads == 1) {
    const std::int64_t row = static_cast<std::int64_t>(work.level2.queries.ids[who.position]) * k;
    return sink.list.each(k, [&](unsigned rank, const KeyOf<F>& key) {
      work.level2.keys[row + rank] = value_of<F>(order_of(key), false);
      work.level2.ids[row + rank] = id_of(key);
    });
  }
  // What is not a neighbor gets a number that no point has, and NaN.
  const std::int64_t first = who.query * work.survivors.room + static_cast<std::int64_t>(who.thread) * k;
  sink.list.each(k, [&](unsigned rank, const KeyOf<F>& key) {
    const bool is_key = key < last_key<KeyOf<F>>();
    work.survivors.keys[first + rank] = value_of<F>(order_of(key), false);
    work.survivors.ids[first + rank] = is_key ? id_of(key) : kPaddingId + who.thread * k + rank;
  });
}

template <class F, bool kSquared>
__global__ void __launch_bounds__(kPaperThreads) store_paper_kernel(const __grid_constant__ SweetKnnWork<F> work) {
  const SweetKnnThread who = paper_thread(work);
  IntoRow<F> sink{work.survivors, who.query};
  SweetKnnSearch<F, kSquared, IntoRow<F>> search(work, sink, who.query, who.position);
  if (who.active) search.run(who.thread);
  count_paper(search, who.active, work.level2.counters);
}

template <class F, class List>
void launch_paper_list(const SweetKnnWork<F>& work, const Shape& shape, cudaStream_t stream) {
  if (work.level2.space.is_plain()) return launch("paper", paper_kernel<F, List, true>, shape, stream, work);
  launch("paper", paper_kernel<F, List, false>, shape, stream, work);
}

// Lists in shared memory lie in a block's dynamic part.
template <class F>
void run_paper(const SweetKnnWork<F>& work, unsigned threads, cudaStream_t stream) {
  using Key = KeyOf<F>;
  const unsigned k = work.level2.k;
  Shape shape{.blocks = ceil_div(work.level2.count * work.shape.threads, threads), .threads = threads};
  if (work.shape.partial) {
    if (work.level2.space.is_plain()) return launch("store_paper", store_paper_kernel<F, true>, shape, stream, work);
    return launch("store_paper", store_paper_kernel<F, false>, shape, stream, work);
  }
  if (work.shape.placement == SweetKnnShape::Placement::registers) {
    if (k <= 8) return launch_paper_list<F, RegisterList<Key, 8>>(work, shape, stream);
    if (k <= 32) return launch_paper_list<F, RegisterList<Key, 32>>(work, shape, stream);
    return launch_paper_list<F, RegisterList<Key, core::kLargestRegisterList>>(work, shape, stream);
  }
  if (work.shape.placement == SweetKnnShape::Placement::shared)
    shape.shared_bytes = static_cast<std::size_t>(threads) * k * sizeof(Key);
  launch_paper_list<F, HeapList<Key>>(work, shape, stream);
}

}  // namespace kith::KITH_BACKEND::triangle
