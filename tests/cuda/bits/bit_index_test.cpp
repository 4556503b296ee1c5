// The index of packed bits on a device beside a plain search: shapes, tiles that are merged, radii, under several
// schedules.
#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/bits.hpp"
#include "core/bit_key.hpp"
#include "device_test.hpp"
#include "kith/error.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using DeviceBits = DeviceTest;
using RankedRows = std::vector<std::pair<float, std::int64_t>>;

constexpr BitMetric kBitMetrics[] = {BitMetric::hamming, BitMetric::jaccard};

// Rows of `stride` bytes from the second byte on; they repeat after `distinct` of them.
struct TestBits {
  std::int64_t rows;
  std::int64_t bits;
  std::int64_t stride;
  std::vector<std::uint8_t> bytes;

  BitsView view() const { return {bytes.data() + 1, rows, bits, stride}; }
};

TestBits make_bits(std::int64_t rows, std::int64_t bits, std::int64_t distinct, std::uint64_t seed) {
  TestBits made{rows, bits, bit_bytes(bits) + 3, {}};
  made.bytes.resize(static_cast<std::size_t>(1 + rows * made.stride), 0xAB);
  for (std::int64_t row = 0; row < rows; ++row) {
    Random random(seed * 7919 + static_cast<std::uint64_t>(row % distinct));
    std::uint8_t* const to = made.bytes.data() + 1 + row * made.stride;
    for (std::int64_t at = 0; at < bit_bytes(bits); ++at) to[at] = static_cast<std::uint8_t>(random.bits());
    if (bits % 8 != 0) to[bits / 8] = static_cast<std::uint8_t>(to[bits / 8] & ~(0xFF >> bits % 8));
  }
  return made;
}

float bit_distance(BitMetric metric, const std::uint8_t* x, const std::uint8_t* y, std::int64_t bits) {
  int differing = 0;
  int both = 0;
  int either = 0;
  for (std::int64_t at = 0; at < bit_bytes(bits); ++at) {
    differing += std::popcount(static_cast<unsigned>(x[at] ^ y[at]));
    both += std::popcount(static_cast<unsigned>(x[at] & y[at]));
    either += std::popcount(static_cast<unsigned>(x[at] | y[at]));
  }
  if (metric == BitMetric::hamming)
    return static_cast<float>(static_cast<double>(differing) / static_cast<double>(bits));
  return either == 0 ? 0 : static_cast<float>(1 - static_cast<double>(both) / static_cast<double>(either));
}

// All rows by (distance, id).
RankedRows ranked_rows(BitMetric metric, const TestBits& base, const TestBits& queries, std::int64_t query, bool self) {
  RankedRows all;
  for (std::int64_t row = 0; row < base.rows; ++row)
    if (!self || row != query)
      all.emplace_back(bit_distance(metric, base.view().row(row), queries.view().row(query), base.bits), row);
  std::sort(all.begin(), all.end());
  return all;
}

// An index with what it refers to.
class SearchedBits {
 public:
  SearchedBits(const TestBits& base, BitMetric metric, std::int64_t budget = 0) : base_(base), metric_(metric) {
    options_.memory_budget = budget;
    options_.progress = [this](const Progress& progress) {
      EXPECT_GE(progress.done, done_);
      done_ = progress.done;
      return !stops_;
    };
    machine_ = core::DeviceFacts{.free_memory = std::int64_t{1} << 30, .name = "a device"};
    index_ = device::make_bit_index({base.view(), metric, options_, machine_});
  }

