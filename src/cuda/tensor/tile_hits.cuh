// tile_hits.cuh: which pairs of a tile pass, and their way to the lists.
// Idea    a thread adds the bias to its sums and looks at the largest of each eight of a query. Where that passes, all
//         eight go to a queue of the warpgroup in shared memory, which a warp of the block's first warpgroup empties:
//         those that multiply neither look for the pair that passed nor wait for the lists' counters in global memory,
//         unless the queue is full.
#pragma once

#include "cuda/distance/fused_filter_tile.cuh"
#include "cuda/tensor/nearness.cuh"
#include "cuda/tensor/tile_memory.cuh"

namespace kith::KITH_BACKEND::tensor {

// Where pairs that pass are listed.
struct HitLists {
  distance::CandidateLists<float> lists;
  distance::PairList<float> pairs;

  __host__ __device__ bool are_pairs() const { return pairs.count != nullptr; }
  __host__ __device__ const float* limits() const { return are_pairs() ? pairs.limits : lists.limits; }

  template <class Sum>
  __device__ __forceinline__ void append(const TileWork& work, Sum nearness, unsigned row, unsigned column) const {
    if (column >= work.base_count) return;  // an infinite limit lets points pass that do not exist
    const float score = Nearness<Sum>::score(nearness, work.factor);
    if (are_pairs())
      distance::store_pair(pairs, row, column, score);
    else
      distance::store_pair(lists, row, column, score);
  }
};

// A thread's rows and columns of a set's sums, as wgmma.cuh has them.
struct ThreadSums {
  __device__ __forceinline__ static unsigned row() {
    return threadIdx.x % kWarpgroup / kWarp * 16 + lane_id() / 4;  // and 8 more
  }
  __device__ __forceinline__ static unsigned column(unsigned i) { return i / 4 * 8 + lane_id() % 4 * 2 + i % 2; }
  // Whether the sum is of the second row.
  __device__ __forceinline__ static constexpr bool is_second(unsigned i) { return i / 2 % 2 == 1; }
};

// Adds the bias to 16 sums, of 32 columns and two rows.
template <class Sum>
__device__ __forceinline__ void add_bias(Sum* sums, const Sum* bias_tile, unsigned sixteen) {
  using Four = typename FourOf<Sum>::Type;
  KITH_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    const Four bias = reinterpret_cast<const Four*>(bias_tile)[sixteen * 8 + half * 4 + lane_id() % 4];
    const Sum of_columns[] = {bias.x, bias.y, bias.z, bias.w};
    KITH_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      Sum& sum = sums[sixteen * 16 + half * 8 + i];
      sum = Nearness<Sum>::add(sum, of_columns[i / 4 * 2 + i % 2]);
    }
  }
}

// Column of the i-th sum of a record, less that of the first.
__device__ __forceinline__ unsigned record_column(unsigned i) {
  return i / 2 * 8 + i % 2;
}

// A value that another warp changes, read anew each time.
__device__ __forceinline__ unsigned current(const unsigned& value) {
  return *static_cast<const volatile unsigned*>(&value);
}

__device__ __forceinline__ void publish(unsigned& value, unsigned now) {
  *static_cast<volatile unsigned*>(&value) = now;
}

template <class Sum>
struct HitFilter {
  static constexpr unsigned kSums = TileShape::kPoints / 2;
  static constexpr unsigned kRecords = kSums / TileShape::kHits;

  HitRecord<Sum>* queue;
  HitCounters& counters;

  // `row` and `column` are those of the warpgroup's first sum.
  __device__ __forceinline__ void test(Sum (&sums)[kSums], const Sum (&limits)[2], const Sum* bias_tile, unsigned row,
                                       unsigned column) const {
    bool passes[kRecords];
    bool any = false;
    KITH_UNROLL
    for (unsigned i = 0; i < kRecords; ++i) {
      if (i % 2 == 0) add_bias(sums, bias_tile, i / 2);
      passes[i] = largest(sums, i) >= limits[i % 2];
      any = any || passes[i];
    }
    if (!any) return;
    KITH_UNROLL
    for (unsigned i = 0; i < kRecords; ++i)
      if (passes[i])
        keep(sums, i, limits[i % 2], row + ThreadSums::row() + i % 2 * 8, column + i / 2 * 32 + lane_id() % 4 * 2);
  }

