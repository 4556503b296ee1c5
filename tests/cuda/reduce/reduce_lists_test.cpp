// Reductions of points on the device equal those of the host over the lists of a search, bit for bit, for all methods,
// operations, strides and streams.
#include <limits>

#include "core/reduction.hpp"
#include "device_index.hpp"
#include "kith/error.hpp"
#include "point_set.hpp"

namespace kith::test {
namespace {

using ReduceLists = DeviceTest;

constexpr std::int64_t kColumns = 3;
constexpr ReduceOp kOps[] = {ReduceOp::mean, ReduceOp::weighted_mean, ReduceOp::sum,     ReduceOp::min,
                             ReduceOp::max,  ReduceOp::kth_distance,  ReduceOp::density, ReduceOp::covariance};

template <class F>
Plan plan_for(Method method, const PointSet<F>& base, const PointSet<F>& queries, std::int64_t k) {
  const Problem problem{base.rows, queries.rows, base.dims, k, dtype_of<F>()};
  Plan plan = brute_plan(problem, MetricKind::euclidean, {DistanceStage::direct});
  plan.method = method;
  plan.query_block = 4;
  plan.shifted_sort.shift = 0.05;
  plan.shifted_sort.window = k;
  plan.shifted_sort.curve = Curve::hilbert;
  plan.shifted_sort.merge = CurveMerge::warp;
  plan.shifted_sort.positions = CurvePositions::search;
  return plan;
}

// A query's neighbors on the host, as core::reduce_neighbors() takes them.
template <class F>
struct HostNeighbors {
  const PointSet<F>& base;
  const PointSet<F>& values;
  const std::int64_t* ids;
  const F* distances;

  double distance(std::int64_t r) const { return static_cast<double>(distances[r]); }
  double value(std::int64_t r, std::int64_t c) const { return static_cast<double>(values.at(ids[r], c)); }
  double coordinate(std::int64_t r, std::int64_t c) const { return static_cast<double>(base.at(ids[r], c)); }
};

template <class F>
class Reduced {
 public:
  Reduced(const PointSet<F>& base, const PointSet<F>& queries)
      : base_(base),
        queries_(queries),
        values_(cloud<F>(Cloud::uniform, base.rows, kColumns, 77, {0, 2})),
        device_base_(base.values, stream_),
        device_queries_(queries.values, stream_),
        device_values_(values_.values, stream_),
        index_(base.on_device(device_base_.data()), MetricKind::euclidean, stream_) {}

  Reduced(const Reduced&) = delete;
  Reduced& operator=(const Reduced&) = delete;
  // Where queries were refused, the index may still be in use on the stream.
  ~Reduced() { cudaStreamSynchronize(stream_); }

  void expect_same(const Plan& plan, ReduceOp op) {
    const std::int64_t k = plan.problem.k;
    const core::Reduction what{op, k, base_.dims, kColumns, 4.0, false};
    const std::int64_t columns = core::reduced_columns(what);
    const auto values_of = [&](std::int64_t count) { return static_cast<std::size_t>(queries_.rows * count); };
    DeviceArray<F> distances(std::vector<F>(values_of(k)), stream_);
    DeviceArray<std::int64_t> ids(std::vector<std::int64_t>(values_of(k)), stream_);
    DeviceArray<F> reduced(std::vector<F>(values_of(columns)), stream_);
    SearchReport report;
    const MatrixView<F> queries = queries_.on_device(device_queries_.data());
    const MatrixView<F> values = values_.on_device(device_values_.data());
    index_.begin(queries, stream_)
        ->reduce(plan, what, core::has_values(op) ? values : MatrixView<F>(), {reduced.data(), Memory::device}, report);
    index_.begin(queries, stream_)->search(plan, {ids.data(), distances.data(), Memory::device}, report);
    const auto found_distances = distances.values();
    const auto found_ids = ids.values();
    const auto found = reduced.values();
    for (std::int64_t q = 0; q < queries_.rows; ++q) {
      const HostNeighbors<F> near{base_, values_, found_ids.data() + q * k, found_distances.data() + q * k};
      core::reduce_neighbors<core::HostLanes>(what, near, [&](std::int64_t c, double value) {
        EXPECT_EQ(found[static_cast<std::size_t>(q * columns + c)], static_cast<F>(value))
            << "operation " << static_cast<int>(op) << ", query " << q << ", column " << c;
      });
    }
  }

  void expect_same(Method method, std::int64_t k) {
    SCOPED_TRACE(testing::Message() << "method " << static_cast<int>(method) << ", k = " << k);
    for (const ReduceOp op : kOps) expect_same(plan_for(method, base_, queries_, k), op);
  }

 private:
  PointSet<F> base_;
  PointSet<F> queries_;
  PointSet<F> values_;
  device::Stream stream_;
  DeviceArray<F> device_base_;
  DeviceArray<F> device_queries_;
  DeviceArray<F> device_values_;
  DeviceIndex<F> index_;
};

TEST_F(ReduceLists, EveryOperationByEveryMethod) {
  for (const std::int64_t gap : {0, 2}) {
    const auto base = cloud<float>(Cloud::duplicates, 90, 3, 1, {0, gap});
    for (const Cloud kind : {Cloud::duplicates, Cloud::uniform}) {
      Reduced<float> reduced(base, cloud<float>(kind, 9, 3, 2, {0, gap}));
      for (const Method method : {Method::two_stage, Method::shifted_sort})
        for (const std::int64_t k : {1, 7, 40}) reduced.expect_same(method, k);
    }
  }
}

// Codes of two words, too.
TEST_F(ReduceLists, DoublesInAnyOrderOfThreads) {
  for (const std::int64_t dims : {5, 9}) {
    Reduced<double> reduced(cloud<double>(Cloud::far_away, 80, dims, 3, {0, 1}),
                            cloud<double>(Cloud::far_away, 6, dims, 4, {0, 1}));
    for_each_schedule([&] {
      reduced.expect_same(Method::two_stage, 33);
      reduced.expect_same(Method::shifted_sort, 33);
    });
  }
}

TEST_F(ReduceLists, OtherPlansOfShiftedSorting) {
  const auto base = cloud<float>(Cloud::clustered, 100, 3, 5);
  const auto queries = cloud<float>(Cloud::clustered, 10, 3, 6);
  for (const bool global_merge : {false, true}) {
    Reduced<float> reduced(base, queries);
    Plan plan = plan_for(Method::shifted_sort, base, queries, 8);
    plan.shifted_sort.positions = CurvePositions::sort;
    if (global_merge) plan.shifted_sort.merge = CurveMerge::global_memory;
    reduced.expect_same(plan, ReduceOp::weighted_mean);
  }
}

TEST_F(ReduceLists, RefusesQueriesThatAreNoNumbers) {
  auto queries = cloud<float>(Cloud::uniform, 4, 3, 8);
  queries.values[4] = std::numeric_limits<float>::infinity();
  Reduced<float> reduced(cloud<float>(Cloud::uniform, 30, 3, 7), queries);
  EXPECT_THROW(reduced.expect_same(Method::two_stage, 2), Error);
  EXPECT_THROW(reduced.expect_same(Method::shifted_sort, 2), Error);
}

}  // namespace
}  // namespace kith::test
