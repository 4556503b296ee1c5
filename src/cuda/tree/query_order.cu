#include "cuda/tree/query_order.hpp"

#include <bit>

#include "cuda/primitives/sort_pairs.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/tree/tree_query.cuh"
#include "cuda/tree/walk.cuh"

namespace kith::KITH_BACKEND::tree {
namespace {

__global__ void __launch_bounds__(kWalkThreads) number_queries_kernel(std::int64_t count, unsigned* order) {
  const std::int64_t i = thread_index();
  if (i < count) order[i] = static_cast<unsigned>(i);
}

template <class F, class Kind>
__global__ void __launch_bounds__(kWalkThreads)
    near_leaves_kernel(const __grid_constant__ TreeQueries<F> queries, std::uint64_t* leaves) {
  KITH_SHARED(F, frames, kWalkWarps * kFrame<Kind>);
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * kWalkWarps + warp_id();
  if (number >= queries.count) return;
  const TreeQuery<F, Kind> query(queries, static_cast<unsigned>(number), frames + warp_id() * kFrame<Kind>);
  const unsigned leaf =
      near_leaf(queries.tree.levels, [&](int level, unsigned group) { return query.open(level, group); });
  if (lane_id() == 0) leaves[number] = leaf;
}

}  // namespace

template <class F>
const unsigned* query_order(const TreeQueries<F>& queries, Workspace& workspace) {
  const std::int64_t count = queries.count;
  auto* const order = workspace.allocate<unsigned>(as_size(count));
  launch("number_queries", number_queries_kernel, thread_each(count), workspace.stream(), count, order);
  if (count < core::TreeLimits::kFewestOrdered) return order;
  auto* const leaves = workspace.allocate<std::uint64_t>(as_size(count));
  with_walk(queries, [&](auto kind) {
    launch("near_leaves", near_leaves_kernel<F, decltype(kind)>,
           {.blocks = ceil_div(count, kWalkWarps), .threads = kWalkThreads}, workspace.stream(), queries, leaves);
  });
  sort_pairs(leaves, order, count, static_cast<int>(std::bit_width(queries.tree.level[0].count)), workspace,
             SortedCodes::lost);
  return order;
}

template const unsigned* query_order(const TreeQueries<float>&, Workspace&);
template const unsigned* query_order(const TreeQueries<double>&, Workspace&);

}  // namespace kith::KITH_BACKEND::tree
