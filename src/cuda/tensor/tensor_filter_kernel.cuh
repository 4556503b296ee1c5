// tensor_filter_kernel.cuh: the kernel of tensor_filter() and that of tensor_sample().
// Idea    a block of a warpgroup that works for the others, and four (or three) that multiply and test, each 64 queries
//         by 128 base points; where there are but 64 queries, or 128, tiles by turns. Of the first, one lane copies
//         chunks of base tiles, a warp brings queries and biases, and two warps take pairs that passed to the lists.
//         Where queries and base are the same points, a product serves both of its points: half of the tiles do.
// Cost    q · n · d products of the tensor cores; for each pair an addition and a comparison; 256 queries share what
//         comes from the cache.
#pragma once

#include "cuda/tensor/tile_copies.cuh"
#include "cuda/tensor/tile_hits.cuh"
#include "cuda/tensor/tile_products.cuh"

namespace kith::KITH_BACKEND::tensor {

// Consumers of a kernel, and the registers that threads have: those of the first warpgroup, and those of consumers.
struct FilterShape {
  static constexpr unsigned kConsumers = 4;
  static constexpr unsigned kThreads = (1 + kConsumers) * 128;
  static constexpr unsigned kFewRegisters = 32;
  static constexpr unsigned kManyRegisters = 112;
};
struct SampleShape {
  static constexpr unsigned kConsumers = 3;
  static constexpr unsigned kThreads = (1 + kConsumers) * 128;
  static constexpr unsigned kFewRegisters = 32;
  static constexpr unsigned kManyRegisters = 160;
};

// Which warpgroup a thread is in, in a form that tells the compiler that it is the same for all of a warp.
__device__ __forceinline__ unsigned warpgroup() {
  return __shfl_sync(kFullMask, threadIdx.x / kWarpgroup, 0);
}

// The barriers' arrays; a macro, since each kernel has its own shared memory.
#define KITH_TILE_BARRIERS(barriers)                                           \
  KITH_SHARED(Mbarrier, full, TileShape::kMaxStages);                          \
  KITH_SHARED(Mbarrier, empty, TileShape::kMaxStages);                         \
  KITH_SHARED(Mbarrier, queries, 2);                                           \
  KITH_SHARED(Mbarrier, biases, 2 * TileShape::kBiasStages);                   \
  const TileBarriers barriers {                                                \
    full, empty, queries, queries + 1, biases, biases + TileShape::kBiasStages \
  }

// For a thread's two rows of a set.
template <class Sum, bool kMirrored>
__device__ __forceinline__ RowTests<Sum> load_row_tests(const TileWork& work, unsigned first_row) {
  RowTests<Sum> tests;
  KITH_UNROLL
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned row = first_row + ThreadSums::row() + 8 * i;
    const bool exists = row < work.query_count;
    tests.limits[i] = exists ? Nearness<Sum>::of_limit(work.limits[row], work.inverse) : Nearness<Sum>::most();
    if constexpr (kMirrored)
      tests.bias[i] = exists && work.bias != nullptr
                          ? Nearness<Sum>::of_bias(work.bias[row * work.bias_step], work.inverse)
                          : Sum{0};
  }
  return tests;
}

template <WgmmaElement kElement, unsigned kCopies, unsigned kSteps, bool kMirrored>
__device__ __forceinline__ void filter_tiles(const TileWork& work, const TileMemory& memory,
                                             const TileBarriers& barriers, unsigned consumer) {
  using Products = TileProducts<kElement, kCopies, kSteps>;
  using Sum = typename Products::Sum;
  const HitFilter<Sum, kMirrored> filter{memory.hits_of<Sum>(consumer), memory.hit_counters[consumer]};
  const unsigned first_bias = work.turn(consumer) * work.bias_stages();
  Products products(work, memory, barriers, consumer);
  Sum sums[Products::kSums];
  RingPosition bias;
  unsigned query_parity = 0;
  TileUnit unit;
  for (TileUnits<kMirrored> units(work); units.next(unit);) {
    const unsigned first_row = unit.first_query + work.first_row(consumer);
    RowTests<Sum> tests = load_row_tests<Sum, kMirrored>(work, first_row);
    if (work.resident) mbarrier_wait(barriers.queries_full, query_parity);
    query_parity ^= 1U;
    for (unsigned tile = work.turn(consumer); tile < unit.tiles; tile += work.turns) {
      products.multiply_tile(sums);
      const unsigned stage = first_bias + bias.stage;
      mbarrier_wait(&barriers.bias_full[stage], bias.parity);
      const unsigned first_column = (unit.first_tile + tile) * TileShape::kPoints;
      if constexpr (kMirrored) {
        // Pairs within a group come twice.
        const bool other_group = first_column >= unit.first_query + work.group_rows;
        for (unsigned i = 0; i < 2; ++i)
          tests.serves[i] = other_group && first_row + ThreadSums::row() + 8 * i < work.query_count;
      }
      filter.test(sums, tests, {memory.bias_of<Sum>(stage), memory.limits_of<Sum>(stage)}, first_row, first_column);
      __syncwarp();
      if (lane_id() == 0) mbarrier_arrive(&barriers.bias_empty[stage]);
      bias.advance(work.bias_stages());
    }
    if (work.resident && lane_id() == 0) mbarrier_arrive(barriers.queries_empty);
  }
  __syncwarp();
  __threadfence_block();
  if (lane_id() == 0) atomicAdd(&memory.hit_counters[consumer].finished, 1U);
}

