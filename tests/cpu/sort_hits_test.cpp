#include "cpu/sort_hits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace kith::cpu {
namespace {

// Sizes on both sides of the vector sort, ids on both sides of 32 bits, ties, infinities and NaN.
template <class D>
void check(std::size_t count, std::int64_t id_step) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<core::Hit<D>> hits(count);
  for (std::size_t i = 0; i < count; ++i)
    hits[i] = {static_cast<D>(random() % 9) - D{4}, static_cast<std::int64_t>(random() % 1000) * id_step};
  if (count > 3) {
    hits[0].key = std::numeric_limits<D>::quiet_NaN();
    hits[1].key = std::numeric_limits<D>::infinity();
    hits[2].key = D{-0.0};
  }
  std::vector<core::Hit<D>> expected = hits;
  std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
    if (std::isnan(a.key) != std::isnan(b.key)) return std::isnan(b.key);
    return a.key != b.key && !std::isnan(a.key) ? a.key < b.key : a.id < b.id;
  });
  sort_hits(hits);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(hits[i].id, expected[i].id) << "place " << i << " of " << count;
    EXPECT_TRUE(hits[i].key == expected[i].key || (std::isnan(hits[i].key) && std::isnan(expected[i].key)));
  }
}

TEST(SortHits, OrdersByKeyThenId) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{47}, std::size_t{48}, std::size_t{1000}})
    for (const std::int64_t step : {std::int64_t{1}, std::int64_t{1} << 33}) {
      check<float>(count, step);
      check<double>(count, step);
    }
}

}  // namespace
}  // namespace kith::cpu
