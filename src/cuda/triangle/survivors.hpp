// survivors.hpp: level 2 with a fixed search bound (Chen et al. Sweet KNN: partial filtering): members within it are
// stored, and the k best selected afterwards. No list of k is kept meanwhile, so k has no limit.
// Cost    the search runs twice, once to count and once to store.
#pragma once

#include <functional>
#include <string>

#include "cuda/triangle/query_batch.hpp"

namespace kith::KITH_BACKEND::triangle {

// A row of `capacity` slots for each query, in the order of their positions.
template <class F>
struct Survivors {
  unsigned* counts = nullptr;  // one a query; may exceed the capacity, beyond which nothing is written
  F* keys = nullptr;           // null: survivors are only counted
  unsigned* ids = nullptr;
  std::int64_t capacity = 0;
};

// Unused slots get NaN, which comes last, and ids from here on, which no point has.
constexpr unsigned kPaddingId = 0x80000000U;

// Writes the k best of each row, which must have as many, to the query's row of the answer.
template <class F>
void select_survivors(const QueryBatch<F>& batch, const Survivors<F>& survivors, SelectMethod select,
                      Workspace& workspace);

// Enqueues a search that stores the survivors of its queries.
template <class F>
using StoreSurvivors = std::function<void(const QueryBatch<F>&, const Survivors<F>&)>;

// Calls `store` to count, then to store, for as many queries at a time as fit into `budget` bytes (0: no limit). Waits
// for the stream in between. `select` is a selection method.
template <class F>
void search_survivors(const QueryBatch<F>& batch, const StoreSurvivors<F>& store, SelectMethod select,
                      std::size_t budget, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
