// sort_hits.cpp: float hits become 64-bit integers and double hits pairs of them, sorted by rank if few and by vqsort
// if many.
#include "cpu/sort_hits.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <limits>

#include "cpu/simd/kernels.hpp"

namespace kith::cpu {
namespace {

// Hits up to which sorting by rank, which is quadratic, is faster.
constexpr std::size_t kRanked = 96;
constexpr std::size_t kRankedPairs = 64;

// Packs a float key and an id below first + 2^32 into one 64-bit integer of the same order. NaN comes last.
std::uint64_t pack(const core::Hit<float>& hit, std::int64_t first) {
  return (std::uint64_t{core::ordered_bits(hit.key)} << 32) | static_cast<std::uint64_t>(hit.id - first);
}

core::Hit<float> unpack(std::uint64_t packed, std::int64_t first) {
  const auto bits = static_cast<std::uint32_t>(packed >> 32);
  const bool nan = bits == std::numeric_limits<std::uint32_t>::max();
  return {nan ? std::numeric_limits<float>::quiet_NaN() : core::from_ordered_bits(bits),
          first + static_cast<std::int64_t>(packed & 0xFFFFFFFFU)};
}

// Flipped, this bit turns the order of unsigned integers into that of signed ones.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

void sort_few(std::vector<core::Hit<float>>& hits, std::int64_t first) {
  std::array<std::int64_t, kRanked + static_cast<std::size_t>(kSlack)> packed;
  std::array<std::int64_t, kRanked> sorted;
  for (std::size_t i = 0; i < hits.size(); ++i) packed[i] = static_cast<std::int64_t>(pack(hits[i], first) ^ kSign);
  rank_sort(packed.data(), static_cast<std::int64_t>(hits.size()), sorted.data());
  for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = unpack(static_cast<std::uint64_t>(sorted[i]) ^ kSign, first);
}

void sort_many(std::vector<core::Hit<float>>& hits, std::int64_t first) {
  std::vector<std::uint64_t> packed(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) packed[i] = pack(hits[i], first);
  hwy::Sorter()(packed.data(), packed.size(), hwy::SortAscending());
  for (std::size_t i = 0; i < hits.size(); ++i) hits[i] = unpack(packed[i], first);
}

// The key of ordered bits.
double key_of(std::uint64_t bits) {
  return bits == std::numeric_limits<std::uint64_t>::max() ? std::numeric_limits<double>::quiet_NaN()
                                                           : core::from_ordered_bits(bits);
}

// Whether nothing is to be done. Sorting makes +0 of −0 and one NaN of all, of a single hit too.
template <class D>
bool is_sorted(const std::vector<core::Hit<D>>& hits) {
  return hits.empty() || (hits.size() == 1 && hits.front().key > 0);
}

void sort_few(std::vector<core::Hit<double>>& hits) {
  std::array<std::int64_t, kRankedPairs + static_cast<std::size_t>(kSlack)> keys;
  std::array<std::int64_t, kRankedPairs + static_cast<std::size_t>(kSlack)> ids;
  std::array<std::int64_t, kRankedPairs> sorted_keys;
  std::array<std::int64_t, kRankedPairs> sorted_ids;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    keys[i] = static_cast<std::int64_t>(core::ordered_bits(hits[i].key) ^ kSign);
    ids[i] = hits[i].id;
  }
  rank_sort_pairs(keys.data(), ids.data(), static_cast<std::int64_t>(hits.size()), sorted_keys.data(),
                  sorted_ids.data());
  for (std::size_t i = 0; i < hits.size(); ++i)
    hits[i] = {key_of(static_cast<std::uint64_t>(sorted_keys[i]) ^ kSign), sorted_ids[i]};
}

}  // namespace

void sort_hits(std::vector<core::Hit<float>>& hits) {
  if (is_sorted(hits)) return;
  const auto by_id = [](const core::Hit<float>& a, const core::Hit<float>& b) { return a.id < b.id; };
  const auto [lowest, highest] = std::minmax_element(hits.begin(), hits.end(), by_id);
  const std::int64_t first = lowest->id;
  // rank_sort() does not allow the largest integer, and pack() no id beyond 32 bits.
  if (highest->id - first >= std::numeric_limits<std::uint32_t>::max()) return std::sort(hits.begin(), hits.end());
  if (hits.size() <= kRanked) return sort_few(hits, first);
  sort_many(hits, first);
}

void sort_hits(std::vector<core::Hit<double>>& hits) {
  if (is_sorted(hits)) return;
  if (hits.size() <= kRankedPairs) return sort_few(hits);
  std::vector<hwy::uint128_t> packed(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i)
    packed[i] = {static_cast<std::uint64_t>(hits[i].id), core::ordered_bits(hits[i].key)};
  hwy::Sorter()(packed.data(), packed.size(), hwy::SortAscending());
  for (std::size_t i = 0; i < hits.size(); ++i)
    hits[i] = {key_of(packed[i].hi), static_cast<std::int64_t>(packed[i].lo)};
}

}  // namespace kith::cpu
