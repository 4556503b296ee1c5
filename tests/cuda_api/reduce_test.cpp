// cuda::Index::reduce() gives the bits of kith::reduce() on the host.
#include "device_points.hpp"
#include "kith/cuda.hpp"

namespace kith::test {
namespace {

using CudaReduce = CudaApi;

constexpr std::int64_t kDims = 3;
constexpr std::int64_t kColumns = 2;
constexpr std::int64_t kStride = 5;  // of rows of values, and of queries
constexpr ReduceOp kOps[] = {ReduceOp::mean, ReduceOp::weighted_mean, ReduceOp::sum,     ReduceOp::min,
                             ReduceOp::max,  ReduceOp::kth_distance,  ReduceOp::density, ReduceOp::covariance};

template <class T>
void expect_same(const Options& options, ReduceOp op, std::int64_t points, std::int64_t queries, std::int64_t k) {
  SCOPED_TRACE(testing::Message() << to_string(options.method) << ", " << to_string(op) << ", k = " << k);
  const auto base = some_values<T>(points, kDims, 1);
  const auto asked = some_values<T>(queries, kStride, 2);
  const auto values = some_values<T>(points, kStride, 3);
  const Reduced<T> right =
      reduce(MatrixView<T>(base.data(), points, kDims), MatrixView<T>(asked.data(), queries, kDims, kStride, 1), k,
             MatrixView<T>(values.data(), points, kColumns, kStride, 1), op, host_options(options));

  const DeviceValues<T> device_base(base);
  const DeviceValues<T> device_queries(asked);
  const DeviceValues<T> device_values(values);
  const auto count = static_cast<std::size_t>(queries * right.values.cols());
  const DeviceValues<T> out{std::vector<T>(count)};
  const cuda::Index<T> index(device_base.data(), points, kDims, kDims, options);
  const SearchReport report = index.reduce(device_queries.data(), queries, kStride, k, op, device_values.data(),
                                           kColumns, kStride, out.data(), nullptr);
  EXPECT_EQ(report.plan.problem.queries, queries);
  EXPECT_EQ(out.values(), std::vector<T>(right.values.data(), right.values.data() + count));
}

TEST_F(CudaReduce, EveryOperation) {
  for (const Method method : {Method::two_stage, Method::fused, Method::triangle, Method::shifted_sort})
    for (const ReduceOp op : kOps) {
      expect_same<float>(method_options(method), op, 1000, 200, 33);
      expect_same<double>(method_options(method), op, 1000, 200, 5);
    }
}

// 2^22 neighbors are a batch.
TEST_F(CudaReduce, SeveralBatches) {
  for (const Method method : {Method::automatic, Method::shifted_sort})
    expect_same<float>(method_options(method), ReduceOp::mean, 1200, 5000, 1000);
}

TEST_F(CudaReduce, SeveralBatchesUnderABudget) {
  Options little = method_options(Method::two_stage);
  little.memory_budget = std::int64_t{16} << 20;
  expect_same<float>(little, ReduceOp::weighted_mean, 1200, 5000, 100);
}

TEST_F(CudaReduce, RefusesWhatDoesNotGoTogether) {
  const DeviceValues<float> points(some_values<float>(10, kDims, 4));
  const cuda::Index<float> index(points.data(), 10, kDims, kDims);
  const auto refused = [&](std::int64_t k, ReduceOp op, const float* values, std::int64_t stride, float* out) {
    EXPECT_THROW(index.reduce(points.data(), 10, kDims, k, op, values, kColumns, stride, out, nullptr), Error);
  };
  float* const out = points.data();
  refused(0, ReduceOp::mean, points.data(), kDims, out);
  refused(11, ReduceOp::mean, points.data(), kDims, out);
  refused(2, ReduceOp::mean, nullptr, kDims, out);
  refused(2, ReduceOp::mean, points.data(), 1, out);
  refused(2, ReduceOp::mean, points.data(), kDims, nullptr);
  Options cosine;
  cosine.metric = MetricKind::cosine;
  const cuda::Index<float> by_angle(points.data(), 10, kDims, kDims, cosine);
  EXPECT_THROW(by_angle.reduce(points.data(), 10, kDims, 2, ReduceOp::density, nullptr, 0, 0, out, nullptr), Error);
}

}  // namespace
}  // namespace kith::test
