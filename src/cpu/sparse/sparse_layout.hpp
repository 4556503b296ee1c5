// sparse_layout.hpp: how a search of sparse rows is cut to its memory budget: rows of a block, blocks that are there at
// once, queries of a task, threads.
#pragma once

#include <cstdint>

#include "cpu/sparse/csr_rows.hpp"

namespace kith::cpu {

struct SparseLayout {
  std::int64_t block_rows = 0;
  std::int64_t part_blocks = 0;  // blocks of the base that are made by columns at once
  std::int64_t query_block = 1;
  int threads = 1;
  std::int64_t bytes = 0;
};

// What an index asks for.
template <SparseElement T>
struct SparseBudget {
  const CsrRows<T>& base;
  SparseMetric metric;
  std::int64_t bytes;
};

// Bytes that an index takes to keep all of its base by columns in blocks of the largest size, with what makes them.
template <SparseElement T>
std::int64_t kept_bytes(const SparseBudget<T>& budget);

// Whether the budget has room for that, and beside it for a search of any k by one thread.
template <SparseElement T>
bool keeps_columns(const SparseBudget<T>& budget);

// Of a search for k neighbors, 0 for all within a radius; `query_bytes`: of what is known of the queries. Throws
// Error(out_of_memory), which names the least that would do.
template <SparseElement T>
SparseLayout layout_of(const SparseBudget<T>& budget, bool keeps, std::int64_t k, std::int64_t queries,
                       std::int64_t query_bytes, int threads);

// Rows of a block, where nothing but its coordinates limits it.
template <SparseElement T>
std::int64_t largest_block(const CsrRows<T>& base);

}  // namespace kith::cpu
