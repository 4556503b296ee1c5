// bit_scan.hpp: passes a part of the base by a block of queries and hands over the pairs that may be near enough.
// Idea    A tile of rows is packed into panels that stay in the first caches, all queries of the block go by, and
//         pairs below their query's limit, almost none, become keys. Limits may be lowered between any two tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bit_key.hpp"
#include "cpu/progress.hpp"
#include "cpu/simd/bit_counts.hpp"
#include "kith/bits.hpp"

namespace kith::cpu {

// Words of 32 bits that begin at a cache line: vectors that do not would lie in two.
class AlignedWords {
 public:
  std::uint32_t* of_size(std::int64_t count);

 private:
  std::vector<std::uint32_t> words_;
};

// Buffers that a thread keeps from task to task.
struct BitWorkspace {
  std::vector<std::uint32_t> queries;
  std::vector<std::int64_t> query_populations;
  AlignedWords panels;
  std::vector<float> row_populations;
  std::vector<std::int32_t> limits;
  std::vector<core::JaccardLimit> ratios;
  std::vector<BitHit> hits;
};

class BitScan {
 public:
  BitScan(const BitsView& base, const BitsView& queries, BitMetric metric, BitWorkspace& workspace)
      : base_(base), queries_(queries), metric_(metric), work_(workspace) {}

  // Takes queries `first` … `first` + `count` − 1, with a limit that leaves out nothing.
  void begin(std::int64_t first, std::int64_t count);

  // Keys of query `query` of the block that are not below `below` need not be handed over any more.
  void set_limit(std::int64_t query, float below);

  // Calls visit(query of the block, row of the base, key) for pairs of the rows `first` … `last` − 1, those of a query
  // in ascending order, none that is below the limit left out.
  template <class Visit>
  void run(std::int64_t first, std::int64_t last, std::int64_t tile_rows, ProgressMeter& progress, int worker,
           Visit visit) {
    std::int64_t pairs = 0;
    for (std::int64_t row = first; row < last; row += tile_rows) {
      const std::int64_t rows = std::min(tile_rows, last - row);
      const std::int64_t found = search_tile(row, rows);
      for (std::int64_t i = 0; i < found; ++i) {
        const BitHit& hit = work_.hits[static_cast<std::size_t>(i)];
        visit(std::int64_t{hit.query}, row + std::int64_t{hit.row}, key_of(hit));
      }
      pairs += rows * count_;
      if (pairs * bit_words(base_.bits) < kWordsPerReport && row + rows < last) continue;
      progress.add(pairs, worker);
      pairs = 0;
    }
  }

 private:
  static constexpr std::int64_t kWordsPerReport = 1 << 24;

  std::int64_t search_tile(std::int64_t row, std::int64_t rows);
  float key_of(const BitHit& hit) const;

  BitsView base_;
  BitsView queries_;
  BitMetric metric_;
  BitWorkspace& work_;
  std::int64_t count_ = 0;
};

}  // namespace kith::cpu
