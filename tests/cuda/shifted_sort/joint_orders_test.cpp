// Queries and points sorted together give the orders and positions that sorting points alone and searching gives, bit
// for bit.
#include <cstring>

#include "core/curve.hpp"
#include "cuda/primitives/exclusive_count.hpp"
#include "cuda/shifted_sort/curve_point.cuh"
#include "cuda/shifted_sort/papers/joint_orders.hpp"
#include "cuda/shifted_sort/shifted_sort_search.hpp"
#include "device_test.hpp"
#include "point_set.hpp"

namespace kith::test {
namespace {

using device::PointRows;
using device::Stream;
using device::Workspace;
using device::shifted_sort::Sorting;

using JointOrders = DeviceTest;

constexpr core::CurveShifts kThreeShifts{3, 0.05, 0.75};
template <class F>
std::vector<F> on_host(const F* values, std::int64_t count, cudaStream_t stream) {
  std::vector<F> copied(static_cast<std::size_t>(count));
  KITH_CUDA(cudaMemcpyAsync(copied.data(), values, copied.size() * sizeof(F), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return copied;
}

template <class F>
void expect_same_places(const PointSet<F>& base, const PointSet<F>& queries, Curve curve) {
  const Stream stream;
  Workspace workspace(stream);
  DeviceArray<F> base_values(base.values, stream);
  const PointRows<F> rows{base_values.data(), base.rows, base.dims};
  const auto dims = static_cast<int>(base.dims);
  const device::shifted_sort::CurveBase<F> sorted(rows, dims, kThreeShifts, curve, Sorting::once, workspace);
  const device::shifted_sort::CurveBase<F> unsorted(rows, dims, kThreeShifts, curve, Sorting::with_queries, workspace);
  ASSERT_EQ(unsorted.orders().points, nullptr);

  // Queries as CurvePoints, unsorted.
  const std::int64_t width = device::shifted_sort::curve_width(dims);
  std::vector<F> points(static_cast<std::size_t>(queries.rows * width));
  for (std::int64_t q = 0; q < queries.rows; ++q) std::copy_n(queries.row(q), queries.dims, points.begin() + q * width);
  DeviceArray<F> query_points(points, stream);

  const auto position_count = static_cast<std::size_t>(queries.rows * kThreeShifts.count);
  DeviceArray<unsigned> searched(std::vector<unsigned>(position_count), stream);
  DeviceArray<unsigned> joint(std::vector<unsigned>(position_count), stream);
  const std::int64_t values = base.rows * width * kThreeShifts.count;
  DeviceArray<F> ordered(std::vector<F>(static_cast<std::size_t>(values)), stream);
  device::shifted_sort::find_positions(sorted.orders(), query_points.data(), queries.rows, searched.data(), stream);
  device::shifted_sort::sort_jointly(unsorted.orders(), rows, query_points.data(), queries.rows, ordered.data(),
                                     joint.data(), workspace);
  EXPECT_EQ(joint.values(), searched.values());
  // Compares bits: ids lie between the coordinates, and may be NaN as floats.
  const auto right = on_host(sorted.orders().points, values, stream);
  const auto found = ordered.values();
  EXPECT_EQ(std::memcmp(found.data(), right.data(), found.size() * sizeof(F)), 0);
}

template <class F>
void expect_same_places_of_clouds(int dims) {
  for (const Cloud kind : kCurveClouds) {
    SCOPED_TRACE(testing::Message() << dims << " dimensions, cloud " << static_cast<int>(kind));
    const auto base = cloud<F>(kind, 70, dims, 3);
    expect_same_places(base, cloud<F>(kind, 21, dims, 4), Curve::morton);
    expect_same_places(base, base, Curve::hilbert);
  }
}

// Codes of one word and of two, with and without a free bit.
TEST_F(JointOrders, EveryCloudAndDimension) {
  for (const int dims : {1, 2, 3, 4, 5, 8, 16}) {
    expect_same_places_of_clouds<float>(dims);
    expect_same_places_of_clouds<double>(dims);
  }
}

TEST_F(JointOrders, AnyOrderOfThreads) {
  for_each_schedule([] {
    expect_same_places_of_clouds<float>(3);
    expect_same_places_of_clouds<double>(9);
  });
}

TEST_F(JointOrders, QueriesOutsideOfTheBase) {
  const auto base = cloud<float>(Cloud::uniform, 40, 3, 5);
  expect_same_places(base, cloud<float>(Cloud::far_away, 5, 3, 6), Curve::morton);
  const auto one = cloud<float>(Cloud::uniform, 1, 3, 7);
  expect_same_places(one, base, Curve::morton);
  expect_same_places(base, one, Curve::morton);
}

TEST_F(JointOrders, CountsEntriesBefore) {
  const Stream stream;
  Workspace workspace(stream);
  const std::int64_t count = small_problems() ? 1000 : 300000;
  std::vector<unsigned> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<unsigned>(i * 7919 % 1000);
  DeviceArray<unsigned> device_ids(ids, stream);
  DeviceArray<unsigned> before(std::vector<unsigned>(ids.size()), stream);
  device::exclusive_count(device_ids.data(), count, 400, before.data(), workspace);
  const auto found = before.values();
  unsigned right = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(found[i], right) << i;
    if (ids[i] >= 400) ++right;
  }
}

}  // namespace
}  // namespace kith::test
