// exact_keys_test.cpp: the keys of all pairs, in blocks of as many warps as fit the chip.
#include "cuda/distance/exact_keys.hpp"

#include "cuda/points/point_store.hpp"
#include "device_test.hpp"
#include "point_set.hpp"
#include "support/oracle.hpp"

namespace kith::test {
namespace {

using ExactKeys = DeviceTest;

template <class F>
class StoredPoints {
 public:
  StoredPoints(const PointSet<F>& points, const Metric& metric, cudaStream_t stream)
      : values_(points.values, stream),
        store_({values_.data(), points.rows, points.stride}, points.dims, metric, false, stream) {
    store_.prepare(points.rows);
  }
  device::ExactSet<F> exact() const { return store_.exact(0, store_.count()); }

 private:
  DeviceArray<F> values_;
  device::PointStore<F> store_;
};

// More points than a block takes, and than the warps of the last one; coordinates beyond a stage.
template <class F>
void check(std::int64_t rows, std::int64_t dims, const Metric& metric) {
  constexpr std::int64_t kQueries = 3;
  const PointSet<F> base = cloud<F>(Cloud::gaussian, rows, dims, 1);
  const PointSet<F> queries = cloud<F>(Cloud::gaussian, kQueries, dims, 2);
  for_each_schedule([&] {
    const device::Stream stream;
    const StoredPoints<F> stored_queries(queries, metric, stream);
    const StoredPoints<F> stored_base(base, metric, stream);
    const std::int64_t stride = rows + 5;
    DeviceArray<F> keys(std::vector<F>(static_cast<std::size_t>(kQueries * stride), F{-1}), stream);
    device::distance::all_keys<F>({stored_queries.exact(), stored_base.exact(), dims, metric, stream}, keys.data(),
                                  stride);
    const std::vector<F> found = keys.values();
    for (std::int64_t q = 0; q < kQueries; ++q)
      for (std::int64_t i = 0; i < stride; ++i) {
        const F wanted = i < rows ? static_cast<F>(key_distance(queries.row(q), base.row(i), dims, metric)) : F{-1};
        ASSERT_EQ(found[static_cast<std::size_t>(q * stride + i)], wanted) << "query " << q << ", point " << i;
      }
  });
}

TEST_F(ExactKeys, OfAllPairsInFloat) {
  check<float>(1, 1, MetricKind::euclidean);
  check<float>(300, 130, MetricKind::manhattan);
}

TEST_F(ExactKeys, OfAllPairsInDouble) {
  check<double>(1, 1, MetricKind::euclidean);
  check<double>(70, 5, MetricKind::cosine);
  check<double>(300, 130, MetricKind::sqeuclidean);
}

}  // namespace
}  // namespace kith::test
