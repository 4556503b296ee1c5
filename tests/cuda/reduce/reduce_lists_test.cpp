// Reductions of points on the device equal those of the host over the lists of a search, bit for bit, for all methods,
// operations, strides and streams.
#include <limits>
#include <memory>

#include "core/reduction.hpp"
#include "device_index.hpp"
#include "kith/error.hpp"
#include "plan/device_plans.hpp"
#include "shifted_sort/curve_set.hpp"
#include "shifted_sort/host_neighbors.hpp"

namespace kith::test {
namespace {

using device::Stream;

using ReduceLists = DeviceTest;

constexpr std::int64_t kColumns = 3;
constexpr std::int64_t kValueStride = 5;
constexpr ReduceOp kOps[] = {ReduceOp::mean, ReduceOp::weighted_mean, ReduceOp::sum,     ReduceOp::min,
                             ReduceOp::max,  ReduceOp::kth_distance,  ReduceOp::density, ReduceOp::covariance};

template <class F>
Plan plan_for(Method method, const CurveSet<F>& base, const CurveSet<F>& queries, std::int64_t k) {
  Plan plan;
  plan.problem = {base.rows, queries.rows, base.dims, k, dtype_of<F>()};
  plan.metric = MetricKind::euclidean;
  plan.method = method;
  plan.distance = DistanceStage::direct;
  plan.passes = plan::fallback_chain(plan);
  plan.candidates = std::min(base.rows, k + 6);
  plan.query_block = 4;
  plan.base_tile = base.rows;
  plan.shifted_sort.shift = 0.05;
  plan.shifted_sort.window = k;
  plan.shifted_sort.curve = Curve::hilbert;
  plan.shifted_sort.merge = CurveMerge::warp;
  plan.shifted_sort.positions = CurvePositions::search;
  return plan;
}

// Rows of packed points with a gap after each.
template <class F>
std::vector<F> spread(const CurveSet<F>& set, std::int64_t stride) {
  std::vector<F> made(static_cast<std::size_t>(set.rows * stride), std::numeric_limits<F>::quiet_NaN());
  for (std::int64_t i = 0; i < set.rows; ++i) std::copy_n(set.row(i), set.dims, made.begin() + i * stride);
  return made;
}

template <class F>
class Reduced {
 public:
  Reduced(const CurveSet<F>& base, const CurveSet<F>& queries, std::int64_t gap)
      : base_(base),
        queries_(queries),
        values_(cloud<F>(Cloud::uniform, base.rows, kValueStride, 77).values),
        gap_(gap),
        device_base_(spread(base, base.dims + gap), stream_),
        device_queries_(spread(queries, queries.dims + gap), stream_),
        device_values_(values_, stream_),
        index_(view(base, device_base_.data()), MetricKind::euclidean, stream_) {}

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
    const MatrixView<F> queries = view(queries_, device_queries_.data());
    const auto values = MatrixView<F>::on_device(device_values_.data(), base_.rows, kColumns, kValueStride);
    index_.begin(queries, stream_)
        ->reduce(plan, what, core::has_values(op) ? values : MatrixView<F>(), {reduced.data(), Memory::device}, report);
    index_.begin(queries, stream_)->search(plan, {ids.data(), distances.data(), Memory::device}, report);
    const auto found_distances = distances.values();
    const auto found_ids = ids.values();
    const auto found = reduced.values();
    for (std::int64_t q = 0; q < queries_.rows; ++q) {
      const HostNeighbors<F> near{base_, values_, kValueStride, found_ids.data() + q * k,
                                  found_distances.data() + q * k};
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
  MatrixView<F> view(const CurveSet<F>& set, const F* data) const {
    return MatrixView<F>::on_device(data, set.rows, set.dims, set.dims + gap_);
  }

  CurveSet<F> base_;
  CurveSet<F> queries_;
  std::vector<F> values_;
  std::int64_t gap_;
  Stream stream_;
  DeviceArray<F> device_base_;
  DeviceArray<F> device_queries_;
  DeviceArray<F> device_values_;
  DeviceIndex<F> index_;
};

TEST_F(ReduceLists, EveryOperationByEveryMethod) {
  for (const std::int64_t gap : {0, 2}) {
    Reduced<float> reduced(cloud<float>(Cloud::duplicates, 90, 3, 1), cloud<float>(Cloud::duplicates, 9, 3, 2), gap);
    for (const Method method : {Method::two_stage, Method::shifted_sort})
      for (const std::int64_t k : {1, 40}) reduced.expect_same(method, k);
  }
}

TEST_F(ReduceLists, DoublesInAnyOrderOfThreads) {
  Reduced<double> reduced(cloud<double>(Cloud::far_away, 80, 5, 3), cloud<double>(Cloud::far_away, 6, 5, 4), 1);
  for_each_schedule([&] {
    reduced.expect_same(Method::two_stage, 33);
    reduced.expect_same(Method::shifted_sort, 33);
  });
}

TEST_F(ReduceLists, OtherPlansOfShiftedSorting) {
  const auto base = cloud<float>(Cloud::clustered, 100, 3, 5);
  const auto queries = cloud<float>(Cloud::clustered, 10, 3, 6);
  for (const bool global_merge : {false, true}) {
    Reduced<float> reduced(base, queries, 0);
    Plan plan = plan_for(Method::shifted_sort, base, queries, 8);
    plan.shifted_sort.positions = CurvePositions::sort;
    if (global_merge) plan.shifted_sort.merge = CurveMerge::global_memory;
    reduced.expect_same(plan, ReduceOp::weighted_mean);
  }
}

TEST_F(ReduceLists, RefusesQueriesThatAreNoNumbers) {
  auto queries = cloud<float>(Cloud::uniform, 4, 3, 8);
  queries.values[4] = std::numeric_limits<float>::infinity();
  Reduced<float> reduced(cloud<float>(Cloud::uniform, 30, 3, 7), queries, 0);
  EXPECT_THROW(reduced.expect_same(Method::two_stage, 2), Error);
  EXPECT_THROW(reduced.expect_same(Method::shifted_sort, 2), Error);
}

}  // namespace
}  // namespace kith::test
