// tile_units.cuh: the units of a block, one after the other: each warp walks through them by itself.
#pragma once

#include "cuda/runtime/platform.cuh"
#include "cuda/tensor/tile_work.hpp"

namespace kith::KITH_BACKEND::tensor {

struct TileUnit {
  unsigned first_query;
  unsigned part;
  unsigned first_tile;
  unsigned tiles;
};

// kMirrored: queries and base are the same points, and pairs of a group of queries with tiles before it are left to the
// other group. Else all pairs.
template <bool kMirrored>
class TileUnits;

// Every so-many-th of the parts of all groups.
template <>
class TileUnits<false> {
 public:
  __device__ __forceinline__ explicit TileUnits(const TileWork& work) : work_(work), next_(blockIdx.x) {}

  __device__ __forceinline__ bool next(TileUnit& unit) {
    if (next_ >= work_.units()) return false;
    const unsigned part = next_ / work_.groups;
    const unsigned first = work_.part_begin(part);
    unit = {next_ % work_.groups * work_.group_rows, part, first, work_.part_begin(part + 1) - first};
    next_ += gridDim.x;
    return true;
  }

 private:
  const TileWork& work_;
  unsigned next_;
};

// In each part, groups have tiles from their own on, and a block has a run of the tiles of all groups, one group after
// the other: as many as any other block.
template <>
class TileUnits<true> {
 public:
  __device__ explicit TileUnits(const TileWork& work) : work_(work), own_tiles_(work.group_rows / TileShape::kPoints) {}

  __device__ bool next(TileUnit& unit) {
    while (left_ == 0) {
      if (part_ == work_.parts) return false;
      begin_part(part_++);
    }
    const unsigned tiles = min(left_, end_ - tile_);
    unit = {group_ * work_.group_rows, part_ - 1, tile_, tiles};
    left_ -= tiles;
    tile_ = first_tile(++group_);
    return true;
  }

 private:
  // Of a group, in the part.
  __device__ unsigned first_tile(unsigned group) const { return max(begin_, group * own_tiles_); }

  __device__ void begin_part(unsigned part) {
    begin_ = work_.part_begin(part);
    end_ = work_.part_begin(part + 1);
    // Groups that begin before the part have all of its tiles, the others each a group's fewer than the last.
    const unsigned groups = (end_ + own_tiles_ - 1) / own_tiles_;
    const unsigned whole = min(groups, begin_ / own_tiles_ + 1);
    const unsigned others = groups - whole;
    const unsigned long long all = static_cast<unsigned long long>(whole) * (end_ - begin_) +
                                   static_cast<unsigned long long>(others) * end_ -
                                   static_cast<unsigned long long>(others) * (whole + groups - 1) / 2 * own_tiles_;
    const unsigned long long first = all * blockIdx.x / gridDim.x;
    left_ = static_cast<unsigned>(all * (blockIdx.x + 1) / gridDim.x - first);
    group_ = static_cast<unsigned>(min(first / (end_ - begin_), static_cast<unsigned long long>(whole)));
    auto skipped = static_cast<unsigned>(first - static_cast<unsigned long long>(group_) * (end_ - begin_));
    for (; skipped > 0 && skipped >= end_ - first_tile(group_); ++group_) skipped -= end_ - first_tile(group_);
    tile_ = first_tile(group_) + skipped;
  }

  const TileWork& work_;
  unsigned own_tiles_;  // of the queries of a group
  unsigned part_ = 0;   // the next
  unsigned begin_ = 0;  // tiles of the current part
  unsigned end_ = 0;
  unsigned group_ = 0;
  unsigned tile_ = 0;
  unsigned left_ = 0;  // tiles of the block in the current part
};

}  // namespace kith::KITH_BACKEND::tensor
