// joint_orders.cu: ids tell queries from points, where Li et al. use a bit of the code: codes of 2, 4, 8 and 16
// dimensions fill their words and leave no bit free. Ids of queries come first, in the sort's input too, and the sort
// is stable, which puts queries before points of the same code as a low bit would.
#include "cuda/shifted_sort/papers/joint_orders.hpp"

#include "cuda/primitives/exclusive_count.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/shifted_sort/gather_point.cuh"

namespace kith::KITH_BACKEND::shifted_sort {
namespace {

constexpr unsigned kJointThreads = 256;

// Queries and points of one order.
struct JointEntries {
  const unsigned* ids;     // queries from 0 on, then points
  const unsigned* before;  // points before each entry
  std::int64_t count;
  unsigned queries;
};

template <class F, unsigned kWidth>
__global__ void __launch_bounds__(kJointThreads) split_kernel(JointEntries entries, PointRows<F> base, unsigned dims,
                                                              CurvePoint<F, kWidth>* points, unsigned* positions) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kJointThreads + threadIdx.x;
  if (i >= entries.count) return;
  const unsigned id = entries.ids[i];
  const unsigned before = entries.before[i];
  if (id < entries.queries)
    positions[id] = before;
  else
    points[before] = gather_point<F, kWidth>(base, dims, id - entries.queries);
}

}  // namespace

template <class F>
void sort_jointly(const CurveOrders<F>& orders, const PointRows<F>& base, const F* queries, std::int64_t count,
                  F* points, unsigned* positions, Workspace& workspace) {
  const int words = core::code_shape(orders.dims).words;
  const std::int64_t all = count + base.count;
  const auto size = static_cast<std::size_t>(all);
  const auto first = static_cast<unsigned>(count);
  const LaunchShape shape = {.blocks = ceil_div(all, kJointThreads), .threads = kJointThreads};
  // Scratch comes from the same budget; every shift reuses it.
  workspace.free_unused();
  Workspace scratch(workspace.stream(), workspace.budget() > 0 ? workspace.budget() - workspace.used() : 0);
  with_curve_width(orders.dims, [&](auto width) {
    constexpr unsigned kWidth = decltype(width)::value;
    const PointRows<F> query_rows{queries, count, kWidth};
    for (int shift = 0; shift < orders.shifts; ++shift) {
      scratch.reset();
      auto* codes = scratch.allocate<std::uint64_t>(size * static_cast<std::size_t>(words));
      auto* ids = scratch.allocate<unsigned>(size);
      auto* before = scratch.allocate<unsigned>(size);
      curve_codes(query_rows, orders.frame, orders.dims, shift, 0, codes, ids, scratch.stream());
      curve_codes(base, orders.frame, orders.dims, shift, first, codes + count * words, ids + count, scratch.stream());
      sort_codes(codes, ids, all, orders.dims, scratch);
      exclusive_count(ids, all, first, before, scratch);
      launch("split", split_kernel<F, kWidth>, shape, scratch.stream(), JointEntries{ids, before, all, first}, base,
             static_cast<unsigned>(orders.dims), reinterpret_cast<CurvePoint<F, kWidth>*>(points) + shift * base.count,
             positions + shift * count);
    }
  });
}

template void sort_jointly(const CurveOrders<float>&, const PointRows<float>&, const float*, std::int64_t, float*,
                           unsigned*, Workspace&);
template void sort_jointly(const CurveOrders<double>&, const PointRows<double>&, const double*, std::int64_t, double*,
                           unsigned*, Workspace&);

}  // namespace kith::KITH_BACKEND::shifted_sort
