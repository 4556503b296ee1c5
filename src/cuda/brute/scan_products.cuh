// scan_products.cuh: products of up to eight queries with base rows that are read once, by a warp, from registers.
// Idea    a fragment of mma.m16n8k16 wants two coordinates of a row here and two there. Which coordinates these are
// does
//         not matter as long as both operands agree, so a lane loads 16 bytes of a row at once and takes them for what
//         two products want: four lanes have 64 bytes of a row, a warp those of 8 rows in one load.
// Layout  with g = lane / 4 and t = lane % 4, a lane has bytes 64c + 16t … + 15 of rows g and g + 8 of a set of 16
// rows,
//         and of query g. Queries stay in shared memory, a vector a lane for each chunk of 64 bytes.
// Error   a tensor core adds the products of 16 coordinates to a sum at once, each truncated, whatever their order:
// that
//         is what core/fp16_bounds.hpp counts 2^-22 a coordinate for. Sums of bytes have none.
// Cost    a lane has eight vectors in flight, 4 KiB a warp: of one set, or of several where rows are short.
#pragma once

#include "core/scan_plan.hpp"
#include "cuda/runtime/tensor_core.cuh"
#include "cuda/tensor/nearness.cuh"
#include "cuda/tensor/tensor_filter.hpp"

namespace kith::KITH_BACKEND::brute {

constexpr unsigned kScanVector = core::kScanChunk / 4;  // bytes of a lane

template <tensor::Element kElement>
struct ScanElement {
  using Sum = int;
  __device__ __forceinline__ static void multiply(const unsigned (&left)[4], unsigned right0, unsigned right1,
                                                  Sum (&sums)[4]) {
    multiply_byte_fragments<kElement == tensor::Element::int8>(left, right0, right1, sums);
  }
};

template <>
struct ScanElement<tensor::Element::fp16> {
  using Sum = float;
  __device__ __forceinline__ static void multiply(const unsigned (&left)[4], unsigned right0, unsigned right1,
                                                  Sum (&sums)[4]) {
    multiply_fragments(left, right0, right1, sums);
  }
};

// The rows of one side.
struct ScanRows {
  const unsigned char* data;
  unsigned count;
  unsigned width;      // bytes of a row that are read
  std::size_t stride;  // from one row to the next

  // The lane's vector of a chunk; zeros beyond the rows.
  __device__ __forceinline__ uint4 vector(unsigned row, unsigned chunk) const {
    const unsigned at = (chunk * 4 + lane_id() % 4) * kScanVector;
    if (row >= count || at >= width) return {0, 0, 0, 0};
    return __ldg(reinterpret_cast<const uint4*>(data + row * stride + at));
  }
};

// Sums of a warp for kSets sets of 16 rows: item i of a set is that of row g + 8 · (i / 2) and query 2t + i % 2.
template <tensor::Element kElement, unsigned kSets>
struct ScanSums {
  using Sum = typename ScanElement<kElement>::Sum;
  static constexpr unsigned kItems = 4;
  static constexpr unsigned kSetRows = 16;
  static constexpr unsigned kChunks = 4 / kSets;  // loaded at once
  static constexpr unsigned kRows = kSets * kSetRows;

  // A part of the rows: chunks from `chunk` on.
  struct Part {
    uint4 vectors[kSets][kChunks][2];

    __device__ __forceinline__ void load(const ScanRows& base, unsigned first, unsigned chunk) {
      KITH_UNROLL
      for (unsigned set = 0; set < kSets; ++set) KITH_UNROLL
      for (unsigned c = 0; c < kChunks; ++c) KITH_UNROLL
      for (unsigned half = 0; half < 2; ++half)
        vectors[set][c][half] = base.vector(first + row(set, 2 * half), chunk + c);
    }
  };

  Sum sums[kSets][kItems];

  __device__ __forceinline__ static unsigned row(unsigned set, unsigned item) {
    return set * kSetRows + item / 2 * 8 + lane_id() / 4;
  }
  __device__ __forceinline__ static unsigned query(unsigned item) { return lane_id() % 4 * 2 + item % 2; }

  __device__ __forceinline__ void clear() {
    KITH_UNROLL
    for (unsigned set = 0; set < kSets; ++set) KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) sums[set][i] = 0;
  }

  // `queries` are the vectors of all chunks, zeros from the last chunk of a row on.
  __device__ __forceinline__ void add(const Part& part, const uint4* queries, unsigned chunk) {
    KITH_UNROLL
    for (unsigned c = 0; c < kChunks; ++c) {
      const uint4 of = queries[(chunk + c) * kWarp + lane_id()];
      KITH_UNROLL
      for (unsigned set = 0; set < kSets; ++set) {
        const uint4& low = part.vectors[set][c][0];
        const uint4& high = part.vectors[set][c][1];
        ScanElement<kElement>::multiply({low.x, high.x, low.y, high.y}, of.x, of.y, sums[set]);
        ScanElement<kElement>::multiply({low.z, high.z, low.w, high.w}, of.z, of.w, sums[set]);
      }
    }
  }
};

}  // namespace kith::KITH_BACKEND::brute
