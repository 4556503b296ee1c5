// tensor_launch.cuh: from calls to launches, for the elements of one kind.
#pragma once

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/tensor/tensor_filter_kernel.cuh"

namespace kith::KITH_BACKEND::tensor {

inline ChunkMaps chunk_maps(const TensorProduct& product, const TensorRows& rows, unsigned box_rows) {
  const auto bytes = static_cast<unsigned>(element_bytes(product.element));
  TensorShape shape{rows.data,
                    bytes,
                    static_cast<std::uint64_t>(product.dims),
                    static_cast<std::uint64_t>(rows.count),
                    static_cast<std::uint64_t>(rows.row_bytes),
                    TileShape::kChunk / bytes,
                    box_rows,
                    Swizzle::bytes_128};
  ChunkMaps maps{tensor_map(shape), {}};
  if (rows.remainders != nullptr) shape.base = rows.remainders;
  maps.remainders = tensor_map(shape);
  return maps;
}

// Parts of the base where a product serves both of its points: each is so small that it stays in the cache.
inline std::int64_t mirrored_parts(std::int64_t tiles, std::int64_t row_bytes) {
  const std::int64_t cached = std::max<std::int64_t>(1, device_policy().hardware.l2_bytes / 3);
  return std::clamp<std::int64_t>(ceil_div(tiles * TileShape::kPoints * row_bytes, cached), 1, tiles);
}

struct TileChoices {
  unsigned consumers = 1;
  std::int64_t parts = 0;  // 0: those that take the least time
  bool may_turn = false;   // for few queries consumers may have the same
  bool mirrored = false;
  const float* limits = nullptr;
};

inline TileWork plan_tile_work(const TensorProduct& product, const TileChoices& choices) {
  const unsigned consumers = choices.consumers;
  const auto row_bytes = static_cast<unsigned>(product.dims * element_bytes(product.element));
  const std::int64_t sets = ceil_div(product.queries.count, TileShape::kRows);
  const unsigned turns = !choices.may_turn || sets > 2 ? 1 : sets == 2 ? consumers / 2 : consumers;
  const unsigned group_rows = consumers / turns * TileShape::kRows;
  const std::int64_t groups = ceil_div(product.queries.count, group_rows);
  const std::int64_t tiles = ceil_div(product.base.count, TileShape::kPoints);
  TileWork work{};
  work.query_count = static_cast<unsigned>(product.queries.count);
  work.base_count = static_cast<unsigned>(product.base.count);
  work.consumers = consumers;
  work.turns = turns;
  work.groups = static_cast<unsigned>(groups);
  work.group_rows = group_rows;
  work.tiles = static_cast<unsigned>(tiles);
  work.parts = static_cast<unsigned>(choices.parts > 0  ? std::min(choices.parts, tiles)
                                     : choices.mirrored ? mirrored_parts(tiles, row_bytes)
                                                        : core::best_parts(groups, tiles, multiprocessor_count()));
  work.mirrored = choices.mirrored;
  work.limits = choices.limits;
  work.row_bytes = row_bytes;
  work.chunks = static_cast<unsigned>(ceil_div(row_bytes, TileShape::kChunk));
  work.remainders = product.base.remainders != nullptr;
  work.bias = product.bias;
  work.bias_step = product.bias_step;
  work.factor = product.factor;
  work.inverse = 1 / product.factor;
  const std::size_t room = static_cast<std::size_t>(device_policy().hardware.shared_per_block) -
                           TileMemory::other_bytes(choices.mirrored) - 1024 - 4096;  // alignment, and static arrays
  const std::size_t resident_bytes = std::size_t{work.query_chunks()} * work.query_bytes();
  // Queries stay where that leaves room for the stages of a tile and the next, and two for each turn: a consumer has
  // the next chunk before it gives back the last.
  work.resident = resident_bytes + std::max(5U, 2 * turns) * std::size_t{TileShape::kBaseBytes} <= room;
  work.stage_bytes = TileShape::kBaseBytes + (work.resident ? 0 : work.query_bytes());
  const std::size_t stages = (room - (work.resident ? resident_bytes : 0)) / work.stage_bytes;
  work.stages = static_cast<unsigned>(std::min<std::size_t>(TileShape::kMaxStages, stages) / turns);
  return work;
}

template <WgmmaElement kElement, unsigned kCopies, unsigned kSteps = TileShape::kSteps, bool kMirrored = false>
void launch_filter(const TensorFilterCall& call, const TileWork& work) {
  const std::int64_t pieces = kMirrored ? std::int64_t{work.groups} * work.tiles : work.units();
  launch("tensor_filter", tensor_filter_kernel<kElement, kCopies, kSteps, kMirrored>,
         {.blocks = std::min<std::int64_t>(pieces, multiprocessor_count()),
          .threads = FilterShape::kThreads,
          .shared_bytes = TileMemory::bytes(work)},
         call.stream, chunk_maps(call.product, call.product.queries, work.group_rows),
         chunk_maps(call.product, call.product.base, TileShape::kPoints), work, HitLists{call.lists, call.pairs});
}

// Whether products serve both of their points: of one set, of fp16, and where that takes less time.
inline bool is_mirrored(const TensorFilterCall& call) {
  return call.mirrored && call.product.element == Element::fp16 && call.product.base.remainders == nullptr &&
         core::tests_both_points(call.product.queries.count, call.product.dims * element_bytes(Element::fp16));
}

template <WgmmaElement kElement>
void filter_elements(const TensorFilterCall& call) {
  const bool mirrored = is_mirrored(call);
  const TileWork work = plan_tile_work(call.product, {.consumers = FilterShape::kConsumers,
                                                      .parts = call.parts,
                                                      .may_turn = true,
                                                      .mirrored = mirrored,
                                                      .limits = HitLists{call.lists, call.pairs}.limits()});
  if constexpr (kIsFloatProduct<kElement>) {
    if (mirrored && work.resident && work.copies() == 2)
      return launch_filter<kElement, 2, TileShape::kSteps, true>(call, work);
    if (mirrored) return launch_filter<kElement, 0, TileShape::kSteps, true>(call, work);
  }
  if (work.resident && work.copies() == 1) {
    if (work.row_bytes <= TileShape::kStep) return launch_filter<kElement, 1, 1>(call, work);
    if (work.row_bytes <= 2 * TileShape::kStep) return launch_filter<kElement, 1, 2>(call, work);
    return launch_filter<kElement, 1>(call, work);
  }
  if (work.resident && work.copies() == 2) return launch_filter<kElement, 2>(call, work);
  launch_filter<kElement, 0>(call, work);
}

template <WgmmaElement kElement>
void sample_elements(const TensorSampleCall& call) {
  const TileWork work = plan_tile_work(call.product, {.consumers = SampleShape::kConsumers, .parts = call.parts});
  launch("tensor_sample", tensor_sample_kernel<kElement>,
         {.blocks = std::min<std::int64_t>(work.units(), multiprocessor_count()),
          .threads = SampleShape::kThreads,
          .shared_bytes = TileMemory::bytes(work)},
         call.stream, chunk_maps(call.product, call.product.queries, work.group_rows),
         chunk_maps(call.product, call.product.base, TileShape::kPoints), work, call.best);
}

}  // namespace kith::KITH_BACKEND::tensor
