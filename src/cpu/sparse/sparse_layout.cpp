// sparse_layout.cpp: the largest pieces that fit.
#include "cpu/sparse/sparse_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/order.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/sparse/postings.hpp"
#include "cpu/sparse/sparse_candidates.hpp"
#include "cpu/sparse/sparse_scores.hpp"
#include "kith/error.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kQueryBlock = 32;

// Of the blocks of so many rows: what all of them take, and one at most.
struct BlockBytes {
  std::int64_t all = 0;
  std::int64_t largest = 0;
  std::int64_t scratch = 0;
};

template <class T>
BlockBytes block_bytes(const CsrRows<T>& base, std::int64_t block_rows) {
  BlockBytes bytes;
  for (std::int64_t first = 0; first < base.rows; first += block_rows) {
    const PostingsBytes each = postings_bytes(base, first, std::min(block_rows, base.rows - first));
    bytes.all += each.kept;
    bytes.largest = std::max(bytes.largest, each.kept);
    bytes.scratch = std::max(bytes.scratch, each.scratch);
  }
  return bytes;
}

// Of a thread: the scores of a block, and for each query of a task its candidates and lists.
template <class T>
std::int64_t thread_bytes(const SparseBudget<T>& budget, std::int64_t block_rows, std::int64_t k,
                          std::int64_t queries) {
  constexpr auto kCandidate = static_cast<std::int64_t>(sizeof(T) + sizeof(OffsetOf<T>));
  constexpr auto kHit = static_cast<std::int64_t>(sizeof(core::Hit<T>));
  const std::int64_t capacity = sparse_capacity(k, budget.base.rows);
  // Hits while they are ranked, which take twice their size where a list grows; sorting takes as much again.
  const std::int64_t ranked = 4 * (k + capacity) * kHit;
  return score_scratch_bytes<T>(budget.metric, block_rows) + queries * (capacity * kCandidate + 2 * k * kHit + 512) +
         ranked + 4096;
}

// A block has fewer coordinates than 32 bits count.
template <class T>
bool can_be_counted(const CsrRows<T>& base, std::int64_t block_rows) {
  for (std::int64_t first = 0; first < base.rows; first += block_rows)
    if (base.entries(first, std::min(block_rows, base.rows - first)) > std::numeric_limits<std::int32_t>::max())
      return false;
  return true;
}

std::int64_t blocks_of(std::int64_t rows, std::int64_t block_rows) {
  return (rows + block_rows - 1) / block_rows;
}

// Blocks that are there at once where the index keeps none: as many as fit, in parts of about one size.
std::int64_t blocks_of_part(const BlockBytes& bytes, std::int64_t blocks, std::int64_t room) {
  const std::int64_t most = std::clamp(room / std::max<std::int64_t>(bytes.largest, 1), std::int64_t{1}, blocks);
  return blocks_of(blocks, blocks_of(blocks, most));
}

}  // namespace

template <SparseElement T>
std::int64_t largest_block(const CsrRows<T>& base) {
  std::int64_t rows = std::min(kMostBlockRows<T>, base.rows);
  while (rows > 1 && !can_be_counted(base, rows)) rows = (rows + 1) / 2;
  return rows;
}

template <SparseElement T>
std::int64_t kept_bytes(const SparseBudget<T>& budget) {
  const BlockBytes bytes = block_bytes(budget.base, largest_block(budget.base));
  return budget.base.bytes() + bytes.all + bytes.scratch;
}

template <SparseElement T>
bool keeps_columns(const SparseBudget<T>& budget) {
  return kept_bytes(budget) + thread_bytes(budget, largest_block(budget.base), budget.base.rows, 1) <= budget.bytes;
}

template <SparseElement T>
SparseLayout layout_of(const SparseBudget<T>& budget, bool keeps, std::int64_t k, std::int64_t queries,
                       std::int64_t query_bytes, int threads) {
  const CsrRows<T>& base = budget.base;
  SparseLayout layout;
  layout.threads = threads;
  layout.block_rows = largest_block(base);
  std::int64_t fixed = base.bytes() + query_bytes;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (BlockBytes bytes = block_bytes(base, layout.block_rows);;) {
    // Each thread makes blocks, before all of them search.
    const auto taken = [&](std::int64_t each) {
      return fixed + (keeps ? bytes.all : bytes.largest) +
             std::max(bytes.scratch, thread_bytes(budget, layout.block_rows, k, each)) * layout.threads;
    };
    while (layout.threads > 1 && taken(1) > budget.bytes) layout.threads /= 2;
    layout.query_block = std::clamp<std::int64_t>(queries / layout.threads, 1, kQueryBlock);
    while (layout.query_block > 1 && taken(layout.query_block) > budget.bytes) layout.query_block /= 2;
    layout.bytes = taken(layout.query_block);
    least = std::min(least, layout.bytes);
    if (layout.bytes <= budget.bytes) {
      const std::int64_t blocks = blocks_of(base.rows, layout.block_rows);
      layout.part_blocks = keeps ? blocks : blocks_of_part(bytes, blocks, budget.bytes - layout.bytes + bytes.largest);
      if (!keeps) layout.bytes += (layout.part_blocks - 1) * bytes.largest;
      return layout;
    }
    if (keeps || layout.block_rows == 1) break;
    layout.threads = 1;
    layout.block_rows = (layout.block_rows + 1) / 2;
    bytes = block_bytes(base, layout.block_rows);
  }
  throw Error(ErrorCode::out_of_memory,
              fmt::format("a memory budget of {} bytes is too small: {} neighbors among {} sparse points of {} entries "
                          "need at least {} bytes",
                          budget.bytes, k, base.rows, base.entries(0, base.rows), least));
}

#define KITH_INSTANTIATE(T)                                 \
  template std::int64_t largest_block(const CsrRows<T>&);   \
  template std::int64_t kept_bytes(const SparseBudget<T>&); \
  template bool keeps_columns(const SparseBudget<T>&);      \
  template SparseLayout layout_of(const SparseBudget<T>&, bool, std::int64_t, std::int64_t, std::int64_t, int);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
