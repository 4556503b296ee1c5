// Index::reduce_into() of more device points than a batch holds gives the bits of kith::reduce() on the host.
#include "device_points.hpp"

namespace kith::test {
namespace {

using CudaReduce = CudaApi;

constexpr std::int64_t kDims = 3;
constexpr std::int64_t kColumns = 2;
constexpr std::int64_t kStride = 5;  // of rows of values, and of queries

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
  const Index<T> index(device_base.view(points, kDims), options);
  const SearchReport report =
      index.reduce_into(device_queries.view(queries, kDims, kStride), k, device_values.view(points, kColumns, kStride),
                        op, {out.data(), Memory::device});
  EXPECT_EQ(report.plan.problem.queries, queries);
  EXPECT_EQ(out.values(), std::vector<T>(right.values.data(), right.values.data() + count));
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

}  // namespace
}  // namespace kith::test