 private:
  // Record i has sums of row i % 2 and of 32 columns.
  __device__ __forceinline__ static Sum of_record(const Sum (&sums)[kSums], unsigned i, unsigned j) {
    return sums[i / 2 * 16 + j / 2 * 4 + i % 2 * 2 + j % 2];
  }

  __device__ __forceinline__ static Sum largest(const Sum (&sums)[kSums], unsigned i) {
    Sum pairs[4];
    KITH_UNROLL
    for (unsigned j = 0; j < 4; ++j)
      pairs[j] = Nearness<Sum>::larger(of_record(sums, i, 2 * j), of_record(sums, i, 2 * j + 1));
    return Nearness<Sum>::larger(Nearness<Sum>::larger(pairs[0], pairs[1]), Nearness<Sum>::larger(pairs[2], pairs[3]));
  }

  __device__ __forceinline__ void keep(const Sum (&sums)[kSums], unsigned i, Sum limit, unsigned row,
                                       unsigned column) const {
    const unsigned place = atomicAdd(&counters.begun, 1U);
    while (place - current(counters.taken) >= TileShape::kHitCapacity) __nanosleep(20);
    const auto four = [&](unsigned j) {
      return FourOf<Sum>::make(of_record(sums, i, j), of_record(sums, i, j + 1), of_record(sums, i, j + 2),
                               of_record(sums, i, j + 3));
    };
    HitRecord<Sum>& record = queue[place % TileShape::kHitCapacity];
    record.values[0] = four(0);
    record.values[1] = four(4);
    record.limit = limit;
    record.row = row;
    record.column = column;
    __threadfence_block();
    publish(record.ready, 1);
  }
};

// Appends the pairs of a record that pass: lanes whose records have one, as most do, append at the same time.
template <class Sum>
__device__ __forceinline__ void append_record(const TileWork& work, const HitLists& lists,
                                              const HitRecord<Sum>& record) {
  const auto* const values = reinterpret_cast<const Sum*>(record.values);
  unsigned passing = 0;
  KITH_UNROLL
  for (unsigned j = 0; j < TileShape::kHits; ++j)
    if (values[j] >= record.limit) passing |= 1U << j;
  while (passing != 0) {
    const unsigned j = static_cast<unsigned>(__ffs(static_cast<int>(passing))) - 1;
    passing &= passing - 1;
    lists.append(work, values[j], record.row, record.column + record_column(j));
  }
}

// Takes the records of a queue that are ready, of which `taken` were taken before, a lane each. Returns whether there
// will be no more.
template <class Sum>
__device__ __forceinline__ bool drain_queue(const TileWork& work, const HitLists& lists, HitRecord<Sum>* queue,
                                            HitCounters& counters, unsigned& taken) {
  for (;;) {
    HitRecord<Sum>& record = queue[(taken + lane_id()) % TileShape::kHitCapacity];
    const unsigned missing = __ballot_sync(kFullMask, current(record.ready) == 0);
    const unsigned ready = missing == 0 ? kWarp : static_cast<unsigned>(__ffs(static_cast<int>(missing))) - 1;
    if (ready == 0) {
      const bool finished = current(counters.finished) == 4;
      __threadfence_block();
      return __all_sync(kFullMask, finished && current(counters.begun) == taken) != 0;
    }
    __threadfence_block();
    if (lane_id() < ready) {
      append_record(work, lists, record);
      publish(record.ready, 0);
    }
    taken += ready;
    __threadfence_block();
    __syncwarp();
    if (lane_id() == 0) publish(counters.taken, taken);
  }
}

// By each of two warps.
template <class Sum, unsigned kConsumers>
__device__ __forceinline__ void drain_queues(const TileWork& work, const HitLists& lists, const TileMemory& memory,
                                             unsigned warp) {
  constexpr unsigned kQueues = (kConsumers + 1) / 2;
  unsigned taken[kQueues] = {};
  for (bool finished = false; !finished;) {
    finished = true;
    KITH_UNROLL
    for (unsigned i = 0; i < kQueues; ++i) {
      const unsigned consumer = 2 * i + warp;
      if (consumer >= kConsumers) break;
      finished &= drain_queue<Sum>(work, lists, memory.hits_of<Sum>(consumer), memory.hit_counters[consumer], taken[i]);
    }
    __nanosleep(500);  // queues hold the hits of several tiles
  }
}

}  // namespace kith::KITH_BACKEND::tensor
