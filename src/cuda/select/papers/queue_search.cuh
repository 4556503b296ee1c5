// queue_search.cuh: the search that fills any of the three queues (Tang et al., Algorithm 1, with III.D and III.E).
//   one thread per row   over the transposed matrix, as Tang et al. do: neighboring threads read neighboring rows
//   one warp per row     each lane keeps a queue over its part of the row; the sorted queues are then merged by taking
//                        the smallest of 32 next keys k times
// A thread's data (queue, buffer, levels) is interleaved with that of its neighbors, so that accesses coalesce. No
// thread reads another's data; lanes only vote, for which the warp must be converged.
// Limits     one warp per row: k ≤ 1024; buffers of up to 64 keys; otherwise any k that the workspace allows.
// Workspace  k keys per thread; one thread per row also a copy of the matrix; levels length / (G − 1) values per row.
// For comparison with Tang et al. only: `auto` never chooses a method that uses it.
#pragma once

#include <algorithm>

#include "cuda/primitives/matrix_element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/finish.hpp"
#include "cuda/select/papers/buffered_search.cuh"
#include "cuda/select/papers/hierarchical_partition.cuh"
#include "cuda/select/papers/queue_tuning.hpp"
#include "cuda/select/papers/transpose.hpp"

namespace kith::KITH_BACKEND::select {

// The arguments of a search kernel.
template <class T>
struct QueueSearch {
  Rows<T> rows;
  Transposed<T> transposed;  // with one thread per row
  KeyOf<T>* slots = nullptr;
  unsigned slots_per_thread = 0;
  std::int64_t threads = 0;
  unsigned longest = 0;  // values of the longest list
  QueueOptions queue;
  BufferOptions buffer;
  Hierarchy<T> levels;
};

// Offers the candidates of `steps` steps of the list; all lanes pass the same number. Values are first compared with
// the head, 16 at a time; those that may be below the head of some lane are read again.
template <class T, class Search>
__device__ void offer_candidates(const RowList<T>& list, const Candidates& candidates, unsigned steps, Search& search) {
  using Key = KeyOf<T>;
  constexpr unsigned kAhead = 16;
  for (unsigned first = 0; first < steps; first += kAhead) {
    unsigned positions[kAhead];
    candidates.positions_from(first, steps, positions);
    T values[kAhead];
    KITH_UNROLL
    for (unsigned i = 0; i < kAhead; ++i) values[i] = positions[i] != kNoPosition ? list.value(positions[i]) : T{};
    const OrderOf<T> head = order_of(search.head());
    unsigned promising = 0;
    KITH_UNROLL
    for (unsigned i = 0; i < kAhead; ++i) {
      const bool may = positions[i] != kNoPosition && ordered_bits(values[i], list.largest) <= head;
      promising |= static_cast<unsigned>(may) << i;
    }
    for (unsigned left = __reduce_or_sync(kFullMask, promising); left != 0; left &= left - 1) {
      const unsigned i = static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1;
      Key key = last_key<Key>();
      if ((promising >> i & 1U) != 0) {
        const unsigned position = candidates.position(first + i);
        key = make_key(list.order(position), list.id(position));
      }
      search.offer(key, key < search.head());
    }
  }
}

// Fills the queue of `thread` with the smallest keys of its list. Must be called by the whole warp.
template <class T, class Queue>
__device__ void search_list(const QueueSearch<T>& call, const RowList<T>& list, std::int64_t thread, Queue& queue) {
  using Key = KeyOf<T>;
  const Hierarchy<T>& levels = call.levels;
  Interleaved<unsigned> positions;
  if (levels.top > 0) positions = {levels.positions + thread, call.threads};
  Interleaved<Key> buffer;
  if (call.buffer.size > 0) buffer = {dynamic_shared<Key>() + threadIdx.x, blockDim.x};
  BufferedSearch<Key, Queue> search(queue, buffer, call.buffer);
  queue.reset(last_key<Key>());
  build_levels(levels, list, thread);

  // Levels break ties by column. Where ids differ from columns, values equal to the last one found must be searched
  // again: level −1 is the whole list by id, without the values above that one.
  const bool by_column_first = levels.top > 0 && call.rows.ids != nullptr;  // the same in all lanes
  RowList<T> by_column = list;
  if (levels.top > 0) by_column.ids = nullptr;
  for (int level = levels.top; level >= (by_column_first ? -1 : 0); --level) {
    const RowList<T> current = level < 0 ? list : levels.level_list(by_column, thread, level);
    const bool all = level < 0 || level == levels.top;
    unsigned steps = level < 0 ? call.longest : levels.level_size(call.longest, levels.group_bits, level);
    if (!all) {
      descend(queue, current, positions);
      steps = queue.size() << levels.group_bits;
    }
    const Candidates candidates(all, current.count, levels.group_bits, positions);
    if (level < 0) queue.reset(make_key(order_of(queue.head()), ~0U));
    offer_candidates(current, candidates, steps, search);
    search.finish();
  }
}

// ---- one thread per row

template <class T>
__device__ RowList<T> thread_list(const QueueSearch<T>& call, std::int64_t row) {
  const Transposed<T>& from = call.transposed;
  RowList<T> list;
  list.largest = call.rows.largest;
  list.group_bits = from.group_bits;
  list.column_step = 1U << from.group_bits;
  if (row >= call.rows.rows) return list;
  list.values = from.values + (row << from.group_bits);
  list.step = from.pitch << from.group_bits;
  list.count = call.rows.length;
  if (call.rows.ids != nullptr) list.ids = call.rows.ids + row * call.rows.id_stride;
  return list;
}

// Queues that sort fast write the output; others leave their keys, rows × k, to finish_rows.
template <class T, class Queue>
__global__ void __launch_bounds__(kQueueSearch.threads, kQueueSearch.blocks)
    thread_search_kernel(QueueSearch<T> call, Output<T> output, KeyOf<T>* keys) {
  const std::int64_t row = thread_index();
  Queue queue({call.slots + row, call.threads}, call.slots_per_thread, call.queue);
  search_list(call, thread_list(call, row), row, queue);
  if (row >= call.rows.rows) return;
  if constexpr (Queue::kSortsFast) {
    queue.sort();
    for (unsigned rank = 0; rank < output.k; ++rank) output.put(row, rank, queue.ranked(rank));
  } else {
    for (unsigned i = 0; i < output.k; ++i) keys[row * output.k + i] = queue.at(i);
  }
}

// ---- one warp per row

// The number of values of a lane: groups are dealt to the lanes round-robin.
__host__ __device__ __forceinline__ unsigned lane_length(unsigned length, unsigned group_bits, unsigned lane) {
  const unsigned round = kWarp << group_bits;
  const unsigned begin = lane << group_bits;
  const unsigned rest = length % round;
  const unsigned in_rest = rest > begin ? rest - begin : 0;
  const unsigned group = 1U << group_bits;
  return length / round * group + (in_rest < group ? in_rest : group);
}

template <class T>
__device__ RowList<T> lane_list(const QueueSearch<T>& call, std::int64_t row) {
  RowList<T> list;
  list.largest = call.rows.largest;
  list.group_bits = call.levels.group_bits;
  list.first_column = lane_id() << list.group_bits;
  list.column_step = kWarp << list.group_bits;
  list.values = call.rows.row(row) + list.first_column;
  list.step = list.column_step;
  list.count = lane_length(call.rows.length, list.group_bits, lane_id());
  if (call.rows.ids != nullptr) list.ids = call.rows.ids + row * call.rows.id_stride;
  return list;
}

// The smallest of the lanes' keys, in every lane.
template <class K>
__device__ K warp_smallest_key(K key) {
  for (unsigned mask = kWarp / 2; mask > 0; mask /= 2) {
    const K other = shuffle_xor(key, mask);
    if (other < key) key = other;
  }
  return key;
}

// Writes the k smallest keys of the lanes' sorted queues, in order; 32 keys are gathered before they are written.
template <class T, class Queue>
__device__ void put_merged(const Queue& queue, std::int64_t row, const Output<T>& output) {
  using Key = KeyOf<T>;
  unsigned merged = 0;  // keys of this lane's queue
  Key next = queue.ranked(0);
  Key gathered = last_key<Key>();
  for (unsigned rank = 0; rank < output.k; ++rank) {
    const Key least = warp_smallest_key(next);
    if (next == least) {
      ++merged;
      next = merged < queue.size() ? queue.ranked(merged) : last_key<Key>();
    }
    if (rank % kWarp == lane_id()) gathered = least;
    const unsigned mine = rank / kWarp * kWarp + lane_id();
    if ((rank % kWarp == kWarp - 1 || rank + 1 == output.k) && mine <= rank) output.put(row, mine, gathered);
  }
}

template <class T, class Queue>
__global__ void __launch_bounds__(kQueueSearch.threads, kQueueSearch.blocks)
    warp_search_kernel(QueueSearch<T> call, Output<T> output) {
  const std::int64_t thread = thread_index();
  Queue queue({call.slots + thread, call.threads}, call.slots_per_thread, call.queue);
  for (std::int64_t row = thread / kWarp; row < call.rows.rows; row += call.threads / kWarp) {
    search_list(call, lane_list(call, row), thread, queue);
    queue.sort();
    put_merged(queue, row, output);
  }
}

// ---- host

template <class T, template <class, class> class Queue>
QueueSearch<T> plan_search(const Rows<T>& rows, unsigned k, const QueueTuning& tuning, Workspace& workspace) {
  const std::int64_t warps = tuning.warp ? std::min<std::int64_t>(rows.rows, kQueueSearch.max_warps) : 0;
  const std::int64_t workers = tuning.warp ? warps * kWarp : rows.rows;
  QueueSearch<T> call;
  call.rows = rows;
  call.queue = tuning.queue;
  call.buffer = tuning.buffer;
  call.threads = ceil_div(workers, kQueueSearch.threads) * kQueueSearch.threads;
  call.longest = tuning.warp ? lane_length(rows.length, tuning.group_bits, 0) : rows.length;
  call.slots_per_thread = Queue<KeyOf<T>, CountNothing>::slots_for(std::min(k, call.longest));
  call.slots = workspace.allocate<KeyOf<T>>(static_cast<std::size_t>(call.threads * call.slots_per_thread));
  if (!tuning.warp) call.transposed = transpose(rows, tuning.group_bits, workspace);

  call.levels = Hierarchy<T>::plan(call.longest, tuning.group_bits, call.slots_per_thread);
  if (call.levels.top > 0) {
    call.levels.pitch = workers;
    call.levels.values = workspace.allocate<T>(static_cast<std::size_t>(call.levels.values_per_thread * workers));
    call.levels.positions =
        workspace.allocate<unsigned>(static_cast<std::size_t>(call.threads * call.slots_per_thread));
  }
  return call;
}

template <class T>
LaunchShape search_shape(const QueueSearch<T>& call) {
  return {.blocks = call.threads / kQueueSearch.threads,
          .threads = kQueueSearch.threads,
          .shared_bytes = std::size_t{kQueueSearch.threads} * call.buffer.size * sizeof(KeyOf<T>)};
}

// Runs the method of a queue.
template <template <class, class> class Queue, class T>
void select_with_queue(const char* method, const SelectCall<T>& call) {
  using Kind = Queue<KeyOf<T>, CountNothing>;
  const QueueTuning tuning = queue_tuning(method, call.tuning, call.k());
  const QueueSearch<T> search = plan_search<T, Queue>(call.rows, call.k(), tuning, call.workspace);
  if (tuning.warp) {
    launch(method, warp_search_kernel<T, Kind>, search_shape(search), call.stream(), search, call.output);
    return;
  }
  KeyOf<T>* keys = nullptr;
  if constexpr (!Kind::kSortsFast)
    keys = call.workspace.template allocate<KeyOf<T>>(static_cast<std::size_t>(call.rows.rows * call.k()));
  launch(method, thread_search_kernel<T, Kind>, search_shape(search), call.stream(), search, call.output, keys);
  if constexpr (!Kind::kSortsFast) finish_rows(keys, call);
}

}  // namespace kith::KITH_BACKEND::select
