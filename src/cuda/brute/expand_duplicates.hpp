// expand_duplicates.hpp: from the nearest groups of equal rows (points/duplicate_rows.hpp) to the nearest rows.
// Idea    the k first groups by (key, smallest id) have the k first rows by (key, id): each group before that of such a
//         row has a member before it, its smallest. Members are written group after group; rows whose key several
//         groups share are sorted by id. Where the last of these keys has more rows than are wanted, an id up to which
//         they are is found by bisection first.
// Cost    a warp a query: k ids are read and written. A key that g groups share takes log n · g log(members) to cut,
// and
//         r log² r comparisons for its r rows.
#pragma once

#include "cuda/points/duplicate_rows.hpp"

namespace kith::KITH_BACKEND::brute {

// The nearest groups of each query, sorted by (key, group).
template <class F>
struct GroupLists {
  const F* keys = nullptr;
  const unsigned* groups = nullptr;
  std::int64_t queries = 0;
  std::int64_t width = 0;  // the smaller one of k and the number of groups
};

// Writes k keys and ids a query, sorted by (key, id); k is at most the number of rows.
template <class F>
void expand_duplicates(const GroupLists<F>& lists, const RowGroups& groups, std::int64_t k, F* keys, unsigned* ids,
                       cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::brute
