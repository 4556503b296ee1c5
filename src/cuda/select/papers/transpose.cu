// transpose.cu: tiles of 32 × 32 values through shared memory; a group is at most 32 columns.
// Cost: one read and one write of the matrix. Workspace: one value a value.
#include "cuda/select/papers/transpose.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::select {

namespace {

constexpr unsigned kTile = kWarp;
constexpr unsigned kThreads = 256;
constexpr unsigned kTilePitch = kTile + 1;  // the lanes of a warp that read down a column meet different banks

template <class T>
__global__ void transpose_kernel(Rows<T> rows, T* values, std::int64_t pitch, unsigned group_bits) {
  KITH_SHARED(T, tile, kTile * kTilePitch);
  const unsigned tiles = (rows.length + kTile - 1) / kTile;
  const std::int64_t first_row = std::int64_t{blockIdx.x / tiles} * kTile;
  const unsigned first_column = blockIdx.x % tiles * kTile;

  for (unsigned y = warp_id(); y < kTile; y += kThreads / kWarp) {
    const unsigned column = first_column + lane_id();
    if (first_row + y < rows.rows && column < rows.length)
      tile[y * kTilePitch + lane_id()] = rows.row(first_row + y)[column];
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kTile * kTile; i += kThreads) {
    const unsigned in_group = i & ((1U << group_bits) - 1);
    const unsigned y = (i >> group_bits) % kTile;
    const unsigned x = i / kTile >> group_bits << group_bits | in_group;
    const unsigned column = first_column + x;
    if (first_row + y >= rows.rows || column >= rows.length) continue;
    const std::int64_t group = column >> group_bits;
    values[((group * pitch + first_row + y) << group_bits) + in_group] = tile[y * kTilePitch + x];
  }
}

}  // namespace

template <class T>
Transposed<T> transpose(const Rows<T>& rows, unsigned group_bits, Workspace& workspace) {
  // Whole sectors a warp, unless that would multiply a matrix of few rows.
  const std::int64_t pitch = rows.rows < kWarp ? rows.rows : ceil_div(rows.rows, kWarp) * kWarp;
  const std::int64_t columns = ceil_div(rows.length, std::int64_t{1} << group_bits) << group_bits;
  T* const values = workspace.allocate<T>(static_cast<std::size_t>(columns * pitch));
  const std::int64_t tiles = ceil_div(rows.length, kTile) * ceil_div(rows.rows, kTile);
  launch("transpose", transpose_kernel<T>, {.blocks = tiles, .threads = kThreads}, workspace.stream(), rows, values,
         pitch, group_bits);
  return {values, pitch, group_bits};
}

template Transposed<float> transpose(const Rows<float>&, unsigned, Workspace&);
template Transposed<double> transpose(const Rows<double>&, unsigned, Workspace&);

}  // namespace kith::KITH_BACKEND::select
