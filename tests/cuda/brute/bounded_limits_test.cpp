// bounded_limits_test.cpp: a second pass with limits from any k points of the base finds the k nearest.
#include "cuda/brute/bounded_limits.hpp"

#include <limits>

#include "cuda/brute/rerank.hpp"
#include "cuda/points/point_store.hpp"
#include "cuda/tensor/tensor_rows.hpp"
#include "device_test.hpp"
#include "point_set.hpp"

namespace kith::test::bounded_limits {
namespace {

using BoundedLimits = DeviceTest;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kQueries = 5;
constexpr std::int64_t kPoints = 300;
constexpr std::int64_t kDims = 20;
constexpr std::int64_t kK = 7;

// How scores are computed.
enum class Stage { differences, products, fp16, split_fp16 };

device::PointStore<float> stored(const PointSet<float>& points, const Metric& metric, cudaStream_t stream) {
  device::PointStore<float> store(points.rows, points.dims, metric, true, stream);
  KITH_CUDA(cudaMemcpyAsync(store.rows(), points.values.data(), points.values.size() * sizeof(float),
                            cudaMemcpyHostToDevice, stream));
  store.prepare(points.rows);
  return store;
}

// Queries and base on the device, as the passes of a stage take them.
class Pass {
 public:
  Pass(Stage stage, const Metric& metric, const PointSet<float>& base, const PointSet<float>& queries)
      : stage_(stage),
        metric_(metric),
        squares_(core::form_of(metric) == core::Form::squared),
        base_(stored(base, metric, stream_)),
        queries_(stored(queries, metric, stream_)),
        base_fp16_(base_.working(0, kPoints), kDims, squares_, stream_),
        base_split_(base_fp16_.store, base_.working(0, kPoints), base_fp16_.frame, stream_),
        queries_fp16_(kQueries, kDims, false, stream_, nullptr, true) {
    queries_fp16_.prepare(queries_.working(0, kQueries), base_fp16_.frame);
  }

  cudaStream_t stream() { return stream_; }
  device::distance::KeyCall<float> keys() {
    return {queries_.exact(0, kQueries), base_.exact(0, kPoints), kDims, metric_, stream_};
  }

  // Limits from lists of kK sorted keys.
  std::vector<float> limits(const std::vector<float>& lists) {
    DeviceArray<float> keys(lists, stream_);
    DeviceArray<float> limits(std::vector<float>(kQueries, -1), stream_);
    const bool expanded = squares_ && stage_ != Stage::differences;
    const core::ScoreBounds<float> bounds(metric_, kDims, expanded, 0);
    if (stage_ == Stage::fp16 || stage_ == Stage::split_fp16) {
      const core::Fp16Bounds fp16(device::fp16_stride(kDims), expanded, stage_ == Stage::split_fp16);
      device::brute::bounded_limits(
          {bounds, fp16, keys.data(), kK, nullptr, queries_fp16_.rows(0, kQueries), base_fp16_.store.max_norms()},
          limits.data(), stream_);
    } else {
      const bool norms = stage_ == Stage::products;
      device::brute::bounded_limits(device::brute::Certificate<float>{bounds, keys.data(), kK, nullptr,
                                                                      norms ? queries_.square_norms(0) : nullptr,
                                                                      norms ? base_.max_squared_norm() : nullptr},
                                    kQueries, limits.data(), stream_);
    }
    return limits.values();
  }

  void filter(const device::distance::CandidateLists<float>& lists) {
    if (stage_ == Stage::split_fp16) {
      device::tensor::tensor_filter(
          {.product = device::tensor::fp16_product(queries_fp16_.rows(0, kQueries), base_split_.rows(0, kPoints),
                                                   base_split_.bias(0)),
           .lists = lists,
           .pairs = {},
           .stream = stream_});
      return;
    }
    if (stage_ == Stage::fp16) {
      device::distance::fp16_filter({queries_fp16_.rows(0, kQueries), base_fp16_.store.rows(0, kPoints),
                                     base_fp16_.store.bias(0), lists, stream_});
      return;
    }
    device::Workspace workspace(stream_);
    device::distance::fused_filter(device::distance::FilterCall<float>{
        queries_.working(0, kQueries), base_.working(0, kPoints), kDims, core::form_of(metric_), metric_.p,
        squares_ && stage_ == Stage::products ? base_.bias(0) : nullptr, lists, workspace});
  }

