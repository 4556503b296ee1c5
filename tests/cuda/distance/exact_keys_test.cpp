// exact_keys_test.cpp: the keys of all pairs, in blocks of as many warps as fit the chip, and of listed pairs, in
// double and by pairs of floats.
#include "cuda/distance/exact_keys.hpp"

#include <cmath>

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

// Bits of the keys of listed pairs, however they are computed.
void check_listed(Cloud kind, std::int64_t dims, const Metric& metric) {
  constexpr std::int64_t kRows = 60;
  constexpr std::int64_t kQueries = 4;
  constexpr std::int64_t kListed = 17;
  const PointSet<float> base = cloud<float>(kind, kRows, dims, 1);
  const PointSet<float> queries = cloud<float>(kind, kQueries, dims, 1);  // equal to the first of the base
  std::vector<unsigned> ids;
  for (std::int64_t i = 0; i < kQueries * kListed; ++i) ids.push_back(static_cast<unsigned>(i * 7 % kRows));
  const device::Stream stream;
  const StoredPoints<float> stored_queries(queries, metric, stream);
  const StoredPoints<float> stored_base(base, metric, stream);
  const DeviceArray<unsigned> listed(ids, stream);
  using device::distance::KeyArithmetic;
  for (const KeyArithmetic arithmetic :
       {KeyArithmetic::of_device, KeyArithmetic::doubles, KeyArithmetic::float_pairs}) {
    SCOPED_TRACE(testing::Message() << "cloud " << static_cast<int>(kind) << ", " << dims << " dimensions, metric "
                                    << static_cast<int>(metric.kind) << ", arithmetic "
                                    << static_cast<int>(arithmetic));
    DeviceArray<float> keys(std::vector<float>(ids.size(), -1), stream);
    device::distance::candidate_keys<float>(
        {stored_queries.exact(), stored_base.exact(), dims, metric, stream, arithmetic}, listed.data(), kListed,
        keys.data());
    const std::vector<float> found = keys.values();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto wanted = static_cast<float>(
          key_distance(queries.row(static_cast<std::int64_t>(i) / kListed), base.row(ids[i]), dims, metric));
      if (metric.kind == MetricKind::inner_product) wanted = -wanted;
      ASSERT_TRUE(found[i] == wanted || (std::isnan(found[i]) && std::isnan(wanted)))
          << "pair " << i << ": " << found[i] << " instead of " << wanted;
    }
  }
}

TEST_F(ExactKeys, OfListedPairs) {
  const Metric metrics[] = {MetricKind::euclidean, MetricKind::sqeuclidean,   MetricKind::manhattan,
                            MetricKind::cosine,    MetricKind::inner_product, MetricKind::correlation,
                            MetricKind::chebyshev};
  std::uint64_t turn = 0;
  for (const Cloud kind : {Cloud::gaussian, Cloud::ties, Cloud::duplicates, Cloud::tight, Cloud::far_away, Cloud::huge,
                           Cloud::tiny, Cloud::clustered})
    for (const Metric& metric : metrics)
      for (const std::int64_t dims : {2, 3, 17, 128}) {
        set_schedule(turn++ % kSchedules);
        check_listed(kind, dims, metric);
        if (testing::Test::HasFatalFailure()) return;
      }
  check_listed(Cloud::gaussian, 2100, MetricKind::euclidean);  // where doubles alone tell
}

}  // namespace
}  // namespace kith::test
