// tile_hits.cuh: which pairs of a tile pass, and their way to the lists.
// Idea    a thread adds the bias to its sums and looks at the largest of each eight of a query. Where that passes, all
//         eight go to a queue of the warpgroup in shared memory, with a bit for each pair that passed; a warp of the
//         block's first warpgroup empties it, whose lanes share the pairs. Those that multiply wait for the lists'
//         counters in global memory only where the queue is full. Where a product serves both of its points, sums are
//         tested for their column too.
#pragma once

#include "cuda/distance/fused_filter_tile.cuh"
#include "cuda/primitives/block.cuh"
#include "cuda/runtime/tensor_core.cuh"
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

// A pair that passed.
template <class Sum>
struct Hit {
  Sum nearness;
  unsigned row;
  unsigned column;
};

// Which of the pairs that a warp looks at.
using HitNumber = unsigned short;
constexpr unsigned kHitNumbers = kWarp * 2 * TileShape::kHits;

// A thread's rows and columns of a set's sums, as wgmma.cuh has them.
struct ThreadSums {
  __device__ __forceinline__ static unsigned row() {
    return threadIdx.x % kWarpgroup / kWarp * 16 + lane_id() / 4;  // and 8 more
  }
  __device__ __forceinline__ static unsigned column(unsigned i) { return i / 4 * 8 + lane_id() % 4 * 2 + i % 2; }
  // Whether the sum is of the second row.
  __device__ __forceinline__ static constexpr bool is_second(unsigned i) { return i / 2 % 2 == 1; }
};

// What a thread needs of a tile's columns for eight of its sums, of two rows.
template <class Sum>
struct Columns {
  Sum of[4];

  __device__ __forceinline__ Columns(const Sum* tile, unsigned sixteen, unsigned half) {
    using Four = typename FourOf<Sum>::Type;
    const Four four = reinterpret_cast<const Four*>(tile)[sixteen * 8 + half * 4 + lane_id() % 4];
    of[0] = four.x;
    of[1] = four.y;
    of[2] = four.z;
    of[3] = four.w;
  }
};

// Adds the bias to 16 sums, of 32 columns and two rows.
template <class Sum>
__device__ __forceinline__ void add_bias(Sum* sums, const Sum* bias_tile, unsigned sixteen) {
  KITH_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    const Columns<Sum> bias(bias_tile, sixteen, half);
    KITH_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
      Sum& sum = sums[sixteen * 16 + half * 8 + i];
      sum = Nearness<Sum>::add(sum, bias.of[i / 4 * 2 + i % 2]);
    }
  }
}

// A value that another warp changes, read anew each time.
template <class V>
__device__ __forceinline__ V current(const V& value) {
  return *static_cast<const volatile V*>(&value);
}

__device__ __forceinline__ void publish(unsigned& value, unsigned now) {
  *static_cast<volatile unsigned*>(&value) = now;
}

// What a tile's pairs are tested with, for a thread's two rows.
template <class Sum>
struct RowTests {
  Sum limits[2];
  // Where a product serves both points:
  Sum bias[2];     // of the rows as points of the base
  bool serves[2];  // whether their products with this tile serve the tile's points
};

template <class Sum, bool kMirrored>
struct HitFilter {
  static constexpr unsigned kSums = TileShape::kPoints / 2;
  static constexpr unsigned kRecords = kSums / TileShape::kHits;

  HitRecord<Sum>* queue;
  HitCounters& counters;

  // Of a tile, as TileMemory has them.
  struct ColumnTests {
    const Sum* bias;
    const Sum* limits;
  };

  // Changes the sums. `row` and `column` are those of the warpgroup's first sum. Must be called by all lanes.
  __device__ __forceinline__ void test(Sum (&sums)[kSums], const RowTests<Sum>& rows, const ColumnTests& columns,
                                       unsigned row, unsigned column) const {
    unsigned passes = 0;  // a bit a record
    KITH_UNROLL
    for (unsigned i = 0; i < kRecords; i += 2) {
      if constexpr (kMirrored) {
        passes |= test_both(sums, rows, columns, i);
      } else {
        add_bias(sums, columns.bias, i / 2);
        KITH_UNROLL
        for (unsigned second = 0; second < 2; ++second)
          if (largest(sums, i + second) >= rows.limits[second]) passes |= 1U << (i + second);
      }
    }
    if (__any_sync(kFullMask, passes != 0) == 0) return;
    keep_all(sums, passes, rows, columns, row + ThreadSums::row(), column + lane_id() % 4 * 2);
  }

