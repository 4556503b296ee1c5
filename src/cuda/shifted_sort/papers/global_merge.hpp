// global_merge.hpp: the search as Li et al. do it (3.3): a kernel a shift, lists in the device's memory between them.
#pragma once

#include "cuda/shifted_sort/curve_search.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// A block has two threads for each neighbor.
constexpr unsigned kLargestPaperList = 512;

// As search_lists(), with k candidates on either side whatever the window. k ≤ kLargestPaperList.
template <class F>
void search_by_paper(const CurveSearch<F>& search, F* keys, std::int64_t* ids, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::shifted_sort