template <WgmmaElement kElement, unsigned kCopies, unsigned kSteps, bool kMirrored>
__global__ void __launch_bounds__(FilterShape::kThreads, 1)
    tensor_filter_kernel(const __grid_constant__ ChunkMaps queries_map, const __grid_constant__ ChunkMaps base_map,
                         const TileWork work, const HitLists lists) {
  using Sum = WgmmaSum<kElement>;
  constexpr unsigned kChunkWidth = kIsFloatProduct<kElement> ? TileShape::kChunk / 2 : TileShape::kChunk;
  KITH_TILE_BARRIERS(barriers);
  KITH_SHARED(HitCounters, hit_counters, TileShape::kMaxConsumers);
  KITH_SHARED(HitNumber, hit_numbers, 2 * kHitNumbers);
  const TileMemory memory(work, hit_counters);
  if (threadIdx.x == 0) barriers.init(work);
  if (threadIdx.x < TileShape::kMaxConsumers) hit_counters[threadIdx.x] = {};
  for (unsigned i = threadIdx.x; i < FilterShape::kConsumers * TileShape::kHitCapacity; i += FilterShape::kThreads)
    memory.hits_of<Sum>(0)[i].passing = 0;
  __syncthreads();
  const unsigned role = warpgroup();
  if (role == 0) {
    lower_register_limit<FilterShape::kFewRegisters>();
    if (warp_id() == 0) {
      if (elect_one()) copy_tiles<kMirrored>(work, queries_map, base_map, memory, barriers, kChunkWidth);
    } else if (warp_id() == 1) {
      copy_queries_and_bias<Sum, kMirrored>(work, queries_map, memory, barriers, kChunkWidth);
    } else {
      const unsigned drain = warp_id() - 2;
      drain_queues<Sum, kMirrored, FilterShape::kConsumers>(work, lists, memory, hit_numbers + drain * kHitNumbers,
                                                            drain);
    }
  } else {
    raise_register_limit<FilterShape::kManyRegisters>();
    filter_tiles<kElement, kCopies, kSteps, kMirrored>(work, memory, barriers, role - 1);
  }
}

// Keeps the largest nearness of each group; groups are the columns of tiles.
template <WgmmaElement kElement>
__device__ __forceinline__ void find_best(const TileWork& work, float* best, const TileMemory& memory,
                                          const TileBarriers& barriers, unsigned consumer) {
  using Products = TileProducts<kElement, 0, TileShape::kSteps>;
  using Sum = typename Products::Sum;
  const unsigned first_row = work.first_row(consumer);
  const unsigned first_bias = work.turn(consumer) * work.bias_stages();
  Products products(work, memory, barriers, consumer);
  Sum sums[Products::kSums];
  RingPosition bias;
  unsigned query_parity = 0;
  TileUnit unit;
  for (TileUnits<false> units(work); units.next(unit);) {
    Sum largest[Products::kSums];
    KITH_UNROLL
    for (Sum& one : largest) one = Nearness<Sum>::least();
    if (work.resident) mbarrier_wait(barriers.queries_full, query_parity);
    query_parity ^= 1U;
    for (unsigned tile = work.turn(consumer); tile < unit.tiles; tile += work.turns) {
      products.multiply_tile(sums);
      const unsigned stage = first_bias + bias.stage;
      mbarrier_wait(&barriers.bias_full[stage], bias.parity);
      KITH_UNROLL
      for (unsigned i = 0; i < Products::kSums / 16; ++i) add_bias(sums, memory.bias_of<Sum>(stage), i);
      KITH_UNROLL
      for (unsigned i = 0; i < Products::kSums; ++i) largest[i] = Nearness<Sum>::larger(largest[i], sums[i]);
      __syncwarp();
      if (lane_id() == 0) mbarrier_arrive(&barriers.bias_empty[stage]);
      bias.advance(work.bias_stages());
    }
    if (work.resident && lane_id() == 0) mbarrier_arrive(barriers.queries_empty);
    const unsigned query = unit.first_query + first_row + ThreadSums::row();
    KITH_UNROLL
    for (unsigned i = 0; i < Products::kSums; ++i) {
      const unsigned row = query + (ThreadSums::is_second(i) ? 8 : 0);
      if (row < work.query_count)
        best[(static_cast<std::int64_t>(row) * work.parts + unit.part) * TileShape::kPoints + ThreadSums::column(i)] =
            Nearness<Sum>::score(largest[i], work.factor);
    }
  }
}

template <WgmmaElement kElement>
__global__ void __launch_bounds__(SampleShape::kThreads, 1)
    tensor_sample_kernel(const __grid_constant__ ChunkMaps queries_map, const __grid_constant__ ChunkMaps base_map,
                         const TileWork work, float* best) {
  using Sum = WgmmaSum<kElement>;
  constexpr unsigned kChunkWidth = kIsFloatProduct<kElement> ? TileShape::kChunk / 2 : TileShape::kChunk;
  KITH_TILE_BARRIERS(barriers);
  const TileMemory memory(work, nullptr);
  if (threadIdx.x == 0) barriers.init(work);
  __syncthreads();
  const unsigned role = warpgroup();
  if (role == 0) {
    lower_register_limit<SampleShape::kFewRegisters>();
    if (warp_id() == 0) {
      if (elect_one()) copy_tiles<false>(work, queries_map, base_map, memory, barriers, kChunkWidth);
    } else if (warp_id() == 1) {
      copy_queries_and_bias<Sum, false>(work, queries_map, memory, barriers, kChunkWidth);
    }
  } else {
    raise_register_limit<SampleShape::kManyRegisters>();
    find_best<kElement>(work, best, memory, barriers, role - 1);
  }
}

#undef KITH_TILE_BARRIERS

}  // namespace kith::KITH_BACKEND::tensor