 private:
  // Of records i and i + 1: whether a sum with the bias of its column reaches the limit of its row, or one with the
  // bias of its row the limit of its column.
  __device__ __forceinline__ static unsigned test_both(const Sum (&sums)[kSums], const RowTests<Sum>& rows,
                                                       const ColumnTests& columns, unsigned i) {
    Sum largest_of_rows[2] = {Nearness<Sum>::least(), Nearness<Sum>::least()};
    bool reaches[2] = {false, false};
    KITH_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const Columns<Sum> bias(columns.bias, i / 2, half);
      const Columns<Sum> limits(columns.limits, i / 2, half);
      KITH_UNROLL
      for (unsigned j = 0; j < 8; ++j) {
        const Sum sum = sums[i * 8 + half * 8 + j];
        const unsigned second = ThreadSums::is_second(j) ? 1 : 0;
        const unsigned column = j / 4 * 2 + j % 2;
        largest_of_rows[second] =
            Nearness<Sum>::larger(largest_of_rows[second], Nearness<Sum>::add(sum, bias.of[column]));
        reaches[second] = reaches[second] || Nearness<Sum>::add(sum, rows.bias[second]) >= limits.of[column];
      }
    }
    unsigned passes = 0;
    KITH_UNROLL
    for (unsigned second = 0; second < 2; ++second)
      if (largest_of_rows[second] >= rows.limits[second] || (reaches[second] && rows.serves[second]))
        passes |= 1U << (i + second);
    return passes;
  }

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

  // The pairs of a record that passed, as HitRecord has them. `row_bias` is the row's, from memory: the compiler would
  // else keep all that test_both() added, for which there are no registers.
  __device__ __forceinline__ static unsigned passing_pairs(const Sum (&sums)[kSums], const RowTests<Sum>& rows,
                                                           Sum row_bias, const ColumnTests& columns, unsigned i) {
    unsigned passing = 0;
    if constexpr (kMirrored) {
      KITH_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const Columns<Sum> bias(columns.bias, i / 2, half);
        const Columns<Sum> limits(columns.limits, i / 2, half);
        KITH_UNROLL
        for (unsigned j = 0; j < 4; ++j) {
          const Sum sum = of_record(sums, i, half * 4 + j);
          if (Nearness<Sum>::add(sum, bias.of[j]) >= rows.limits[i % 2]) passing |= 1U << (half * 4 + j);
          if (rows.serves[i % 2] && Nearness<Sum>::add(sum, row_bias) >= limits.of[j])
            passing |= 1U << (TileShape::kHits + half * 4 + j);
        }
      }
    } else {
      KITH_UNROLL
      for (unsigned j = 0; j < TileShape::kHits; ++j)
        if (of_record(sums, i, j) >= rows.limits[i % 2]) passing |= 1U << j;
    }
    return passing;
  }

  // A warp that has no more records than lanes takes places for all of them at once, another for one a lane at a time.
  __device__ __forceinline__ void keep_all(const Sum (&sums)[kSums], unsigned passes, const RowTests<Sum>& rows,
                                           const ColumnTests& columns, unsigned row, unsigned column) const {
    const auto own = static_cast<unsigned>(__popc(passes));
    const bool at_once = __reduce_add_sync(kFullMask, own) <= kWarp;
    unsigned place = 0;
    if (at_once && own > 0) place = take_places(own);
    KITH_UNROLL
    for (unsigned i = 0; i < kRecords; ++i) {
      if ((passes >> i & 1U) == 0) continue;
      if (!at_once) place = take_places(1);
      HitRecord<Sum>& record = queue[place++ % TileShape::kHitCapacity];
      const auto four = [&](unsigned j) {
        return FourOf<Sum>::make(of_record(sums, i, j), of_record(sums, i, j + 1), of_record(sums, i, j + 2),
                                 of_record(sums, i, j + 3));
      };
      record.values[0] = four(0);
      record.values[1] = four(4);
      if constexpr (kMirrored) record.row_bias = rows.bias[i % 2];
      record.row = row + i % 2 * 8;
      record.column = column + i / 2 * 32;
      Sum row_bias{};
      if constexpr (kMirrored) row_bias = current(record.row_bias);
      const unsigned passing = passing_pairs(sums, rows, row_bias, columns, i);
      __threadfence_block();
      publish(record.passing, passing);
    }
  }

  // The first of so many places, once they are free.
  __device__ __forceinline__ unsigned take_places(unsigned count) const {
    const unsigned place = atomicAdd(&counters.begun, count);
    while (place + count - current(counters.taken) > TileShape::kHitCapacity) __nanosleep(20);
    return place;
  }
};