 private:
  Stage stage_;
  Metric metric_;
  bool squares_;
  device::Stream stream_;
  device::PointStore<float> base_;
  device::PointStore<float> queries_;
  device::Fp16Base base_fp16_;
  device::Fp16Store base_split_;
  device::Fp16Store queries_fp16_;
};

void check(Stage stage, const Metric& metric) {
  SCOPED_TRACE(testing::Message() << "stage " << static_cast<int>(stage) << ", metric "
                                  << static_cast<int>(metric.kind));
  const bool negated = metric.kind == MetricKind::inner_product;
  const PointSet<float> base = cloud<float>(Cloud::gaussian, kPoints, kDims, 1);
  const PointSet<float> queries = cloud<float>(Cloud::gaussian, kQueries, kDims, 2);
  std::vector<std::vector<Neighbor<float>>> right;
  std::vector<float> lists;
  for (std::int64_t q = 0; q < kQueries; ++q) {
    right.push_back(in_order(metric, base, queries, q));
    for (std::int64_t i = 0; i < kK; ++i) {  // every third of the nearest
      const float distance = right.back()[static_cast<std::size_t>(3 * i)].distance;
      lists.push_back(negated ? -distance : distance);
    }
  }

  Pass pass(stage, metric, base, queries);
  DeviceArray<float> limits(pass.limits(lists), pass.stream());
  DeviceArray<float> scores(std::vector<float>(kQueries * kPoints), pass.stream());
  DeviceArray<unsigned> ids(std::vector<unsigned>(kQueries * kPoints), pass.stream());
  DeviceArray<unsigned> counts(std::vector<unsigned>(kQueries), pass.stream());
  const device::distance::CandidateLists<float> candidates{
      limits.data(), static_cast<unsigned>(kPoints), scores.data(), ids.data(), 0, counts.data()};
  pass.filter(candidates);
  DeviceArray<float> keys(std::vector<float>(kQueries * kK), pass.stream());
  DeviceArray<unsigned> neighbors(std::vector<unsigned>(kQueries * kK), pass.stream());
  DeviceArray<float> left_out(std::vector<float>(kQueries, kInfinity), pass.stream());
  device::brute::rerank({.keys = pass.keys(),
                         .lists = candidates,
                         .width = kPoints,
                         .bounded = true,
                         .running = {keys.data(), neighbors.data(), kK, 0},
                         .first_id = 0,
                         .left_out = left_out.data()});
  const std::vector<float> found_keys = keys.values();
  const std::vector<unsigned> found = neighbors.values();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Neighbor<float>& wanted = right[i / kK][i % kK];
    ASSERT_EQ(found[i], wanted.id) << "query " << i / kK << ", rank " << i % kK;
    ASSERT_EQ(negated ? -found_keys[i] : found_keys[i], wanted.distance);
  }
  EXPECT_EQ(left_out.values(), std::vector<float>(kQueries, kInfinity));
  // The last of the list was the 19th point, and limits are close to it.
  for (const unsigned passed : counts.values()) EXPECT_TRUE(passed >= 19 && passed < 40) << passed << " passed";
}

TEST_F(BoundedLimits, ASecondPassFindsTheNeighbors) {
  for (const MetricKind metric : {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::manhattan})
    check(Stage::differences, metric);
  for (const MetricKind metric :
       {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::cosine, MetricKind::inner_product}) {
    check(Stage::products, metric);
    check(Stage::fp16, metric);
    if (device::tensor::has_tensor_filter(device::tensor::Element::fp16, kDims)) check(Stage::split_fp16, metric);
  }
}

// NaN would let nothing pass, and the query would seem to have no neighbors.
TEST_F(BoundedLimits, AreInfiniteWithoutAKthKey) {
  const PointSet<float> base = cloud<float>(Cloud::gaussian, kPoints, kDims, 1);
  PointSet<float> queries = cloud<float>(Cloud::gaussian, kQueries, kDims, 2);
  queries.at(2, 3) = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> lists(kQueries * kK, 1);
  lists[kK - 1] = kInfinity;
  lists[2 * kK - 1] = std::numeric_limits<float>::quiet_NaN();
  for (const Stage stage : {Stage::differences, Stage::products, Stage::fp16, Stage::split_fp16}) {
    SCOPED_TRACE(static_cast<int>(stage));
    const std::vector<float> limits = Pass(stage, MetricKind::sqeuclidean, base, queries).limits(lists);
    EXPECT_EQ(limits[0], kInfinity);
    EXPECT_EQ(limits[1], kInfinity);
    // Limits of differences do not depend on the query.
    EXPECT_EQ(limits[2] == kInfinity, stage != Stage::differences);
    EXPECT_LT(limits[3], kInfinity);
  }
}

}  // namespace
}  // namespace kith::test::bounded_limits
