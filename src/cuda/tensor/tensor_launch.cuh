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

// `parts` 0: those that take the least time. `may_turn`: for few queries consumers may have the same.
inline TileWork plan_tile_work(const TensorProduct& product, unsigned consumers, std::int64_t parts, bool may_turn) {
  const auto row_bytes = static_cast<unsigned>(product.dims * element_bytes(product.element));
  const std::int64_t sets = ceil_div(product.queries.count, TileShape::kRows);
  const unsigned turns = !may_turn || sets > 2 ? 1 : sets == 2 ? consumers / 2 : consumers;
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
  work.parts = static_cast<unsigned>(parts > 0 ? std::min(parts, tiles)
                                               : core::best_parts(groups, tiles, multiprocessor_count()));
  work.row_bytes = row_bytes;
  work.chunks = static_cast<unsigned>(ceil_div(row_bytes, TileShape::kChunk));
  work.remainders = product.base.remainders != nullptr;
  work.bias = product.bias;
  work.bias_step = product.bias_step;
  work.factor = product.factor;
  work.inverse = 1 / product.factor;
  const std::size_t room = static_cast<std::size_t>(device_policy().hardware.shared_per_block) -
                           TileMemory::other_bytes() - 1024 - 2048;  // alignment, and static arrays
  const std::size_t resident_bytes = std::size_t{work.query_chunks()} * work.query_bytes();
  // Queries stay where that leaves room for the stages of a tile and the next.
  work.resident = resident_bytes + 5 * std::size_t{TileShape::kBaseBytes} <= room;
  work.stage_bytes = TileShape::kBaseBytes + (work.resident ? 0 : work.query_bytes());
  const std::size_t stages = (room - (work.resident ? resident_bytes : 0)) / work.stage_bytes;
  work.stages = static_cast<unsigned>(std::min<std::size_t>(TileShape::kMaxStages, stages) / turns);
  return work;
}

template <WgmmaElement kElement, unsigned kCopies, unsigned kSteps = TileShape::kSteps>
void launch_filter(const TensorFilterCall& call, const TileWork& work) {
  launch("tensor_filter", tensor_filter_kernel<kElement, kCopies, kSteps>,
         {.blocks = std::min<std::int64_t>(work.units(), multiprocessor_count()),
          .threads = FilterShape::kThreads,
          .shared_bytes = TileMemory::bytes(work)},
         call.stream, chunk_maps(call.product, call.product.queries, work.group_rows),
         chunk_maps(call.product, call.product.base, TileShape::kPoints), work, HitLists{call.lists, call.pairs});
}

template <WgmmaElement kElement>
void filter_elements(const TensorFilterCall& call) {
  const TileWork work = plan_tile_work(call.product, FilterShape::kConsumers, 0, true);
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
  const TileWork work = plan_tile_work(call.product, SampleShape::kConsumers, call.parts, false);
  launch("tensor_sample", tensor_sample_kernel<kElement>,
         {.blocks = std::min<std::int64_t>(work.units(), multiprocessor_count()),
          .threads = SampleShape::kThreads,
          .shared_bytes = TileMemory::bytes(work)},
         call.stream, chunk_maps(call.product, call.product.queries, work.group_rows),
         chunk_maps(call.product, call.product.base, TileShape::kPoints), work, call.best);
}

}  // namespace kith::KITH_BACKEND::tensor
