// fp16_hits.cuh: which pairs of a warp's products (fp16_tiled.cuh) pass, and their way to the lists.
// Idea    a thread finishes its scores and tests eight of a query at a time. Where one of them passes, all eight go to
//         a queue of the warp in shared memory. When that is full, and at the end, its lanes take a record each and
//         append what passes to the lists: a warp seldom waits for the lists' counters in global memory, and never for
//         other warps.
// Cost    for each score an addition and a comparison; for a tile of which something passes some 200 instructions more.
// Limits  none: a tile with more records than the queue holds goes through it in parts.
#pragma once

#include "cuda/distance/fp16_tiled.cuh"
#include "cuda/distance/fused_filter_tile.cuh"
#include "cuda/primitives/block.cuh"

namespace kith::KITH_BACKEND::distance {

struct Fp16HitShape {
  static constexpr unsigned kScores = 8;     // of a record
  static constexpr unsigned kCapacity = 64;  // records of a warp's queue
  // A thread's of a tile.
  static constexpr unsigned kRecords = Fp16TileShape::kRows * Fp16TileShape::kColumns / kScores;
  static constexpr unsigned kQueued = Fp16TileShape::kThreads / kWarp * kCapacity;  // records of a block's queues

  // Bytes of shared memory: queues, and limits.
  static constexpr std::size_t kBytes =
      kQueued * (kScores * sizeof(float) + sizeof(unsigned)) + Fp16TileShape::kPoints * sizeof(float);
};

// A warp's queue, in shared memory.
struct Fp16HitQueue {
  float4* scores;   // two a record
  unsigned* pairs;  // its first pair: column · kPoints + row, counted from the block's first
};

class Fp16Hits {
 public:
  using Shape = Fp16TileShape;
  using Hits = Fp16HitShape;

  // `limits` is shared memory for one a query of the block.
  __device__ Fp16Hits(const CandidateLists<float>& lists, const BlockPairs& block, float scale, float* limits,
                      const Fp16HitQueue& queue)
      : lists_(lists), block_(block), scale_(scale), limits_(limits), queue_(queue) {}

  // Must be called by all threads; a barrier must follow.
  __device__ __forceinline__ void begin() const {
    static_assert(Shape::kThreads == Shape::kPoints);
    limits_[threadIdx.x] = limit_in_block<float>(lists_, block_, threadIdx.x);
  }

  // Sums become scores. Must be called by all lanes.
  __device__ __forceinline__ void operator()(unsigned tile, Fp16Sums& sums, const float* bias) {
    const Fp16ThreadPairs pairs;
    unsigned passes = 0;  // a bit a record
    KITH_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      float2 biases[Hits::kScores / 2];
      KITH_UNROLL
      for (unsigned j = 0; j < Hits::kScores / 2; ++j)
        biases[j] =
            *reinterpret_cast<const float2*>(bias + pairs.first_column + half * kHalfColumns + fragment_column(2 * j));
      KITH_UNROLL
      for (unsigned row = 0; row < Shape::kRows; ++row) {
        const float limit = limits_[pairs.row(row)];
        bool any = false;
        KITH_UNROLL
        for (unsigned j = 0; j < Hits::kScores; ++j) {
          float& score = score_of(sums, 2 * row + half, j);
          score = fmaf(scale_, score, j % 2 == 0 ? biases[j / 2].x : biases[j / 2].y);
          any |= !(score > limit);
        }
        if (any) passes |= 1U << (2 * row + half);
      }
    }
    if (__any_sync(kFullMask, passes != 0) != 0)
      keep(passes, sums, (tile * Shape::kPoints + pairs.first_column) * Shape::kPoints + pairs.first_row);
  }

  // Appends what the queue holds to the lists. Must be called by all lanes.
  __device__ __forceinline__ void flush() {
    __syncwarp();
    for (unsigned i = lane_id(); i < count_; i += kWarp) append(i);
    __syncwarp();
    count_ = 0;
  }

