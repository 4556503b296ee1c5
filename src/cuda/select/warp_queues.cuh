// warp_queues.cuh: the k smallest keys of a warp in registers, and the scan that fills them (Hanák, 3.6.3).
// For warp-select, block-select and the interval scan of triangle. Limits: k ≤ 1024.
#pragma once

#include <type_traits>

#include "core/limit.hpp"
#include "cuda/primitives/strided_bitonic.cuh"
#include "cuda/select/row_segment.cuh"

namespace kith::KITH_BACKEND::select {

// The k smallest keys so far, in registers (after Johnson et al.):
//   the warp queue   32 · kWarpItems keys, ascending; key i + 32j is item j of lane i
//   thread queues    kOwnItems new keys of each lane, descending
// Invariants: the head of every thread queue is not among the k smallest, so an insertion may drop it; every key among
// the k smallest is in the warp queue or in a thread queue. When a head falls below the k-th key, all thread queues are
// sorted and merged into the warp queue, and then emptied.
template <class K, unsigned kWarpItems, unsigned kOwnItems>
class WarpQueues {
 public:
  using Key = K;
  using Network = StridedBitonic<K, kWarp, kWarpItems>;

  __device__ explicit WarpQueues(unsigned k) : k_(k) {
    KITH_UNROLL
    for (unsigned i = 0; i < kWarpItems; ++i) warp_queue_[i] = last_key<K>();
    clear_own();
  }

  // The k-th key at the last merge.
  __device__ __forceinline__ const K& threshold() const { return threshold_; }

  // Lanes that are `offering` insert their key if it is below the threshold. The `last` call merges everything into the
  // warp queue. Must be called by all lanes.
  __device__ __forceinline__ void offer(bool offering, const K& key, bool last) {
    if (offering && key < threshold_) insert(key);
    if (__any_sync(kFullMask, last || own_[0] < threshold_ ? 1 : 0) != 0) merge();
  }

  // The keys after the last offer, by Network::rank(item).
  __device__ K (&keys())[kWarpItems] { return warp_queue_; }

 private:
  __device__ void merge() {
    StridedBitonic<K, kWarp, kOwnItems>::sort(own_, nullptr);
    Network::keep_smallest(warp_queue_, own_, nullptr);
    clear_own();
    K kth = warp_queue_[0];
    KITH_UNROLL
    for (unsigned i = 1; i < kWarpItems; ++i)
      if (i == (k_ - 1) / kWarp) kth = warp_queue_[i];
    threshold_ = shuffle(kth, (k_ - 1) % kWarp);
  }

  __device__ void clear_own() {
    KITH_UNROLL
    for (unsigned i = 0; i < kOwnItems; ++i) own_[i] = last_key<K>();
  }

  __device__ __forceinline__ void insert(const K& key) {
    own_[0] = key;
    KITH_UNROLL
    for (unsigned i = 0; i + 1 < kOwnItems; ++i) order_pair(own_[i + 1], own_[i]);
  }

  K warp_queue_[kWarpItems];
  K own_[kOwnItems];
  K threshold_ = last_key<K>();
  unsigned k_;
};

// A warp offers part `part` of `parts` of a segment, every parts-th batch, and leaves its smallest keys in the warp
// queue. Must be called by all lanes.
template <unsigned kVectors, class Segment, class Queues>
__device__ void warp_scan(const Segment& segment, Queues& queues, unsigned part, unsigned parts) {
  using Reader = BatchReader<Segment, kWarp, kVectors>;
  const Reader reader(segment, lane_id());
  const unsigned step = parts * Reader::kBatch;
  unsigned first = part * Reader::kBatch;
  unsigned edge = part == 0 ? reader.edge() : 0;
  typename Reader::Batch batch = reader.load(first);
  bool more_batches = true;
  while (more_batches) {
    more_batches = first + step < reader.vectors();
    // The next load is in flight while this batch is tested.
    const typename Reader::Batch next = reader.load(first + step);
    unsigned wanted = reader.test(batch, first, segment.limit(queues.threshold())) | edge;
    bool more = __any_sync(kFullMask, wanted != 0 ? 1 : 0) != 0;
    while (more || !more_batches) {
      auto key = last_key<typename Segment::Key>();
      if (wanted != 0) key = segment.key(reader.element(first, lowest_bit(wanted)));
      queues.offer(wanted != 0, key, !more);
      if (!more) break;
      wanted &= wanted - 1;
      more = __any_sync(kFullMask, wanted != 0 ? 1 : 0) != 0;
    }
    batch = next;
    edge = 0;
    first += step;
  }
}

constexpr unsigned kLargestWarpQueue = 1024;

// The blocks of warp-select and block-select.
struct WarpQueueShape {
  static constexpr unsigned kThreads = 128;
  static constexpr unsigned kWarps = kThreads / kWarp;
  static constexpr unsigned kVectors = 2;  // of a batch
};

// The length of thread queues: the tuning's, or by k, because long warp queues are expensive to merge with.
inline int thread_queue(const char* method, unsigned k, const SelectTuning& tuning) {
  if (tuning.thread_queue == 0) return k <= 32 ? 2 : k <= 128 ? 3 : k <= 256 ? 4 : 8;
  require_within(method, "tuning.thread_queue", tuning.thread_queue, 2, 8);
  return tuning.thread_queue;
}

// Calls run with a null pointer of the WarpQueues type that holds k keys and has thread queues of `own` keys, or of the
// next length there is. Long warp queues have no short thread queues, which would make them merge all the time.
template <class K, class Run>
void with_queues(unsigned k, int own, Run run) {
  const auto with_own = [&]<unsigned kWarpItems>(std::integral_constant<unsigned, kWarpItems>) {
    if constexpr (kWarpItems < 8) {
      if (own <= 2) return run(static_cast<WarpQueues<K, kWarpItems, 2>*>(nullptr));
      if (own <= 3) return run(static_cast<WarpQueues<K, kWarpItems, 3>*>(nullptr));
    }
    if (own <= 4) return run(static_cast<WarpQueues<K, kWarpItems, 4>*>(nullptr));
    run(static_cast<WarpQueues<K, kWarpItems, 8>*>(nullptr));
  };
  if (k <= 32) return with_own(std::integral_constant<unsigned, 1>{});
  if (k <= 128) return with_own(std::integral_constant<unsigned, 4>{});
  if (k <= 256) return with_own(std::integral_constant<unsigned, 8>{});
  with_own(std::integral_constant<unsigned, 32>{});
}

// Writes the k smallest keys of the warp queue, by the warp.
template <class T, class Queues>
__device__ void put_queue(Queues& queues, std::int64_t row, const Output<T>& output) {
  using Network = typename Queues::Network;
  KITH_UNROLL
  for (unsigned i = 0; i < Network::kEach; ++i)
    if (Network::rank(i) < output.k) output.put(row, Network::rank(i), queues.keys()[i]);
}

}  // namespace kith::KITH_BACKEND::select
