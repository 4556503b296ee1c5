// postings.hpp: a block of base rows by their columns: which rows have a coordinate in a column, and what it is.
// Layout  the columns that are not empty, ascending, found through buckets of neighboring columns, of which there are
//         about as many; the rows of a column ascend too. A block's scores fit into a core's cache.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cpu/sparse/csr_rows.hpp"

namespace kith::cpu {

// Rows are numbered with 16 bits; and scores of so many take 128 KiB.
template <class T>
inline constexpr std::int64_t kMostBlockRows = (std::int64_t{1} << 17) / static_cast<std::int64_t>(sizeof(T));
static_assert(kMostBlockRows<float> <= 65536);

template <SparseElement T>
struct Postings {
  std::int64_t first = 0;  // row of the base
  std::int64_t count = 0;
  double largest_size = 0;  // CsrRows::sizes; NaN where one is
  double least_value = 0;   // the smallest magnitude, infinite where there is none
  int shift = 0;
  std::vector<std::uint32_t> buckets;  // bucket b: columns[buckets[b]] … columns[buckets[b + 1] − 1]
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> starts;  // of each column's rows and values; columns + 1
  std::vector<std::uint16_t> rows;   // less `first`
  std::vector<T> values;             // scaled as scores want them; none under jaccard
  std::vector<T> bias;               // of each row, what is added to its products; empty for none

  // Where the rows of a column begin and end.
  std::pair<std::int64_t, std::int64_t> find(std::int32_t column) const {
    const auto bucket = static_cast<std::size_t>(column >> shift);
    for (std::size_t at = buckets[bucket]; at < buckets[bucket + 1]; ++at)
      if (columns[at] == column) return {starts[at], starts[at + 1]};
    return {0, 0};
  }
};

// `scale`: of squares and products (core/score_scale.hpp).
template <SparseElement T>
Postings<T> make_postings(const CsrRows<T>& base, SparseMetric metric, double scale, std::int64_t first,
                          std::int64_t count);

// Bytes of a block at most, and of what makes it beside.
struct PostingsBytes {
  std::int64_t kept;
  std::int64_t scratch;
};
template <SparseElement T>
PostingsBytes postings_bytes(const CsrRows<T>& base, std::int64_t first, std::int64_t count);

}  // namespace kith::cpu
