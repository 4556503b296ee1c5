#include "cuda/graph/symmetrize.hpp"

#include <bit>
#include <string>

#include "cuda/primitives/exclusive_count.hpp"
#include "cuda/primitives/sort_pairs.hpp"
#include "cuda/runtime/launch.cuh"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::graph {
namespace {

// Directed edges, numbered as the lists have them, twice each, sorted by their keys.
struct Edges {
  std::uint64_t* keys;  // row << column_bits | column
  unsigned* numbers;
  unsigned* kept;    // 1 or 0
  unsigned* before;  // how many of those before are kept
  std::int64_t count;
  int column_bits;
};

__global__ void fill_indptr_kernel(std::int64_t points, std::int64_t k, std::int64_t* indptr) {
  const std::int64_t i = thread_index();
  if (i <= points) indptr[i] = i * k;
}

__global__ void list_edges_kernel(const std::int64_t* ids, std::int64_t k, Edges edges) {
  const std::int64_t i = thread_index();
  if (2 * i >= edges.count) return;
  const auto row = static_cast<std::uint64_t>(i / k);
  const auto column = static_cast<std::uint64_t>(ids[i]);
  edges.keys[2 * i] = row << edges.column_bits | column;
  edges.keys[2 * i + 1] = column << edges.column_bits | row;
  edges.numbers[2 * i] = edges.numbers[2 * i + 1] = static_cast<unsigned>(i);
}

// A key comes at most twice: as an edge, and as the reverse of one.
__global__ void flag_edges_kernel(Edges edges, bool mutual) {
  const std::int64_t i = thread_index();
  if (i >= edges.count) return;
  const bool second = i > 0 && edges.keys[i - 1] == edges.keys[i];
  edges.kept[i] = second == mutual ? 1U : 0U;
}

// A thread a row, and one for the end.
__global__ void find_rows_kernel(Edges edges, std::int64_t points, std::int64_t total, std::int64_t* indptr) {
  const std::int64_t row = thread_index();
  if (row > points) return;
  std::int64_t first = 0;
  for (std::int64_t last = edges.count; first < last;) {
    const std::int64_t middle = (first + last) / 2;
    if (static_cast<std::int64_t>(edges.keys[middle] >> edges.column_bits) < row) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  indptr[row] = first == edges.count ? total : edges.before[first];
}

template <class F>
__global__ void move_edges_kernel(Edges edges, const F* from, std::int64_t* ids, F* distances) {
  const std::int64_t i = thread_index();
  if (i >= edges.count || edges.kept[i] == 0) return;
  ids[edges.before[i]] = static_cast<std::int64_t>(edges.keys[i] & ((std::uint64_t{1} << edges.column_bits) - 1));
  distances[edges.before[i]] = from[edges.numbers[i]];
}

std::int64_t kept_edges(const Edges& edges, cudaStream_t stream) {
  unsigned last[2] = {0, 0};
  KITH_CUDA(cudaMemcpyAsync(&last[0], edges.kept + edges.count - 1, sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(
      cudaMemcpyAsync(&last[1], edges.before + edges.count - 1, sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return static_cast<std::int64_t>(last[0]) + last[1];
}

}  // namespace

void fill_indptr(std::int64_t points, std::int64_t k, std::int64_t* indptr, cudaStream_t stream) {
  launch("fill_indptr", fill_indptr_kernel, thread_each(points + 1), stream, points, k, indptr);
}

template <class F>
void symmetrize(const std::int64_t* ids, const F* distances, std::int64_t points, std::int64_t k, bool mutual,
                const GraphLists<F>& out, cudaStream_t stream) {
  constexpr std::int64_t kMostEdges = std::int64_t{1} << 31;
  if (points * k >= kMostEdges)
    throw Error(ErrorCode::invalid_argument,
                std::to_string(points * k) + " edges; a device symmetrizes fewer than " + std::to_string(kMostEdges));
  Workspace workspace(stream);
  const std::int64_t count = 2 * points * k;
  const auto size = as_size(count);
  const Edges edges{workspace.allocate<std::uint64_t>(size),
                    workspace.allocate<unsigned>(size),
                    workspace.allocate<unsigned>(size),
                    workspace.allocate<unsigned>(size),
                    count,
                    static_cast<int>(std::bit_width(static_cast<std::uint64_t>(points - 1)))};
  launch("list_edges", list_edges_kernel, thread_each(points * k), stream, ids, k, edges);
  sort_pairs(edges.keys, edges.numbers, count, 2 * edges.column_bits, workspace);
  launch("flag_edges", flag_edges_kernel, thread_each(count), stream, edges, mutual);
  exclusive_count(edges.kept, count, 1, edges.before, workspace);
  const std::int64_t total = kept_edges(edges, stream);
  const NeighborsView<F> to = out.allocate(total);
  launch("find_rows", find_rows_kernel, thread_each(points + 1), stream, edges, points, total, out.indptr);
  launch("move_edges", move_edges_kernel<F>, thread_each(count), stream, edges, distances, to.ids, to.distances);
}

template void symmetrize(const std::int64_t*, const float*, std::int64_t, std::int64_t, bool, const GraphLists<float>&,
                         cudaStream_t);
template void symmetrize(const std::int64_t*, const double*, std::int64_t, std::int64_t, bool,
                         const GraphLists<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::graph