 private:
  static constexpr unsigned kHalfColumns = Shape::kWarpPoints / 2;  // those of a record, and of other lanes

  // Record i has scores of row i / 2, and of half of the columns.
  __device__ __forceinline__ static float& score_of(Fp16Sums& sums, unsigned i, unsigned j) {
    const unsigned row = i / 2;
    return sums[row / 2][i % 2 * (Hits::kScores / 2) + j / 2][row % 2 * 2 + j % 2];
  }

  // Queues the records of `passes`, of which `pair` is the first pair of all. Records of lanes follow each other; each
  // round of the loop fills the queue with what it has room for.
  __device__ __forceinline__ void keep(unsigned passes, Fp16Sums& scores, unsigned pair) {
    unsigned total;
    unsigned place = count_ + records_before(passes, total);
    total += count_;
#pragma unroll 1
    for (;;) {
      unsigned now = passes;
      while (now != 0 && place + static_cast<unsigned>(__popc(now)) > Hits::kCapacity)
        now &= ~(0x80000000U >> static_cast<unsigned>(__clz(static_cast<int>(now))));
      passes ^= now;
      float4* to = queue_.scores + 2 * place;
      unsigned* pair_to = queue_.pairs + place;
      place += static_cast<unsigned>(__popc(now));
      KITH_UNROLL
      for (unsigned first = 0; first < Hits::kRecords; first += 4) {
        if ((now >> first & 0xFU) == 0) continue;  // mostly: fewer branches
        KITH_UNROLL
        for (unsigned i = first; i < first + 4; ++i) {
          if ((now >> i & 1U) == 0) continue;
          const auto score = [&](unsigned j) { return score_of(scores, i, j); };
          *to++ = make_float4(score(0), score(1), score(2), score(3));
          *to++ = make_float4(score(4), score(5), score(6), score(7));
          *pair_to++ = pair + i % 2 * kHalfColumns * Shape::kPoints + i / 2 * 8;
        }
      }
      if (total < Hits::kCapacity) break;
      count_ = Hits::kCapacity;
      flush();
      place -= Hits::kCapacity;
      total -= Hits::kCapacity;
    }
    count_ = total;
  }

  // Returns the records of the lanes before, and those of all as `total`.
  __device__ __forceinline__ static unsigned records_before(unsigned passes, unsigned& total) {
    const auto own = static_cast<unsigned>(__popc(passes));
    if (__any_sync(kFullMask, own > 1) == 0) {  // mostly
      const unsigned lanes = __ballot_sync(kFullMask, own == 1);
      total = static_cast<unsigned>(__popc(lanes));
      return static_cast<unsigned>(__popc(lanes & ((1U << lane_id()) - 1)));
    }
    const unsigned end = warp_inclusive_sum(own);
    total = __shfl_sync(kFullMask, end, kWarp - 1);
    return end - own;
  }

  // Appends what passes of a record.
  __device__ __forceinline__ void append(unsigned record) const {
    const unsigned row = queue_.pairs[record] % Shape::kPoints;
    const unsigned column = queue_.pairs[record] / Shape::kPoints;
    const float limit = limits_[row];
    const auto* scores = reinterpret_cast<const float*>(queue_.scores + 2 * record);
    unsigned passing = 0;
    KITH_UNROLL
    for (unsigned j = 0; j < Hits::kScores; ++j)
      if (!(scores[j] > limit)) passing |= 1U << j;
    for (; passing != 0; passing &= passing - 1) {
      const unsigned j = static_cast<unsigned>(__ffs(static_cast<int>(passing))) - 1;
      append_pair(lists_, block_, row, column + fragment_column(j), scores[j]);
    }
  }

  const CandidateLists<float>& lists_;
  BlockPairs block_;
  float scale_;
  float* limits_;
  Fp16HitQueue queue_;
  unsigned count_ = 0;  // records in the queue, the same for all lanes
};

}  // namespace kith::KITH_BACKEND::distance
