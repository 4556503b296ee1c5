// Batches: many sets of points in one call, where each query searches the base points of its own batch and no others
// (batched or ragged search, as over the point clouds of a training step). The answer is that of one search for each
// batch, bit for bit where that is exact, without its cost: small batches are searched together, on the CPU by all
// threads, on a device by one kernel; large ones one after the other.
//
// Batch b has the base rows base_offsets[b] … base_offsets[b + 1] − 1, and its queries likewise. Offsets lie in host
// memory and ascend from 0 to the number of rows; there is one more of them than batches, and a batch may have no rows.
//
// Ids are row numbers of the whole base. Batches may have fewer than k points: places that are left at the end of a row
// have id −1 and an infinite distance, −infinity as an inner product.
#pragma once

#include <cstdint>
#include <span>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/search.hpp"

namespace kith {

// The k nearest base points of each query in its batch: k ≥ 1, equal cols. Options are those of search(), applied to
// each batch. The report's plan is that of the batches that are searched together by one method, or of one that is
// searched alone, whichever has the most distances; exact distances are counted over all. Where base, queries and
// answers may lie, and what `stream` is: kith/index.hpp. Answers on a device come there at the end, and are waited for.
template <Element T>
KITH_API Neighbors<DistanceOf<T>> search_batches(MatrixView<T> base, std::span<const std::int64_t> base_offsets,
                                                 MatrixView<T> queries, std::span<const std::int64_t> query_offsets,
                                                 std::int64_t k, const Options& options = {}, void* stream = nullptr);

// The same into the caller's memory. On an error its contents are unspecified.
template <Element T>
KITH_API SearchReport search_batches_into(MatrixView<T> base, std::span<const std::int64_t> base_offsets,
                                          MatrixView<T> queries, std::span<const std::int64_t> query_offsets,
                                          std::int64_t k, NeighborsView<DistanceOf<T>> out, const Options& options = {},
                                          void* stream = nullptr);

// The k nearest others of each base point in its batch, itself left out by its id (so right under duplicates).
template <Element T>
KITH_API Neighbors<DistanceOf<T>> search_batches_self(MatrixView<T> base, std::span<const std::int64_t> offsets,
                                                      std::int64_t k, const Options& options = {},
                                                      void* stream = nullptr);

template <Element T>
KITH_API SearchReport search_batches_self_into(MatrixView<T> base, std::span<const std::int64_t> offsets,
                                               std::int64_t k, NeighborsView<DistanceOf<T>> out,
                                               const Options& options = {}, void* stream = nullptr);

}  // namespace kith
