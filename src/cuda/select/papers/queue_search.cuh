// queue_search.cuh: the search that fills any of the three queues (Tang et al., Algorithm 1, with III.D and III.E).
//   a row a thread   over the transposed matrix, as in the paper: neighboring threads read neighboring rows
//   a row a warp     each lane keeps a queue over its share of the row; the sorted queues are then merged by taking the
//                    least of 32 next keys k times
// Everything a thread keeps (queue, buffer, levels) lies interleaved with what its neighbors keep. No thread reads
// what another has written; lanes only vote, and stay together for that. Limits: a row a warp k ≤ 1024, buffers of up
// to 64 keys; otherwise any k that the workspace allows. Workspace: k keys a thread; a row a thread also one value a
// value; levels length / (G − 1) values a row.
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

// What a search kernel is given.
template <class T>
struct QueueSearch {
  Rows<T> rows;
  Transposed<T> transposed;  // a row a thread
  KeyOf<T>* slots = nullptr;
  unsigned slots_a_thread = 0;
  std::int64_t threads = 0;
  unsigned longest = 0;  // values of the longest list
  QueueOptions queue;
  BufferOptions buffer;
  Hierarchy<T> levels;
};

// Offers the candidates among `steps` steps of the list, which is the same number for all lanes. Values are first only
// compared with the head, many at a time; those that some lane may want are read again.
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

// Called by the whole warp: afterwards the queue of `thread` holds the smallest keys of its list.
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

  // Levels are searched by column. If ids say otherwise, values equal to the last one found must be looked at again:
  // level −1 is the whole list once more, by id, with everything above that value left out.
  const bool by_column_first = levels.top > 0 && call.rows.ids != nullptr;  // for all lanes alike
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

// ---- a row a thread

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

// Queues that sort fast put the answer themselves; others leave their keys, rows × k, to finish_rows.
template <class T, class Queue>
__global__ void __launch_bounds__(kQueueSearch.threads, kQueueSearch.blocks)
    thread_search_kernel(QueueSearch<T> call, Output<T> output, KeyOf<T>* keys) {
  const std::int64_t row = thread_index();
  Queue queue({call.slots + row, call.threads}, call.slots_a_thread, call.queue);
  search_list(call, thread_list(call, row), row, queue);
  if (row >= call.rows.rows) return;
  if constexpr (Queue::kSortsFast) {
    queue.sort();
    for (unsigned rank = 0; rank < output.k; ++rank) output.put(row, rank, queue.ranked(rank));
  } else {
    for (unsigned i = 0; i < output.k; ++i) keys[row * output.k + i] = queue.at(i);
  }
}

// ---- a row a warp

// Groups are dealt to the lanes in turn.
__host__ __device__ __forceinline__ unsigned lane_share(unsigned length, unsigned group_bits, unsigned lane) {
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
  list.count = lane_share(call.rows.length, list.group_bits, lane_id());
  if (call.rows.ids != nullptr) list.ids = call.rows.ids + row * call.rows.id_stride;
  return list;
}

// The least of the keys that the lanes hold; every lane gets it.
template <class K>
__device__ K warp_least(K key) {
  for (unsigned mask = kWarp / 2; mask > 0; mask /= 2) {
    const K other = shuffle_xor(key, mask);
    if (other < key) key = other;
  }
  return key;
}

// The k smallest keys of the lanes' sorted queues, in order. 32 of them are gathered before they are written.
template <class T, class Queue>
__device__ void put_merged(const Queue& queue, std::int64_t row, const Output<T>& output) {
  using Key = KeyOf<T>;
  unsigned taken = 0;
  Key next = queue.ranked(0);
  Key gathered = last_key<Key>();
  for (unsigned rank = 0; rank < output.k; ++rank) {
    const Key least = warp_least(next);
    if (next == least) {
      ++taken;
      next = taken < queue.size() ? queue.ranked(taken) : last_key<Key>();
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
  Queue queue({call.slots + thread, call.threads}, call.slots_a_thread, call.queue);
  for (std::int64_t row = thread / kWarp; row < call.rows.rows; row += call.threads / kWarp) {
    search_list(call, lane_list(call, row), thread, queue);
    queue.sort();
    put_merged(queue, row, output);
  }
}

// ---- the host's side

template <class T, template <class, class> class Queue>
QueueSearch<T> plan_search(const Rows<T>& rows, unsigned k, const QueueTuning& tuning, Workspace& workspace) {
  const std::int64_t warps = tuning.warp ? std::min<std::int64_t>(rows.rows, kQueueSearch.max_warps) : 0;
  const std::int64_t workers = tuning.warp ? warps * kWarp : rows.rows;
  QueueSearch<T> call;
  call.rows = rows;
  call.queue = tuning.queue;
  call.buffer = tuning.buffer;
  call.threads = ceil_div(workers, kQueueSearch.threads) * kQueueSearch.threads;
  call.longest = tuning.warp ? lane_share(rows.length, tuning.group_bits, 0) : rows.length;
  call.slots_a_thread = Queue<KeyOf<T>, CountNothing>::slots_for(std::min(k, call.longest));
  call.slots = workspace.allocate<KeyOf<T>>(static_cast<std::size_t>(call.threads * call.slots_a_thread));
  if (!tuning.warp) call.transposed = transpose(rows, tuning.group_bits, workspace);

  call.levels = Hierarchy<T>::plan(call.longest, tuning.group_bits, call.slots_a_thread);
  if (call.levels.top > 0) {
    call.levels.pitch = workers;
    call.levels.values = workspace.allocate<T>(static_cast<std::size_t>(call.levels.values_a_thread * workers));
    call.levels.positions = workspace.allocate<unsigned>(static_cast<std::size_t>(call.threads * call.slots_a_thread));
  }
  return call;
}

template <class T>
LaunchShape search_shape(const QueueSearch<T>& call) {
  return {.blocks = call.threads / kQueueSearch.threads,
          .threads = kQueueSearch.threads,
          .shared_bytes = std::size_t{kQueueSearch.threads} * call.buffer.size * sizeof(KeyOf<T>)};
}

// The body of each queue's method.
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
