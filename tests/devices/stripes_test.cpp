// How rows are shared out among devices.
#include "api/devices/stripes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace kith::test {
namespace {

std::vector<std::int64_t> rows_of(std::int64_t rows, const std::vector<double>& rates) {
  std::vector<std::int64_t> counts;
  std::int64_t next = 0;
  for (const api::Stripe& stripe : api::stripes_of(rows, rates)) {
    EXPECT_EQ(stripe.first, next);
    EXPECT_GE(stripe.rows, 0);
    next += stripe.rows;
    counts.push_back(stripe.rows);
  }
  EXPECT_EQ(next, rows);
  return counts;
}

using Rows = std::vector<std::int64_t>;

TEST(Stripes, AreAsLongAsDevicesAreFast) {
  EXPECT_EQ(rows_of(900, {1, 1, 1}), Rows({300, 300, 300}));
  EXPECT_EQ(rows_of(1000, {1, 1, 1}), Rows({333, 334, 333}));
  EXPECT_EQ(rows_of(100, {1, 3}), Rows({25, 75}));
  EXPECT_EQ(rows_of(100, {0.5, 0.5, 1}), Rows({25, 25, 50}));
  EXPECT_EQ(rows_of(7, {1e-9, 1}), Rows({0, 7}));
}

TEST(Stripes, MayBeEmpty) {
  EXPECT_EQ(rows_of(1, {1}), Rows({1}));
  for (const std::int64_t rows : {0, 1, 2, 3, 5, 8})
    for (std::size_t workers = 1; workers < 20; ++workers) {
      const Rows counts = rows_of(rows, std::vector<double>(workers, 1.0));
      for (const std::int64_t count : counts) EXPECT_LE(count, rows / static_cast<std::int64_t>(workers) + 1);
    }
}

}  // namespace
}  // namespace kith::test
