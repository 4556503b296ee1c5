// global_merge.hpp: the search as Li et al. do it (3.3): a kernel a shift, with lists in global memory between them.
// Serves the comparison with their paper; `auto` never takes it.
#pragma once

#include "cuda/shifted_sort/curve_search.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// A block has two threads for each neighbor.
constexpr unsigned kMaxGlobalMergeK = 512;

// Does what curve_search_lists() does, with k candidates on either side whatever the window. k ≤ kMaxGlobalMergeK.
template <class F>
void global_merge_search(const CurveSearch<F>& search, F* keys, std::int64_t* ids, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::shifted_sort
