// Reductions in the warp that finds the neighbors equal those of the host over the lists, bit for bit.
#include <string>

#include "core/reduction.hpp"
#include "cuda/shifted_sort/shifted_sort_search.hpp"
#include "device_test.hpp"
#include "shifted_sort/curve_set.hpp"
#include "shifted_sort/host_neighbors.hpp"

namespace kith::test {
namespace {

using device::PointRows;
using device::Stream;
using device::Workspace;

using CurveSearchReduced = DeviceTest;

constexpr std::int64_t kColumns = 3;

// Computes lists and reductions of one set on the device.
template <class F>
void expect_same(const CurveSet<F>& base, const CurveSet<F>& queries, std::int64_t k, ReduceOp op) {
  const Stream stream;
  const std::vector<F> values = cloud<F>(Cloud::uniform, base.rows, kColumns, 77).values;
  DeviceArray<F> base_values(base.values, stream);
  DeviceArray<F> query_values(queries.values, stream);
  DeviceArray<F> device_values(values, stream);
  core::Reduction reduction{op, k, base.dims, kColumns, 4.0, false};
  const std::int64_t columns = core::reduced_columns(reduction);
  const auto values_of = [&](std::int64_t count) { return static_cast<std::size_t>(queries.rows * count); };
  DeviceArray<F> keys(std::vector<F>(values_of(k)), stream);
  DeviceArray<std::int64_t> ids(std::vector<std::int64_t>(values_of(k)), stream);
  DeviceArray<F> reduced(std::vector<F>(values_of(columns)), stream);
  Workspace workspace(stream);
  device::shifted_sort::ShiftedSortSets<F> sets;
  sets.base = {base_values.data(), base.rows, base.dims};
  sets.queries = {query_values.data(), queries.rows, queries.dims};
  const device::shifted_sort::CurveBase<F> orders(sets.base, base.dims, {5, 0.05, 0.75}, Curve::morton,
                                                  device::shifted_sort::Sorting::once, workspace);
  sets.orders = orders.orders();
  const device::shifted_sort::ShiftedSortWork work{MetricKind::euclidean, k, k, 4, false};
  device::shifted_sort::shifted_sort_search(work, sets, keys.data(), ids.data(), workspace, [](std::int64_t) {});
  device::shifted_sort::shifted_sort_search(
      work, sets,
      device::reduce::NeighborReduction<F>{reduction, {device_values.data(), base.rows, kColumns}, reduced.data()},
      workspace, [](std::int64_t) {});
  const auto found_keys = keys.values();
  const auto found_ids = ids.values();
  const auto found = reduced.values();
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const HostNeighbors<F> near{base, values, kColumns, found_ids.data() + q * k, found_keys.data() + q * k};
    core::reduce_neighbors<core::HostLanes>(reduction, near, [&](std::int64_t c, double value) {
      EXPECT_EQ(found[static_cast<std::size_t>(q * columns + c)], static_cast<F>(value)) << "query " << q;
    });
  }
}

TEST_F(CurveSearchReduced, EveryOperation) {
  const auto base = cloud<float>(Cloud::duplicates, 90, 3, 1);
  const auto queries = cloud<float>(Cloud::duplicates, 6, 3, 2);
  const auto elsewhere = cloud<float>(Cloud::uniform, 6, 3, 3);
  for (const ReduceOp op : {ReduceOp::mean, ReduceOp::weighted_mean, ReduceOp::sum, ReduceOp::min, ReduceOp::max,
                            ReduceOp::kth_distance, ReduceOp::density, ReduceOp::covariance}) {
    SCOPED_TRACE(testing::Message() << "operation " << static_cast<int>(op));
    expect_same(base, queries, 40, op);
    expect_same(base, elsewhere, 7, op);
  }
}

TEST_F(CurveSearchReduced, DoublesManyDimensionsAndAnyOrderOfThreads) {
  const auto base = cloud<double>(Cloud::far_away, 80, 9, 4);
  const auto queries = cloud<double>(Cloud::far_away, 5, 9, 5);
  for_each_schedule([&] {
    expect_same(base, queries, 33, ReduceOp::covariance);
    expect_same(base, queries, 33, ReduceOp::weighted_mean);
  });
}

}  // namespace
}  // namespace kith::test
