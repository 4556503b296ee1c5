// Packed bits on the devices that are here, emulated ones included: the answers of the plain search, in one tile or
// many.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bits/bit_problem.hpp"
#include "support/fails_with.hpp"
#include "support/on_backend.hpp"

namespace kith::test {
namespace {

constexpr BitMetric kDeviceMetrics[] = {BitMetric::hamming, BitMetric::jaccard};

class BitsOnDevice : public OnBackend {};

TEST_P(BitsOnDevice, SearchesAreThoseOfThePlainSearch) {
  for (const BitMetric metric : kDeviceMetrics)
    for (const std::int64_t bits : {1, 9, 64, 65, 500, 2100}) {
      const PackedRows base = make_rows({.rows = 300, .bits = bits, .extra_stride = 3, .offset = 1, .seed = 51});
      const PackedRows queries = make_rows({.rows = 11, .bits = bits, .density = 0.4, .seed = 52});
      const BitIndex index(base.view(), metric, options());
      for (const std::int64_t k : {1, 10, 300}) {
        const BitNeighbors found = index.search(queries.view(), k);
        ASSERT_TRUE(is_exact(found, metric, base, queries)) << bits;
        EXPECT_EQ(found.report.plan.backend, GetParam());
      }
    }
}

// A budget that holds a part of the base at a time, and of the queries; nearly all distances are ties.
TEST_P(BitsOnDevice, TilesAreMerged) {
  const PackedRows base = make_rows({.rows = 5000, .bits = 20, .distinct = 40, .seed = 53});
  const PackedRows queries = make_rows({.rows = 30, .bits = 20, .seed = 54});
  for (const BitMetric metric : kDeviceMetrics) {
    Options small = options();
    small.memory_budget = 2200000;
    const BitNeighbors found = BitIndex(base.view(), metric, small).search(queries.view(), 700);
    EXPECT_GT(found.report.plan.base_splits, 1);
    ASSERT_TRUE(is_exact(found, metric, base, queries));
  }
}

TEST_P(BitsOnDevice, SelfAndLimitsLeaveOut) {
  const PackedRows base = make_rows({.rows = 200, .bits = 30, .distinct = 50, .seed = 55});
  for (const BitMetric metric : kDeviceMetrics) {
    Options limited = options();
    limited.max_distance = static_cast<double>(0.3F);
    limited.pad_missing = true;
    EXPECT_TRUE(is_exact(BitIndex(base.view(), metric, options()).search_self(199), metric, base, base, true));
    EXPECT_TRUE(is_exact(BitIndex(base.view(), metric, limited).search_self(210), metric, base, base, true, 0.3F));
  }
}

TEST_P(BitsOnDevice, RadiusFindsAllWithin) {
  const PackedRows base = make_rows({.rows = 400, .bits = 40, .distinct = 200, .seed = 56});
  const PackedRows queries = make_rows({.rows = 13, .bits = 40, .seed = 57});
  for (const BitMetric metric : kDeviceMetrics) {
    const BitIndex index(base.view(), metric, options());
    for (const float radius : {0.0F, 0.4F, 0.5F, 1.0F}) {
      const std::vector<float> radii{radius};
      ASSERT_TRUE(is_exact(index.search_radius(queries.view(), radii), metric, base, queries, radii));
      ASSERT_TRUE(is_exact(index.search_radius_self(radii), metric, base, base, radii, true));
      ASSERT_TRUE(
          is_exact(index.search_radius(queries.view(), radii, RadiusOutput::count_only), metric, base, queries, radii));
    }
  }
}

TEST_P(BitsOnDevice, ABudgetMustHoldTheBase) {
  const PackedRows base = make_rows({.rows = 1000, .bits = 640, .seed = 58});
  Options small = options();
  small.memory_budget = 70000;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"70000 bytes", "1000 rows of 640 bits", "at least"},
                         [&] { BitIndex(base.view(), BitMetric::hamming, small); }));
}

TEST_P(BitsOnDevice, ProgressStopsASearch) {
  const PackedRows base = make_rows({.rows = 300, .bits = 40, .seed = 59});
  Options stopping = options();
  std::int64_t done = 0;
  stopping.progress = [&](const Progress& progress) {
    done = progress.done;
    EXPECT_EQ(progress.total, 300 * 300);
    return false;
  };
  const BitIndex index(base.view(), BitMetric::hamming, stopping);
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled"}, [&] { index.search(base.view(), 2); }));
  EXPECT_GT(done, 0);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BitsOnDevice);
INSTANTIATE_TEST_SUITE_P(Devices, BitsOnDevice, testing::ValuesIn(device_backends()),
                         [](const auto& each) { return std::string(to_string(each.param)); });

}  // namespace
}  // namespace kith::test
