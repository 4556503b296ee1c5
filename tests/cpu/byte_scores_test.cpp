// Scores of bytes are the integers that they stand for, on every instruction set and in both layouts.
#include "cpu/simd/byte_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "simd_targets.hpp"

namespace kith::test {
namespace {

struct Bytes {
  std::int64_t rows;
  std::int64_t dims;
  std::int64_t stride;
  bool is_signed;
  std::vector<std::uint8_t> values;

  cpu::ByteRows view() const { return {values.data(), rows, stride, is_signed}; }
  std::int64_t value(std::int64_t row, std::int64_t col) const {
    const std::uint8_t byte = values[static_cast<std::size_t>(row * stride + col)];
    return is_signed ? static_cast<std::int8_t>(byte) : byte;
  }
};

// The first rows are the ends of the range and its middle, all coordinates alike; the others are any bytes.
Bytes make_bytes(std::int64_t rows, std::int64_t dims, bool is_signed, unsigned seed) {
  constexpr std::uint8_t kEnds[] = {0, 255, 128, 127};
  Bytes bytes{rows, dims, dims + 3, is_signed, {}};
  std::mt19937 random(seed);
  // The last row ends where its memory ends.
  bytes.values.resize(static_cast<std::size_t>((rows - 1) * bytes.stride + dims));
  for (std::uint8_t& value : bytes.values) value = static_cast<std::uint8_t>(random());
  for (std::int64_t r = 0; r < std::min<std::int64_t>(rows, std::size(kEnds)); ++r)
    std::fill_n(bytes.values.begin() + r * bytes.stride, dims, kEnds[r]);
  return bytes;
}

std::int64_t true_score(const Bytes& queries, std::int64_t q, const Bytes& base, std::int64_t row, bool squared) {
  std::int64_t sum = 0;
  for (std::int64_t c = 0; c < base.dims; ++c) {
    const std::int64_t x = queries.value(q, c);
    const std::int64_t y = base.value(row, c);
    sum += squared ? (x - y) * (x - y) : -x * y;
  }
  return sum;
}

// Calls check(layout) for the layouts of this CPU.
template <class Check>
void in_every_layout(Check check) {
  check(cpu::ByteLayout::pairs);
  if (cpu::best_byte_layout() == cpu::ByteLayout::quads) check(cpu::ByteLayout::quads);
}

// What byte_scores() wrote, by query and row; no number where it wrote nothing.
std::vector<float> scores_below(const cpu::ByteForm& form, const Bytes& queries, const Bytes& base,
                                const std::vector<float>& limits) {
  const std::int64_t block = cpu::tiled_block_rows<float>();
  const std::int64_t blocks = (base.rows + block - 1) / block;
  const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  std::vector<std::uint32_t> lanes(size(queries.rows * form.groups()));
  std::vector<std::int32_t> query_bias(size(queries.rows));
  cpu::pack_byte_queries(form, queries.view(), lanes.data(), query_bias.data());
  std::vector<std::int32_t> floors;
  for (std::size_t q = 0; q < limits.size(); ++q)
    floors.push_back(cpu::byte_sum_floor(form.squared, limits[q], query_bias[q]));
  std::vector<std::uint32_t> panels(size(cpu::padded(base.rows) * form.groups()));
  std::vector<std::int32_t> row_bias(size(cpu::padded(base.rows)));
  cpu::pack_byte_panels(form, base.view(), panels.data(), row_bias.data());
  std::vector<float> written(size(queries.rows * blocks * block));
  std::vector<cpu::BlockHit> hits(size(queries.rows * blocks));
  hits.resize(size(cpu::byte_scores(form, {lanes.data(), query_bias.data(), floors.data(), queries.rows},
                                    {panels.data(), row_bias.data(), base.rows},
                                    {written.data(), hits.data(), limits.data()})));
  std::vector<float> scores(size(queries.rows * base.rows), std::numeric_limits<float>::quiet_NaN());
  std::vector<std::int64_t> next(size(queries.rows), 0);
  for (std::size_t i = 0; i < hits.size(); ++i) {
    EXPECT_GE(hits[i].block, next[hits[i].query]) << "blocks of a query ascend";
    next[hits[i].query] = hits[i].block + 1;
    const std::int64_t first = hits[i].block * block;
    std::copy_n(written.begin() + static_cast<std::int64_t>(i) * block, std::min(block, base.rows - first),
                scores.begin() + hits[i].query * base.rows + first);
  }
  return scores;
}

void expect_scores(std::int64_t query_rows, std::int64_t base_rows, std::int64_t dims, bool is_signed, bool squared) {
  const Bytes queries = make_bytes(query_rows, dims, is_signed, 1);
  const Bytes base = make_bytes(base_rows, dims, is_signed, 2);
  std::vector<float> want;
  for (std::int64_t q = 0; q < query_rows; ++q)
    for (std::int64_t r = 0; r < base_rows; ++r)
      want.push_back(static_cast<float>(true_score(queries, q, base, r, squared)));
  const std::vector<float> none(static_cast<std::size_t>(query_rows), std::numeric_limits<float>::infinity());
  in_every_layout([&](cpu::ByteLayout layout) {
    EXPECT_EQ(scores_below({layout, squared, dims}, queries, base, none), want)
        << "d=" << dims << (is_signed ? " int8" : " uint8") << (squared ? " squares" : " products")
        << (layout == cpu::ByteLayout::quads ? " in quads" : " in pairs");
  });
}

TEST(ByteScores, AreTheIntegersOfTheirRows) {
  on_every_target([] {
    for (const bool is_signed : {false, true})
      for (const bool squared : {false, true}) {
        for (const std::int64_t dims : {1, 2, 3, 4, 5, 15, 16, 17, 127, 128, 1000})
          expect_scores(7, 70, dims, is_signed, squared);
        for (const std::int64_t rows : {1, 15, 16, 17, 64, 129}) expect_scores(13, rows, 19, is_signed, squared);
        expect_scores(5, 6, core::kMostByteDims, is_signed, squared);
      }
  });
}

// A block is written exactly when one of its scores, rounded, is below the query's limit.
void expect_blocks_by_limit(std::int64_t dims, bool is_signed, bool squared) {
  constexpr std::int64_t kQueries = 13;
  constexpr std::int64_t kRows = 192;  // whole blocks: rows past the end have scores too, which may be hits
  const Bytes queries = make_bytes(kQueries, dims, is_signed, 3);
  const Bytes base = make_bytes(kRows, dims, is_signed, 4);
  const std::int64_t block = cpu::tiled_block_rows<float>();
  const std::vector<float> none(kQueries, std::numeric_limits<float>::infinity());
  in_every_layout([&](cpu::ByteLayout layout) {
    const cpu::ByteForm form{layout, squared, dims};
    const std::vector<float> all = scores_below(form, queries, base, none);
    std::vector<float> limits;
    for (std::int64_t q = 0; q < kQueries; ++q) {
      // The best of all scores and its neighbors among floats and integers, any score, and limits below and above all.
      const auto first = all.begin() + q * kRows;
      const float best = *std::min_element(first, first + kRows);
      const float infinity = std::numeric_limits<float>::infinity();
      const float choices[] = {best,
                               std::nextafter(best, infinity),
                               std::nextafter(best, -infinity),
                               best + 1,
                               *(first + kRows / 2),
                               *(first + kRows / 2) + 0.5F,
                               -infinity,
                               -std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::max(),
                               best + 1000};
      limits.push_back(choices[static_cast<std::size_t>(q) % std::size(choices)]);
    }
    const std::vector<float> some = scores_below(form, queries, base, limits);
    for (std::int64_t q = 0; q < kQueries; ++q)
      for (std::int64_t first = 0; first < kRows; first += block) {
        const auto at = q * kRows + first;
        const std::int64_t count = std::min(block, kRows - first);
        const float best = *std::min_element(all.begin() + at, all.begin() + at + count);
        const bool hit = best < limits[static_cast<std::size_t>(q)];
        ASSERT_EQ(!std::isnan(some[static_cast<std::size_t>(at)]), hit) << "query " << q << ", d=" << dims;
        if (hit) {
          ASSERT_TRUE(std::equal(all.begin() + at, all.begin() + at + count, some.begin() + at));
        }
      }
  });
}

TEST(ByteScores, BlocksAreWrittenWhenTheyHoldACandidate) {
  on_every_target([] {
    for (const bool is_signed : {false, true})
      for (const bool squared : {false, true})
        for (const std::int64_t dims : {3, 64, 300, 4000}) expect_blocks_by_limit(dims, is_signed, squared);
  });
}

}  // namespace
}  // namespace kith::test
