// Which points of a collection a search may find. What a filter's spans and pointers refer to must stay until the call
// that takes it returns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace kith {

// Lists of ids or of tags: one for all queries, or one for each.
struct FilterLists {
  std::span<const std::int64_t> values;
  // Query q has values[offsets[q]] … values[offsets[q + 1] − 1]: queries + 1 numbers, or none for one list for all.
  std::span<const std::int64_t> offsets{};
};

// A flag for each point, in the order of ascending ids (Collection::ids): rows of bytes, or of 64-bit words whose bit
// i % 64 of word i / 64 is point i's. Exactly one of the two is set.
struct FilterMask {
  std::span<const std::uint8_t> bytes{};
  std::span<const std::uint64_t> words{};
  bool each = false;  // a row for each query; else one for all
};

// All that is set must hold. Where fewer than k points are left, the last places of a row have id −1 and an infinite
// distance (inner_product: −∞).
struct Filter {
  std::optional<FilterMask> mask{};
  std::optional<FilterLists> allowed{};   // ids, in any order; those that no point has are passed over
  std::optional<FilterLists> excluded{};  // likewise
  std::optional<FilterLists> tags{};      // of points that are allowed

  bool is_empty() const { return !mask && !allowed && !excluded && !tags; }
};

}  // namespace kith
