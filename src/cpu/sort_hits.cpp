#include "cpu/sort_hits.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <limits>

namespace kith::cpu {
namespace {

// Below this the vector sort's set-up costs more than it saves.
constexpr std::size_t kVectorSortFrom = 96;

}  // namespace

// A float key and an id below 2^32 make one 64-bit integer, which compares at once and which the vector sort takes.
void sort_hits(std::vector<core::Hit<float>>& hits) {
  if (hits.empty()) return;
  const auto by_id = [](const core::Hit<float>& a, const core::Hit<float>& b) { return a.id < b.id; };
  const auto [lowest, highest] = std::minmax_element(hits.begin(), hits.end(), by_id);
  if (highest->id - lowest->id > std::numeric_limits<std::uint32_t>::max()) return std::sort(hits.begin(), hits.end());
  const std::int64_t first = lowest->id;
  std::array<std::uint64_t, kVectorSortFrom> few;
  std::vector<std::uint64_t> many(hits.size() < kVectorSortFrom ? 0 : hits.size());
  std::uint64_t* packed = many.empty() ? few.data() : many.data();
  for (std::size_t i = 0; i < hits.size(); ++i)
    packed[i] = (std::uint64_t{core::ordered_bits(hits[i].key)} << 32) | static_cast<std::uint64_t>(hits[i].id - first);
  if (many.empty()) {
    std::sort(packed, packed + hits.size());
  } else {
    hwy::Sorter()(packed, hits.size(), hwy::SortAscending());
  }
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(packed[i] >> 32);
    const bool nan = bits == std::numeric_limits<std::uint32_t>::max();
    hits[i] = {nan ? std::numeric_limits<float>::quiet_NaN() : core::from_ordered_bits(bits),
               first + static_cast<std::int64_t>(packed[i] & 0xFFFFFFFFU)};
  }
}

void sort_hits(std::vector<core::Hit<double>>& hits) {
  std::sort(hits.begin(), hits.end());
}

}  // namespace kith::cpu
