// symmetrize.hpp: neighbor lists on the device as the compressed sparse rows of a graph.
// Idea    every edge and its reverse become keys (row, column) of up to 64 bits, which are sorted: an edge of both
//         directions is a pair of equal keys. What is kept is flagged, counted before each place, and moved there.
// Layout  indptr has points + 1 offsets, rows are sorted by column. core/neighbor_graph.hpp has the same bits.
// Cost    a radix sort of 2 · points · k keys with 32 bits each, and four passes over them; 40 bytes a key.
// Limits  points · k < 2^31.
#pragma once

#include <cstdint>

#include "cuda/runtime/workspace.hpp"
#include "kith/graph.hpp"

namespace kith::KITH_BACKEND::graph {

// Rows of k edges each: indptr[i] = i · k.
void fill_indptr(std::int64_t points, std::int64_t k, std::int64_t* indptr, cudaStream_t stream);

// Edges of either direction, or `mutual` ones, from k neighbors a point. Waits for the stream to learn how many there
// are. Throws Error(invalid_argument) beyond the limit.
template <class F>
void symmetrize(const std::int64_t* ids, const F* distances, std::int64_t points, std::int64_t k, bool mutual,
                const GraphLists<F>& out, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::graph
