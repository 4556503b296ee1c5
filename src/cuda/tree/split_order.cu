#include "cuda/tree/split_order.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/labeled_key.cuh"
#include "cuda/primitives/sort_pairs.hpp"
#include "cuda/primitives/warp_reduce.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/tree/tree_view.hpp"

namespace kith::KITH_BACKEND::tree {
namespace {

constexpr unsigned kSplitThreads = 256;
constexpr unsigned kSplitItems = 8;
constexpr unsigned kSplitPoints = kSplitThreads * kSplitItems;  // of a node that a block splits
constexpr unsigned kSplitNodes = kSplitPoints / (2 * kLeafPoints);
constexpr unsigned kAxisSample = 1024;  // points of a node

// The widest of a node's axes, one after the other.
template <class F>
struct WidestAxis {
  double width = -1;
  unsigned axis = 0;

  __device__ void consider(OrderOf<F> least, OrderOf<F> greatest, unsigned c) {
    if (least > greatest) return;
    const double found =
        static_cast<double>(value_of<F>(greatest, false)) - static_cast<double>(value_of<F>(least, false));
    if (!(found > width)) return;
    width = found;
    axis = c;
  }
};

__global__ void __launch_bounds__(kSplitThreads) number_kernel(std::int64_t count, unsigned* ids) {
  const std::int64_t i = thread_index();
  if (i < count) ids[i] = static_cast<unsigned>(i);
}

// The widest axis of each node of node_points points, a block each.
template <class F>
__global__ void __launch_bounds__(kSplitThreads)
    widest_axes_kernel(PointRows<F> rows, unsigned dims, const unsigned* ids, std::int64_t node_points,
                       unsigned* axes) {
  KITH_SHARED(OrderOf<F>, sides, 2);
  const std::int64_t first = blockIdx.x * node_points;
  const std::int64_t count = min(node_points, rows.count - first);
  const std::int64_t sampled = min(count, static_cast<std::int64_t>(kAxisSample));
  WidestAxis<F> widest;
  for (unsigned c = 0; c < dims; ++c) {
    if (threadIdx.x < 2) sides[threadIdx.x] = threadIdx.x == 0 ? ~OrderOf<F>{0} : OrderOf<F>{0};
    __syncthreads();
    OrderOf<F> least = ~OrderOf<F>{0};
    OrderOf<F> greatest = 0;
    for (std::int64_t i = threadIdx.x; i < sampled; i += kSplitThreads) {
      const OrderOf<F> order = ordered_bits(rows.data[ids[first + i * count / sampled] * rows.stride + c], false);
      least = min(least, order);
      greatest = max(greatest, order);
    }
    least = warp_min(least);
    greatest = ~warp_min(~greatest);
    if (lane_id() == 0) {
      atomicMin(&sides[0], least);
      atomicMax(&sides[1], greatest);
    }
    __syncthreads();
    widest.consider(sides[0], sides[1], c);
    __syncthreads();
  }
  if (threadIdx.x == 0) axes[blockIdx.x] = widest.axis;
}

// A sort key has the node above the coordinate.
__device__ __forceinline__ void put_key(unsigned node, unsigned order, std::uint64_t& key) {
  key = static_cast<std::uint64_t>(node) << 32U | order;
}
__device__ __forceinline__ void put_key(unsigned node, unsigned long long order, core::Code128& key) {
  key = {node, order};
}

template <class F>
using SortKey = std::conditional_t<sizeof(F) == 4, std::uint64_t, core::Code128>;

template <class F>
__global__ void __launch_bounds__(kSplitThreads)
    node_keys_kernel(PointRows<F> rows, const unsigned* ids, unsigned node_bits, const unsigned* axes,
                     SortKey<F>* keys) {
  const std::int64_t i = thread_index();
  if (i >= rows.count) return;
  const auto node = static_cast<unsigned>(i >> node_bits);
  put_key(node, ordered_bits(rows.data[ids[i] * rows.stride + axes[node]], false), keys[i]);
}

// A key of the sort in a block: the node, the coordinate, and the position so far, whose 11 bits end a float's key.
constexpr unsigned kPositionBits = 11;
static_assert(kSplitPoints == 1U << kPositionBits);

template <class F>
using BlockKey = std::conditional_t<sizeof(F) == 4, PackedKey, LabeledKey<unsigned long long>>;

__device__ __forceinline__ PackedKey block_key(unsigned node, unsigned order, unsigned position) {
  return (static_cast<PackedKey>(node) << 32U | order) << kPositionBits | position;
}
__device__ __forceinline__ LabeledKey<unsigned long long> block_key(unsigned node, unsigned long long order,
                                                                    unsigned position) {
  return {order, position, node};
}
__device__ __forceinline__ unsigned position_of(PackedKey key) {
  return static_cast<unsigned>(key) % kSplitPoints;
}
__device__ __forceinline__ unsigned position_of(const LabeledKey<unsigned long long>& key) {
  return key.id;
}

// Splits the points of a block, from nodes of kSplitPoints down to leaves.
template <class F>
__global__ void __launch_bounds__(kSplitThreads) split_block_kernel(PointRows<F> rows, unsigned dims, unsigned* ids) {
  using Key = BlockKey<F>;
  KITH_SHARED(Key, exchanged, kSplitPoints);
  KITH_SHARED(unsigned, own_ids, kSplitPoints);
  KITH_SHARED(OrderOf<F>, sides, 2 * kSplitNodes);
  KITH_SHARED(unsigned, axes, kSplitNodes);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSplitPoints;
  const auto count = static_cast<unsigned>(min(static_cast<std::int64_t>(kSplitPoints), rows.count - first));
  for (unsigned i = threadIdx.x; i < kSplitPoints; i += kSplitThreads) own_ids[i] = i < count ? ids[first + i] : 0;
  __syncthreads();
  const auto order_at = [&](unsigned i, unsigned c) {
    return ordered_bits(rows.data[own_ids[i] * rows.stride + c], false);
  };
  for (unsigned node_points = kSplitPoints; node_points > kLeafPoints; node_points /= 2) {
    const unsigned nodes = kSplitPoints / node_points;
    WidestAxis<F> widest;  // of node threadIdx.x
    for (unsigned c = 0; c < dims; ++c) {
      if (threadIdx.x < 2 * nodes) sides[threadIdx.x] = threadIdx.x % 2 == 0 ? ~OrderOf<F>{0} : OrderOf<F>{0};
      __syncthreads();
      for (unsigned at = 0; at < kSplitPoints; at += kSplitThreads) {
        // A warp has points of one node.
        const unsigned i = at + threadIdx.x;
        OrderOf<F> least = ~OrderOf<F>{0};
        OrderOf<F> greatest = 0;
        if (i < count) least = greatest = order_at(i, c);
        least = warp_min(least);
        greatest = ~warp_min(~greatest);
        if (lane_id() != 0 || i >= count) continue;
        atomicMin(&sides[i / node_points * 2], least);
        atomicMax(&sides[i / node_points * 2 + 1], greatest);
      }
      __syncthreads();
      if (threadIdx.x < nodes) widest.consider(sides[2 * threadIdx.x], sides[2 * threadIdx.x + 1], c);
      __syncthreads();
    }
    if (threadIdx.x < nodes) axes[threadIdx.x] = widest.axis;
    __syncthreads();
    Key keys[kSplitItems];
    KITH_UNROLL
    for (unsigned k = 0; k < kSplitItems; ++k) {
      const unsigned i = k * kSplitThreads + threadIdx.x;
      const unsigned node = i / node_points;
      keys[k] = i < count ? block_key(node, order_at(i, axes[node]), i) : last_key<Key>();
    }
    Bitonic<Key, kSplitThreads, kSplitItems>::sort(keys, exchanged);
    unsigned moved[kSplitItems];
    KITH_UNROLL
    for (unsigned k = 0; k < kSplitItems; ++k) {
      const unsigned i = threadIdx.x * kSplitItems + k;
      moved[k] = own_ids[i < count ? position_of(keys[k]) : i];
    }
    __syncthreads();
    KITH_UNROLL
    for (unsigned k = 0; k < kSplitItems; ++k) own_ids[threadIdx.x * kSplitItems + k] = moved[k];
    __syncthreads();
  }
  for (unsigned i = threadIdx.x; i < count; i += kSplitThreads) ids[first + i] = own_ids[i];
}

}  // namespace

template <class F>
void split_order(const PointRows<F>& rows, unsigned dims, unsigned* ids, Workspace& workspace) {
  cudaStream_t stream = workspace.stream();
  launch("number", number_kernel, thread_each(rows.count), stream, rows.count, ids);
  constexpr auto kBlockBits = static_cast<unsigned>(std::bit_width(kSplitPoints)) - 1;
  const auto top_bits = static_cast<unsigned>(std::bit_width(as_size(rows.count - 1)));
  for (unsigned bits = top_bits; bits > kBlockBits; --bits) {
    workspace.reset();
    const std::int64_t nodes = ceil_div(rows.count, std::int64_t{1} << bits);
    auto* const axes = workspace.allocate<unsigned>(as_size(nodes));
    auto* const keys = workspace.allocate<SortKey<F>>(as_size(rows.count));
    launch("widest_axes", widest_axes_kernel<F>, {.blocks = nodes, .threads = kSplitThreads}, stream, rows, dims, ids,
           std::int64_t{1} << bits, axes);
    launch("node_keys", node_keys_kernel<F>, thread_each(rows.count), stream, rows, ids, bits, axes, keys);
    const auto node_bits = static_cast<int>(std::bit_width(as_size(nodes - 1)));
    sort_pairs(keys, ids, rows.count, static_cast<int>(8 * sizeof(F)) + node_bits, workspace, SortedCodes::lost);
  }
  if (rows.count > kLeafPoints)
    launch("split_block", split_block_kernel<F>,
           {.blocks = ceil_div(rows.count, kSplitPoints), .threads = kSplitThreads}, stream, rows, dims, ids);
}

template void split_order(const PointRows<float>&, unsigned, unsigned*, Workspace&);
template void split_order(const PointRows<double>&, unsigned, unsigned*, Workspace&);

}  // namespace kith::KITH_BACKEND::tree
