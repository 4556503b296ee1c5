// Method triangle, form sweet-knn: the answer of a plain oracle, whatever the filter, the placement, the layout, the
// order and the number of threads.
#include "triangle/triangle_points.hpp"

namespace kith::test::triangle {
namespace {

using TriangleSweetKnn = DeviceTest;

const Metric kMetrics[] = {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::manhattan, MetricKind::chebyshev,
                           MetricKind::correlation, MetricKind::hamming,   MetricKind::canberra};
struct Sizes {
  std::int64_t rows, queries, dims;
};
constexpr Sizes kSizes[] = {{120, 13, 3}, {70, 6, 35}};
constexpr std::int64_t kCounts[] = {1, 8, 20, 60};
constexpr std::int64_t kLandmarks[] = {0, 1, 1 << 20};
constexpr TriangleFilter kFilters[] = {TriangleFilter::full, TriangleFilter::partial};
constexpr TrianglePlacement kPlacements[] = {TrianglePlacement::registers, TrianglePlacement::shared,
                                             TrianglePlacement::global};
constexpr TriangleLayout kLayouts[] = {TriangleLayout::interleaved, TriangleLayout::contiguous};
constexpr int kThreads[] = {1, 3, 40};
constexpr Cloud kSome[] = {Cloud::gaussian, Cloud::clustered, Cloud::ties, Cloud::duplicates, Cloud::huge};

template <class T>
void expect_exact(const std::vector<std::size_t>& row, unsigned seed) {
  const Sizes& sizes = kSizes[row[1]];
  Wanted wanted{kMetrics[row[0]], kCounts[row[2]], {}, 0, row[10] == 1};
  TriangleTuning& tuning = wanted.tuning;
  tuning.form = TriangleForm::sweet_knn;
  tuning.base_landmarks = kLandmarks[row[3]];
  tuning.filter = kFilters[row[4]];
  tuning.placement = kPlacements[row[5]];
  tuning.layout = kLayouts[row[6]];
  tuning.remapped = row[7] == 0;
  tuning.threads_per_query = kThreads[row[8]];
  SCOPED_TRACE(testing::Message() << "metric " << row[0] << ", " << sizes.rows << " × " << sizes.dims << ", k "
                                  << wanted.k << ", landmarks " << tuning.base_landmarks << ", "
                                  << to_string(tuning.filter) << ", " << to_string(tuning.placement) << ", "
                                  << to_string(tuning.layout) << ", remapped " << tuning.remapped << ", threads "
                                  << tuning.threads_per_query << ", kind " << row[9]
                                  << (sizeof(T) == 8 ? ", double" : ", float"));
  Searched<T> searched(cloud<T>(kSome[row[9]], sizes.rows, sizes.dims, seed), wanted.metric);
  searched.search(cloud<T>(kSome[row[9]], sizes.queries, sizes.dims, seed + 1), wanted);
}

TEST_F(TriangleSweetKnn, EveryPairOfParametersMatchesTheOracle) {
  for_each_pair({std::size(kMetrics), std::size(kSizes), std::size(kCounts), std::size(kLandmarks), std::size(kFilters),
                 std::size(kPlacements), std::size(kLayouts), 2, std::size(kThreads), std::size(kSome), 2},
                7, []<class T>(const auto& row, unsigned seed_of_row) { expect_exact<T>(row, seed_of_row); });
}

TEST_F(TriangleSweetKnn, ABaseSearchesItselfInPartsAndWhole) {
  for (const bool remapped : {true, false}) {
    for (const std::int64_t bytes : {0, 5000}) {
      Searched<float> searched(cloud<float>(Cloud::clustered, 150, 4, 3), MetricKind::euclidean);
      Wanted wanted{MetricKind::euclidean, 6, {}, bytes, true};
      wanted.tuning.form = TriangleForm::sweet_knn;
      wanted.tuning.remapped = remapped;
      const SearchReport report = searched.search_self(wanted);
      ASSERT_TRUE(report.triangle.has_value());
      EXPECT_GT(report.triangle->saved(), 0.5);
    }
  }
}

TEST_F(TriangleSweetKnn, NamesItsLimits) {
  const Searched<float> searched(cloud<float>(Cloud::gaussian, 900, 2, 1), MetricKind::euclidean);
  Wanted wanted{MetricKind::euclidean, 65, {}, 0, false};
  wanted.tuning.form = TriangleForm::sweet_knn;
  const auto expect_limit = [&](const std::string& words) {
    const auto search = [&] { searched.search(cloud<float>(Cloud::gaussian, 2, 2, 2), wanted); };
    EXPECT_EQ(refusal(ErrorCode::invalid_argument, search), "method triangle, form sweet-knn: " + words);
  };
  wanted.tuning.placement = TrianglePlacement::registers;
  expect_limit("k of neighbors in registers = 65 is outside the limits 1 to 64");
  wanted.tuning.placement = TrianglePlacement::shared;
  wanted.k = 700;
  const std::int64_t most = device::device_policy().hardware.shared_per_block;
  const std::string longest = std::to_string(std::min<std::int64_t>(most, 160 << 10) / 32 / 8);
  expect_limit("k of neighbors in shared memory = 700 is outside the limits 1 to " + longest);
  wanted.tuning.threads_per_query = 2000;
  expect_limit("threads_per_query = 2000 is outside the limits 0 to 1024");
}

}  // namespace
}  // namespace kith::test::triangle
