// Kernels over points in block layout against plain loops, on every instruction set.
#include "cpu/simd/lane_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "cpu/triangle/block_rows.hpp"
#include "simd_targets.hpp"

namespace kith::cpu {
namespace {

template <class F>
struct BlockedPoints {
  BlockedPoints(std::int64_t count, std::int64_t dims, unsigned seed)
      : rows(static_cast<std::size_t>(count * dims)),
        blocks(static_cast<std::size_t>(block_count<F>(count) * kBlockPoints<F> * dims)),
        count_(count),
        dims_(dims) {
    std::mt19937 random(seed);
    for (F& value : rows) value = static_cast<F>(random() % 16);
    for (std::int64_t i = 0; i < count; ++i) put_row(rows.data() + i * dims, dims, i, blocks.data());
  }

  LaneBlocks<F> view() const { return {blocks.data(), count_, dims_}; }
  // Small integers, so that sums are exact in any order.
  F squares(const F* x, std::int64_t point) const {
    F sum = 0;
    for (std::int64_t c = 0; c < dims_; ++c) {
      const F difference = x[c] - rows[static_cast<std::size_t>(point * dims_ + c)];
      sum += difference * difference;
    }
    return sum;
  }

  std::vector<F> rows;
  std::vector<F> blocks;

 private:
  std::int64_t count_;
  std::int64_t dims_;
};

template <class F>
void check_scores(std::int64_t count, std::int64_t dims) {
  const BlockedPoints<F> points(count, dims, 1);
  const BlockedPoints<F> queries(9, dims, 2);
  std::vector<F> scores(static_cast<std::size_t>(block_count<F>(count) * kBlockPoints<F>));
  std::vector<F> lengths(scores.size());
  std::vector<std::uint32_t> nearest(9);
  std::vector<F> least(9);
  nearest_points(core::Form::squared, 2, {queries.rows.data(), 9, dims}, points.view(), nearest.data(), least.data());
  for (std::int64_t q = 0; q < 9; ++q) {
    const F* x = queries.rows.data() + q * dims;
    block_scores(core::Form::squared, 2, x, points.view(), scores.data());
    const std::int64_t first = block_lengths(core::Form::squared, 2, x, points.view(), lengths.data());
    std::int64_t best = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(scores[static_cast<std::size_t>(i)], points.squares(x, i));
      ASSERT_EQ(lengths[static_cast<std::size_t>(i)], std::sqrt(points.squares(x, i)));
      if (points.squares(x, i) < points.squares(x, best)) best = i;
    }
    EXPECT_EQ(first, best);
    EXPECT_EQ(static_cast<std::int64_t>(nearest[static_cast<std::size_t>(q)]), best);
    EXPECT_EQ(least[static_cast<std::size_t>(q)], points.squares(x, best));
  }
}

TEST(LaneBlocks, ScoresAndTheNearest) {
  test::on_every_target([] {
    for (const std::int64_t count : {1, 7, 8, 15, 16, 17, 100})
      for (const std::int64_t dims : {1, 4, 13}) {
        check_scores<float>(count, dims);
        check_scores<double>(count, dims);
      }
  });
}

template <class F>
void check_scan(std::int64_t count, std::int64_t dims) {
  const BlockedPoints<F> points(count, dims, 3);
  const BlockedPoints<F> query(1, dims, 4);
  std::vector<F> lengths(static_cast<std::size_t>(count + kSlack));
  for (std::int64_t i = 0; i < count; ++i) lengths[static_cast<std::size_t>(i)] = static_cast<F>(20 - 20 * i / count);
  const std::vector<LengthInterval<F>> stretches = {
      {0, count / 3, 15, 18}, {count / 3, count / 3, 0, 100}, {count / 2, count, 3, 9}};
  const F limit = static_cast<F>(60 * dims);
  std::vector<F> expected_scores;
  std::vector<OffsetOf<F>> expected;
  std::int64_t scored = 0;
  for (const LengthInterval<F>& each : stretches)
    for (std::int64_t i = each.first; i < each.last; ++i) {
      const F length = lengths[static_cast<std::size_t>(i)];
      if (length < each.low || length > each.high) continue;
      ++scored;
      if (points.squares(query.rows.data(), i) > limit) continue;
      expected.push_back(static_cast<OffsetOf<F>>(i));
      expected_scores.push_back(points.squares(query.rows.data(), i));
    }
  std::vector<F> scores(static_cast<std::size_t>(count + kSlack));
  std::vector<OffsetOf<F>> kept(scores.size());
  const ScanResult result =
      scan_intervals(core::Form::squared, 2, query.rows.data(), points.view(), lengths.data(), stretches.data(),
                     static_cast<std::int64_t>(stretches.size()), limit, scores.data(), kept.data());
  EXPECT_EQ(result.scored, scored);
  ASSERT_EQ(result.kept, static_cast<std::int64_t>(expected.size()));
  scores.resize(expected.size());
  kept.resize(expected.size());
  EXPECT_EQ(scores, expected_scores);
  EXPECT_EQ(kept, expected);
}

TEST(LaneBlocks, StretchesAreScanned) {
  test::on_every_target([] {
    for (const std::int64_t count : {1, 5, 16, 31, 64, 203})
      for (const std::int64_t dims : {1, 5}) {
        check_scan<float>(count, dims);
        check_scan<double>(count, dims);
      }
  });
}

template <class F>
void check_bound_kth(std::int64_t count, std::int64_t k) {
  std::mt19937 random(static_cast<unsigned>(count + k));
  std::vector<F> values(static_cast<std::size_t>(count));
  for (F& value : values) value = static_cast<F>(random() % 1000) / 8;
  const F bound = bound_kth(values.data(), count, k);
  const auto at_most = [&](F limit) {
    return std::count_if(values.begin(), values.end(), [=](F value) { return value <= limit; });
  };
  EXPECT_GE(at_most(bound), k);
  if (at_most(bound) == k) return;
  std::nth_element(values.begin(), values.begin() + (k - 1), values.end());
  EXPECT_NEAR(static_cast<double>(bound), static_cast<double>(values[static_cast<std::size_t>(k - 1)]), 0.2);
}

TEST(LaneBlocks, TheKthIsBounded) {
  test::on_every_target([] {
    for (const std::int64_t count : {1, 15, 16, 33, 500})
      for (const std::int64_t k : {std::int64_t{1}, (count + 1) / 2, count}) {
        check_bound_kth<float>(count, k);
        check_bound_kth<double>(count, k);
      }
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> values = {3, infinity, std::numeric_limits<float>::quiet_NaN(), 1};
    EXPECT_EQ(bound_kth(values.data(), 4, 2), 3);
    EXPECT_EQ(bound_kth(values.data(), 4, 3), infinity);
    const std::vector<float> far = {infinity, infinity};
    EXPECT_EQ(bound_kth(far.data(), 2, 1), infinity);
  });
}

template <class F>
void check_within(std::int64_t count) {
  std::vector<F> lengths(static_cast<std::size_t>(count + kSlack));
  std::vector<F> radii(lengths.size());
  for (std::int64_t i = 0; i < count; ++i) {
    lengths[static_cast<std::size_t>(i)] = static_cast<F>((i * 5) % 17);
    radii[static_cast<std::size_t>(i)] = static_cast<F>(i % 3);
  }
  lengths[0] = std::numeric_limits<F>::quiet_NaN();
  std::vector<OffsetOf<F>> expected;
  for (std::int64_t i = 0; i < count; ++i)
    if (!(lengths[static_cast<std::size_t>(i)] - radii[static_cast<std::size_t>(i)] > 4))
      expected.push_back(static_cast<OffsetOf<F>>(i));
  std::vector<OffsetOf<F>> list(lengths.size());
  const std::int64_t listed = list_within(lengths.data(), radii.data(), count, F{4}, list.data());
  ASSERT_EQ(listed, static_cast<std::int64_t>(expected.size()));
  list.resize(expected.size());
  EXPECT_EQ(list, expected);
}

TEST(LaneBlocks, ClustersWithinReachAreListed) {
  test::on_every_target([] {
    for (const std::int64_t count : {1, 3, 16, 17, 100}) {
      check_within<float>(count);
      check_within<double>(count);
    }
  });
}

}  // namespace
}  // namespace kith::cpu
