// tile_memory.cuh: the shared memory of a block, and the barriers by which copies, products and hits follow each other.
#pragma once

#include "cuda/runtime/bulk_copy.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/tensor/tile_work.hpp"

namespace kith::KITH_BACKEND::tensor {

// Four sums in one load or store. Sums of products in flight must not pass through registers of another type.
template <class Sum>
struct FourOf;
template <>
struct FourOf<float> {
  using Type = float4;
  __device__ __forceinline__ static float4 make(float a, float b, float c, float d) { return make_float4(a, b, c, d); }
};
template <>
struct FourOf<int> {
  using Type = int4;
  __device__ __forceinline__ static int4 make(int a, int b, int c, int d) { return make_int4(a, b, c, d); }
};

// Eight pairs of a query of which at least one passed: their nearness; or, where a product serves both points, their
// sums without bias.
template <class Sum>
struct alignas(16) HitRecord {
  typename FourOf<Sum>::Type values[TileShape::kHits / 4];
  Sum row_bias;  // of the query as a point of the base
  unsigned row;
  unsigned column;  // of the first pair
  // Bit j: pair j passed; bit kHits + j: it did with its points exchanged. Written last: a record without is not ready.
  unsigned passing;
};
constexpr unsigned kHitBytes = sizeof(HitRecord<float>);

// Of the queue of a consumer: records that were ever begun, those that were taken, and warps that will add none.
struct HitCounters {
  unsigned begun;
  unsigned taken;
  unsigned finished;
};

// A position in a ring of stages, and the parity of the phase that fills it.
struct RingPosition {
  unsigned stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance(unsigned stages) {
    if (++stage < stages) return;
    stage = 0;
    parity ^= 1U;
  }
};

struct TileBarriers {
  Mbarrier* full;   // a stage has arrived
  Mbarrier* empty;  // consumers are done with it
  Mbarrier* queries_full;
  Mbarrier* queries_empty;
  Mbarrier* bias_full;
  Mbarrier* bias_empty;

  // By one thread; a barrier of the block must follow.
  __device__ void init(const TileWork& work) const {
    const unsigned readers = work.tile_readers();
    for (unsigned i = 0; i < work.turns * work.stages; ++i) {
      mbarrier_init(&full[i], 1);
      mbarrier_init(&empty[i], readers);
    }
    mbarrier_init(queries_full, 1);
    mbarrier_init(queries_empty, work.query_readers());
    for (unsigned i = 0; i < TileShape::kBiasStages; ++i) {
      mbarrier_init(&bias_full[i], 1);
      mbarrier_init(&bias_empty[i], readers);
    }
    fence_mbarrier_init();
  }
};

// Stages, the queries that stay, the bias of some tiles and the limits of their points as queries, queues of hits.
struct TileMemory {
  unsigned char* stages;
  unsigned stage_bytes;
  unsigned char* resident;  // null: queries are in the stages
  unsigned query_bytes;
  unsigned char* bias;
  unsigned char* limits;
  unsigned char* hits;
  HitCounters* hit_counters;

  __device__ TileMemory(const TileWork& work, HitCounters* counters)
      : stages(align_shared(dynamic_shared<unsigned char>(), 1024)),
        stage_bytes(work.stage_bytes),
        resident(work.resident ? stages + work.turns * work.stages * work.stage_bytes : nullptr),
        query_bytes(work.query_bytes()),
        bias(stages + work.turns * work.stages * work.stage_bytes +
             (work.resident ? work.query_chunks() * work.query_bytes() : 0)),
        limits(bias + TileShape::kBiasStages * TileShape::kPoints * sizeof(float)),
        hits(limits + (work.mirrored ? TileShape::kBiasStages * TileShape::kPoints * sizeof(float) : 0)),
        hit_counters(counters) {}

  static std::size_t bytes(const TileWork& work) {
    return 1024 + std::size_t{work.turns} * work.stages * work.stage_bytes +
           (work.resident ? std::size_t{work.query_chunks()} * work.query_bytes() : 0) + other_bytes(work.mirrored);
  }
  static constexpr std::size_t other_bytes(bool mirrored) {
    return (mirrored ? 2 : 1) * TileShape::kBiasStages * TileShape::kPoints * sizeof(unsigned) +
           TileShape::kMaxConsumers * TileShape::kHitCapacity * kHitBytes;
  }

  __device__ __forceinline__ unsigned char* base(unsigned stage) const { return stages + stage * stage_bytes; }
  __device__ __forceinline__ unsigned char* queries(unsigned chunk, unsigned stage) const {
    return resident != nullptr ? resident + chunk * query_bytes : base(stage) + TileShape::kBaseBytes;
  }
  // Nearness of biases, in the order of bias_position().
  template <class Sum>
  __device__ __forceinline__ Sum* bias_of(unsigned stage) const {
    return reinterpret_cast<Sum*>(bias) + stage * TileShape::kPoints;
  }
  // The same of limits.
  template <class Sum>
  __device__ __forceinline__ Sum* limits_of(unsigned stage) const {
    return reinterpret_cast<Sum*>(limits) + stage * TileShape::kPoints;
  }
  template <class Sum>
  __device__ __forceinline__ HitRecord<Sum>* hits_of(unsigned consumer) const {
    return reinterpret_cast<HitRecord<Sum>*>(hits) + consumer * TileShape::kHitCapacity;
  }
};

// Of 16 columns a thread has four (wgmma.cuh), whose biases lie side by side.
__device__ __forceinline__ unsigned bias_position(unsigned column) {
  return column / 16 * 16 + column % 8 / 2 * 4 + column / 8 % 2 * 2 + column % 2;
}

}  // namespace kith::KITH_BACKEND::tensor