// The pair of a bit of HitRecord::passing.
template <class Sum, bool kMirrored>
__device__ __forceinline__ Hit<Sum> hit_of(const TileWork& work, const HitRecord<Sum>& record, unsigned bit) {
  const unsigned j = bit % TileShape::kHits;
  const unsigned column = record.column + fragment_column(j);
  const Sum value = reinterpret_cast<const Sum*>(record.values)[j];
  if constexpr (kMirrored) {
    if (bit >= TileShape::kHits) return {Nearness<Sum>::add(value, record.row_bias), column, record.row};
    const bool unbiased = work.bias == nullptr || column >= work.base_count;
    const Sum bias = unbiased ? Sum{0} : Nearness<Sum>::of_bias(work.bias[column * work.bias_step], work.inverse);
    return {Nearness<Sum>::add(value, bias), record.row, column};
  }
  return {value, record.row, column};
}

// Takes the records of a queue that are ready, of which `taken` were taken before: each lane looks at one, then all
// lanes share the pairs that pass. `numbers` is room for those of a warp. Returns whether there will be no more.
template <class Sum, bool kMirrored>
__device__ __forceinline__ bool drain_queue(const TileWork& work, const HitLists& lists, HitRecord<Sum>* queue,
                                            HitCounters& counters, HitNumber* numbers, unsigned& taken) {
  constexpr unsigned kBits = 2 * TileShape::kHits;
  const auto record_at = [&](unsigned i) -> HitRecord<Sum>& { return queue[(taken + i) % TileShape::kHitCapacity]; };
  for (;;) {
    HitRecord<Sum>& record = record_at(lane_id());
    unsigned passing = current(record.passing);
    const unsigned missing = __ballot_sync(kFullMask, passing == 0);
    const unsigned ready = missing == 0 ? kWarp : static_cast<unsigned>(__ffs(static_cast<int>(missing))) - 1;
    if (ready == 0) {
      const bool finished = current(counters.finished) == 4;
      __threadfence_block();
      return __all_sync(kFullMask, finished && current(counters.begun) == taken) != 0;
    }
    __threadfence_block();
    if (lane_id() >= ready) passing = 0;
    const auto own = static_cast<unsigned>(__popc(passing));
    const unsigned end = warp_inclusive_sum(own);
    const unsigned count = __shfl_sync(kFullMask, end, kWarp - 1);
    for (unsigned at = end - own; passing != 0; passing &= passing - 1)
      numbers[at++] =
          static_cast<HitNumber>(lane_id() * kBits + static_cast<unsigned>(__ffs(static_cast<int>(passing))) - 1);
    __syncwarp();
    unsigned first = 0;
    do {
      const unsigned i = first + lane_id();
      Hit<Sum> hit{};
      if (i < count) hit = hit_of<Sum, kMirrored>(work, record_at(numbers[i] / kBits), numbers[i] % kBits);
      first += kWarp;
      if (first >= count) {
        // Counters of lists take long to answer: the queue need not wait for them.
        __syncwarp();
        if (lane_id() < ready) publish(record.passing, 0);
        __threadfence_block();
        __syncwarp();
        if (lane_id() == 0) publish(counters.taken, taken + ready);
      }
      if (i < count) lists.append(work, hit.nearness, hit.row, hit.column);
    } while (first < count);
    taken += ready;
  }
}

// By each of two warps.
template <class Sum, bool kMirrored, unsigned kConsumers>
__device__ __forceinline__ void drain_queues(const TileWork& work, const HitLists& lists, const TileMemory& memory,
                                             HitNumber* numbers, unsigned warp) {
  constexpr unsigned kQueues = (kConsumers + 1) / 2;
  unsigned taken[kQueues] = {};
  for (bool finished = false; !finished;) {
    finished = true;
    KITH_UNROLL
    for (unsigned i = 0; i < kQueues; ++i) {
      const unsigned consumer = 2 * i + warp;
      if (consumer >= kConsumers) break;
      finished &= drain_queue<Sum, kMirrored>(work, lists, memory.hits_of<Sum>(consumer), memory.hit_counters[consumer],
                                              numbers, taken[i]);
    }
    __nanosleep(500);  // queues hold the hits of several tiles
  }
}

}  // namespace kith::KITH_BACKEND::tensor
