// transpose.cu: transposes tiles of 32 × 32 values through shared memory; a group has at most 32 columns.
// Cost: one read and one write of the matrix. Workspace: a copy of the matrix.
#include "cuda/select/papers/transpose.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::select {

namespace {

constexpr unsigned kTransposeThreads = 256;
constexpr unsigned kTransposeTile = kWarp;
constexpr unsigned kTilePitch = kTransposeTile + 1;  // avoids bank conflicts where a warp reads a column

template <class T>
__global__ void transpose_kernel(Rows<T> rows, T* values, std::int64_t pitch, unsigned group_bits) {
  KITH_SHARED(T, tile, kTransposeTile * kTilePitch);
  const unsigned tiles = (rows.length + kTransposeTile - 1) / kTransposeTile;
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles} * kTransposeTile;
  const unsigned first_column = blockIdx.x % tiles * kTransposeTile;

  for (unsigned y = warp_id(); y < kTransposeTile; y += kTransposeThreads / kWarp) {
    const unsigned column = first_column + lane_id();
    if (first_row + y < rows.rows && column < rows.length)
      tile[y * kTilePitch + lane_id()] = rows.row(first_row + y)[column];
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kTransposeTile * kTransposeTile; i += kTransposeThreads) {
    const unsigned in_group = i & ((1U << group_bits) - 1);
    const unsigned y = (i >> group_bits) % kTransposeTile;
    const unsigned x = i / kTransposeTile >> group_bits << group_bits | in_group;
    const unsigned column = first_column + x;
    if (first_row + y >= rows.rows || column >= rows.length) continue;
    const std::int64_t group = column >> group_bits;
    values[((group * pitch + first_row + y) << group_bits) + in_group] = tile[y * kTilePitch + x];
  }
}

}  // namespace

template <class T>
Transposed<T> transpose(const Rows<T>& rows, unsigned group_bits, Workspace& workspace) {
  // A warp reads whole sectors; a matrix of few rows is not padded, which would multiply its size.
  const std::int64_t pitch = rows.rows < kWarp ? rows.rows : ceil_div(rows.rows, kWarp) * kWarp;
  const std::int64_t columns = ceil_div(rows.length, std::int64_t{1} << group_bits) << group_bits;
  T* const values = workspace.allocate<T>(static_cast<std::size_t>(columns * pitch));
  const std::int64_t tiles = ceil_div(rows.length, kTransposeTile) * ceil_div(rows.rows, kTransposeTile);
  launch("transpose", transpose_kernel<T>, {.blocks = tiles, .threads = kTransposeThreads}, workspace.stream(), rows,
         values, pitch, group_bits);
  return {values, pitch, group_bits};
}

template Transposed<float> transpose(const Rows<float>&, unsigned, Workspace&);
template Transposed<double> transpose(const Rows<double>&, unsigned, Workspace&);

}  // namespace kith::KITH_BACKEND::select