  // Of the base itself where queries are those.
  void expect_nearest(const TestBits& queries, std::int64_t k) {
    const bool self = &queries == &base_;
    const BitPlan plan = index_->plan(queries.rows, k, self);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(queries.rows * k));
    std::vector<float> distances(ids.size());
    done_ = 0;
    index_->search(plan, {queries.view(), options_.progress}, {ids.data(), distances.data()});
    EXPECT_EQ(done_, queries.rows * base_.rows);
    for (std::int64_t query = 0; query < queries.rows; ++query) {
      RankedRows want = ranked_rows(metric_, base_, queries, query, self);
      want.resize(static_cast<std::size_t>(k), {std::numeric_limits<float>::infinity(), -1});
      for (std::int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(query * k + i);
        ASSERT_EQ(std::pair(distances[at], ids[at]), want[static_cast<std::size_t>(i)])
            << to_string(metric_) << " of " << base_.bits << " bits, query " << query << ", place " << i;
      }
    }
  }

  void expect_within(const TestBits& queries, float radius) {
    const bool self = &queries == &base_;
    core::RadiusQuery<float> radii;
    radii.keys = {radius};
    radii.max_hits = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(queries.rows) + 1);
    std::vector<std::int64_t> ids;
    std::vector<float> distances;
    const auto allocate = [&](std::int64_t count) {
      ids.resize(static_cast<std::size_t>(count));
      distances.resize(ids.size());
      return NeighborsView<float>{ids.data(), distances.data()};
    };
    done_ = 0;
    index_->search_radius(index_->plan(queries.rows, 0, self), {queries.view(), options_.progress}, radii,
                          {offsets.data(), allocate});
    RankedRows want;
    for (std::int64_t query = 0; query < queries.rows; ++query) {
      for (const auto& each : ranked_rows(metric_, base_, queries, query, self))
        if (each.first <= radius) want.push_back(each);
      ASSERT_EQ(offsets[static_cast<std::size_t>(query) + 1], std::ssize(want)) << "query " << query;
    }
    ASSERT_EQ(std::ssize(ids), std::ssize(want));
    for (std::size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(std::pair(distances[i], ids[i]), want[i]);
  }

  const backend::BackendBitIndex& index() const { return *index_; }
  const Options& options() const { return options_; }
  void stop() { stops_ = true; }

 private:
  const TestBits& base_;
  BitMetric metric_;
  Options options_;
  plan::Machine machine_;
  std::unique_ptr<backend::BackendBitIndex> index_;
  std::int64_t done_ = 0;
  bool stops_ = false;
};

TEST_F(DeviceBits, FindTheNearestUnderEverySchedule) {
  for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
    set_schedule(schedule);
    for (const BitMetric metric : kBitMetrics)
      for (const std::int64_t bits : {1, 9, 64, 65, 2100}) {
        const TestBits base = make_bits(150, bits, 120, 1);
        const TestBits queries = make_bits(11, bits, 11, 2);
        SearchedBits index(base, metric);
        for (const std::int64_t k : {1, 10, 150}) index.expect_nearest(queries, k);
        if (bits == 65) index.expect_nearest(base, 149);
      }
  }
}

// A budget for a part of the base; nearly all distances are ties.
TEST_F(DeviceBits, TilesAreMerged) {
  const TestBits base = make_bits(3000, 20, 40, 3);
  const TestBits queries = make_bits(12, 20, 12, 4);
  for (const BitMetric metric : kBitMetrics) {
    SearchedBits index(base, metric, 1600000);
    EXPECT_GT(index.index().plan(12, 500, false).base_splits, 1);
    index.expect_nearest(queries, 500);
    index.expect_within(queries, 0.4F);
  }
}

TEST_F(DeviceBits, RadiusFindsAllWithinUnderEverySchedule) {
  const TestBits base = make_bits(200, 40, 100, 5);
  const TestBits queries = make_bits(9, 40, 9, 6);
  for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
    set_schedule(schedule);
    for (const BitMetric metric : kBitMetrics) {
      SearchedBits index(base, metric);
      for (const float radius : {0.0F, 0.4F, 0.5F, std::numeric_limits<float>::infinity()}) {
        index.expect_within(queries, radius);
        index.expect_within(base, radius);
      }
    }
  }
}

TEST_F(DeviceBits, RowsWithoutABitAreAlike) {
  TestBits base = make_bits(40, 24, 40, 7);
  std::fill(base.bytes.begin(), base.bytes.begin() + 1 + 20 * base.stride, std::uint8_t{0});
  SearchedBits index(base, BitMetric::jaccard);
  index.expect_nearest(base, 39);
}

TEST_F(DeviceBits, ProgressStopsASearch) {
  const TestBits base = make_bits(60, 24, 60, 8);
  SearchedBits index(base, BitMetric::hamming);
  index.stop();
  std::vector<std::int64_t> ids(60);
  std::vector<float> distances(60);
  try {
    index.index().search(index.index().plan(60, 1, false), {base.view(), index.options().progress},
                         {ids.data(), distances.data()});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

TEST_F(DeviceBits, ABudgetMustHoldTheBase) {
  const TestBits base = make_bits(2000, 640, 50, 9);
  try {
    const SearchedBits index(base, BitMetric::hamming, 70000);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("2000 rows of 640 bits"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kith::test
