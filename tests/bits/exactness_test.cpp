// Searches of packed bits beside a plain one: shapes, layouts, ties, every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "bits/bit_problem.hpp"
#include "kith/search.hpp"

namespace kith::test {
namespace {

constexpr BitMetric kMetrics[] = {BitMetric::hamming, BitMetric::jaccard};

Options on_cpu(int threads = 1) {
  Options options;
  options.backend = Backend::cpu;
  options.threads = threads;
  return options;
}

TEST(BitSearch, IsThatOfThePlainSearchOnEveryTarget) {
  std::set<std::string> kernels;
  const int targets = on_every_bit_target([&] {
    for (const BitMetric metric : kMetrics)
      for (const std::int64_t bits :
           {1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 200, 512, 991, 992, 993, 1024, 1100}) {
        const PackedRows base = make_rows({.rows = 150, .bits = bits, .seed = 3});
        const PackedRows queries = make_rows({.rows = 9, .bits = bits, .seed = 4});
        const BitNeighbors found = search_bits(base.view(), queries.view(), 5, metric, on_cpu());
        ASSERT_TRUE(is_exact(found, metric, base, queries)) << bits;
        kernels.insert(found.report.plan.kernel);
      }
  });
  EXPECT_EQ(std::ssize(kernels), targets);  // each of them was in use
}

TEST(BitSearch, TakesAnyNumberOfBits) {
  for (const BitMetric metric : kMetrics)
    for (std::int64_t bits = 1; bits <= 300; ++bits) {
      const PackedRows base = make_rows({.rows = 40, .bits = bits, .seed = 5});
      const PackedRows queries = make_rows({.rows = 3, .bits = bits, .seed = 6});
      ASSERT_TRUE(is_exact(search_bits(base.view(), queries.view(), 40, metric, on_cpu()), metric, base, queries));
    }
}

// Blocks, tiles and panels end in the middle of what there is.
TEST(BitSearch, TakesAnyNumberOfRowsAndQueries) {
  on_every_bit_target([] {
    for (const BitMetric metric : kMetrics)
      for (const std::int64_t rows : {1, 2, 3, 15, 16, 17, 63, 64, 65, 129, 1000})
        for (const std::int64_t count : {1, 2, 3, 4, 5, 7, 70}) {
          const PackedRows base = make_rows({.rows = rows, .bits = 77, .seed = 7});
          const PackedRows queries = make_rows({.rows = count, .bits = 77, .seed = 8});
          const std::int64_t k = std::min<std::int64_t>(rows, 3);
          ASSERT_TRUE(is_exact(search_bits(base.view(), queries.view(), k, metric, on_cpu()), metric, base, queries));
        }
  });
}

TEST(BitSearch, FindsAllRowsInTheirOrder) {
  for (const BitMetric metric : kMetrics) {
    const PackedRows base = make_rows({.rows = 700, .bits = 40, .seed = 9});
    const PackedRows queries = make_rows({.rows = 20, .bits = 40, .seed = 10});
    for (const std::int64_t k : {1, 2, 16, 17, 100, 350, 699, 700})
      ASSERT_TRUE(is_exact(search_bits(base.view(), queries.view(), k, metric, on_cpu()), metric, base, queries));
  }
}

// A handful of distinct rows, so that nearly all distances are ties.
TEST(BitSearch, EqualDistancesGoToTheSmallerId) {
  for (const BitMetric metric : kMetrics)
    for (const std::int64_t distinct : {1, 2, 7}) {
      const PackedRows base = make_rows({.rows = 30000, .bits = 12, .distinct = distinct, .seed = 11});
      const PackedRows queries = make_rows({.rows = 6, .bits = 12, .seed = 12});
      for (const std::int64_t k : {1, 10, 3000})
        for (const int threads : {1, 3})
          ASSERT_TRUE(
              is_exact(search_bits(base.view(), queries.view(), k, metric, on_cpu(threads)), metric, base, queries));
    }
}

TEST(BitSearch, RowsMayLieAnywhere) {
  for (const BitMetric metric : kMetrics)
    for (const std::int64_t offset : {0, 1, 3, 5})
      for (const std::int64_t extra : {0, 1, 2, 13}) {
        const PackedRows base =
            make_rows({.rows = 130, .bits = 333, .extra_stride = extra, .offset = offset, .seed = 13});
        const PackedRows queries =
            make_rows({.rows = 5, .bits = 333, .extra_stride = 2 * extra, .offset = offset + 1, .seed = 14});
        ASSERT_TRUE(is_exact(search_bits(base.view(), queries.view(), 7, metric, on_cpu()), metric, base, queries));
      }
}

// A stride of 0 makes one row of all, a short one rows that overlap.
TEST(BitSearch, RowsMayOverlap) {
  const std::vector<std::uint8_t> bytes = {0xF0, 0x0F, 0x3C, 0xFF, 0x00};
  const BitsView windows(bytes.data(), 4, 16, 1);
  const std::vector<std::uint8_t> query = {0x3C, 0xFF};
  const BitNeighbors found = search_bits(windows, {query.data(), 1, 16}, 4, BitMetric::hamming, on_cpu());
  EXPECT_EQ(found.ids, (std::vector<std::int64_t>{2, 0, 1, 3}));
  EXPECT_EQ(found.distances, (std::vector<float>{0, 8.0F / 16, 8.0F / 16, 12.0F / 16}));
  const BitNeighbors same = search_bits({bytes.data(), 3, 8, 0}, {bytes.data(), 1, 8}, 3, BitMetric::jaccard, on_cpu());
  EXPECT_EQ(same.ids, (std::vector<std::int64_t>{0, 1, 2}));
}

// Empty rows and full ones are where the share of common bits is 0 / 0, 0 and 1.
TEST(BitSearch, EmptyAndFullRowsHaveTheirDistances) {
  on_every_bit_target([] {
    for (const double density : {0.0, 0.01, 0.99, 1.0})
      for (const double of_queries : {0.0, 0.02, 1.0})
        for (const BitMetric metric : kMetrics) {
          const PackedRows base = make_rows({.rows = 200, .bits = 100, .density = density, .seed = 15});
          const PackedRows queries = make_rows({.rows = 6, .bits = 100, .density = of_queries, .seed = 16});
          ASSERT_TRUE(is_exact(search_bits(base.view(), queries.view(), 9, metric, on_cpu()), metric, base, queries));
        }
  });
}

// Sizes at which the base is in parts and queries in blocks, with limits that parts share.
TEST(BitSearch, PartsAndBlocksChangeNothing) {
  const PackedRows base = make_rows({.rows = 60000, .bits = 64, .distinct = 20000, .seed = 17});
  const PackedRows queries = make_rows({.rows = 30, .bits = 64, .seed = 18});
  for (const BitMetric metric : kMetrics) {
    const BitNeighbors one = search_bits(base.view(), queries.view(), 12, metric, on_cpu(1));
    ASSERT_TRUE(is_exact(one, metric, base, queries));
    EXPECT_EQ(one.report.plan.base_splits, 1);
    const BitNeighbors many = search_bits(base.view(), queries.view(), 12, metric, on_cpu(4));
    EXPECT_GT(many.report.plan.base_splits, 4);
    EXPECT_EQ(many.ids, one.ids);
    EXPECT_EQ(many.distances, one.distances);
    Options small = on_cpu(4);
    small.memory_budget = 300000;
    const BitNeighbors tight = search_bits(base.view(), queries.view(), 12, metric, small);
    EXPECT_LE(tight.report.plan.workspace_bytes, small.memory_budget);
    EXPECT_LT(tight.report.plan.query_block * tight.report.plan.threads, 30 * 4);
    EXPECT_EQ(tight.ids, one.ids);
    EXPECT_EQ(tight.distances, one.distances);
  }
}

// Rows that are longer than caches, and sums of bytes that are carried over many times.
TEST(BitSearch, TakesLongRows) {
  on_every_bit_target([] {
    for (const BitMetric metric : kMetrics) {
      const PackedRows base = make_rows({.rows = 40, .bits = 20011, .density = 0.9, .seed = 19});
      const PackedRows queries = make_rows({.rows = 5, .bits = 20011, .density = 0.2, .seed = 20});
      ASSERT_TRUE(is_exact(search_bits(base.view(), queries.view(), 6, metric, on_cpu()), metric, base, queries));
    }
  });
}

// The promise of docs/metrics.md: the bits of metric hamming on rows of zeros and ones, ids included.
TEST(BitSearch, HammingIsThatOfUnpackedRows) {
  for (const std::int64_t bits : {1, 10, 100, 256, 777}) {
    const PackedRows base = make_rows({.rows = 3000, .bits = bits, .seed = 21});
    const PackedRows queries = make_rows({.rows = 40, .bits = bits, .seed = 22});
    const std::vector<std::uint8_t> base_bytes = unpacked(base);
    const std::vector<std::uint8_t> query_bytes = unpacked(queries);
    Options options = on_cpu(2);
    options.metric = MetricKind::hamming;
    const auto want = search(MatrixView<std::uint8_t>(base_bytes.data(), 3000, bits),
                             MatrixView<std::uint8_t>(query_bytes.data(), 40, bits), 25, options);
    const BitNeighbors found = search_bits(base.view(), queries.view(), 25, BitMetric::hamming, on_cpu(2));
    EXPECT_EQ(found.ids, want.ids);
    EXPECT_EQ(found.distances, want.distances);
  }
}

TEST(BitSearch, SelfLeavesARowOutByItsId) {
  for (const BitMetric metric : kMetrics) {
    const PackedRows base = make_rows({.rows = 500, .bits = 30, .distinct = 100, .seed = 23});
    const BitIndex index(base.view(), metric, on_cpu());
    ASSERT_TRUE(is_exact(index.search_self(499), metric, base, base, true));
    ASSERT_TRUE(is_exact(index.search_self(4), metric, base, base, true));
  }
}

TEST(BitSearch, LeavesOutWhatIsTooFar) {
  for (const BitMetric metric : kMetrics)
    for (const float largest : {0.0F, 0.3F, 0.5F, 1.0F}) {
      const PackedRows base = make_rows({.rows = 900, .bits = 24, .seed = 24});
      Options options = on_cpu(2);
      options.max_distance = static_cast<double>(largest);
      ASSERT_TRUE(
          is_exact(BitIndex(base.view(), metric, options).search(base.view(), 50), metric, base, base, false, largest));
    }
}

TEST(BitSearch, PadsWhatIsMissing) {
  const PackedRows base = make_rows({.rows = 10, .bits = 24, .seed = 25});
  Options options = on_cpu();
  options.pad_missing = true;
  const BitIndex index(base.view(), BitMetric::hamming, options);
  EXPECT_TRUE(is_exact(index.search(base.view(), 25), BitMetric::hamming, base, base));
  EXPECT_TRUE(is_exact(index.search_self(25), BitMetric::hamming, base, base, true));
}

TEST(BitSearch, RadiusFindsAllWithin) {
  on_every_bit_target([] {
    for (const BitMetric metric : kMetrics) {
      const PackedRows base = make_rows({.rows = 1200, .bits = 50, .distinct = 600, .seed = 26});
      const PackedRows queries = make_rows({.rows = 21, .bits = 50, .seed = 27});
      const BitIndex index(base.view(), metric, on_cpu(2));
      for (const float radius : {0.0F, 0.3F, 0.42F, 0.5F, 1.0F, std::numeric_limits<float>::infinity()})
        ASSERT_TRUE(
            is_exact(index.search_radius(queries.view(), std::vector{radius}), metric, base, queries, {radius}));
      std::vector<float> radii;
      for (int i = 0; i < 21; ++i) radii.push_back(0.05F * static_cast<float>(i));
      ASSERT_TRUE(is_exact(index.search_radius(queries.view(), radii), metric, base, queries, radii));
      ASSERT_TRUE(
          is_exact(index.search_radius(queries.view(), radii, RadiusOutput::count_only), metric, base, queries, radii));
      ASSERT_TRUE(is_exact(index.search_radius_self(std::vector{0.3F}), metric, base, base, {0.3F}, true));
    }
  });
}

// A radius that is a distance takes it in, the float below it does not.
TEST(BitSearch, RadiusIncludesItself) {
  for (const BitMetric metric : kMetrics) {
    const PackedRows base = make_rows({.rows = 300, .bits = 90, .seed = 28});
    const PackedRows query = make_rows({.rows = 1, .bits = 90, .seed = 29});
    const BitIndex index(base.view(), metric, on_cpu());
    for (std::int64_t row = 0; row < 300; row += 7) {
      const float at = true_distance(metric, base, row, query, 0);
      const float below = std::nextafter(at, -1.0F);
      ASSERT_TRUE(is_exact(index.search_radius(query.view(), std::vector{at}), metric, base, query, {at}));
      ASSERT_TRUE(is_exact(index.search_radius(query.view(), std::vector{below}), metric, base, query, {below}));
    }
  }
}

TEST(BitIndexOwning, KeepsItsBytes) {
  const PackedRows base = make_rows({.rows = 80, .bits = 61, .seed = 30});
  BitIndex index(base.bytes, 61, BitMetric::jaccard, on_cpu());
  EXPECT_EQ(index.rows(), 80);
  EXPECT_EQ(index.bits(), 61);
  EXPECT_EQ(index.metric(), BitMetric::jaccard);
  BitIndex moved(std::move(index));
  EXPECT_TRUE(is_exact(moved.search(base.view(), 6), BitMetric::jaccard, base, base));
}

}  // namespace
}  // namespace kith::test
