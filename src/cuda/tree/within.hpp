// within.hpp: the points within a radius of queries, by walks through a tree.
// Idea    as nearest.hpp, with a limit that stays. One walk counts, another one writes hits where the counts say. Where
//         only numbers are wanted, boxes whose farthest corner is provably within are counted as a whole.
#pragma once

#include "cuda/primitives/labeled_key.cuh"
#include "cuda/tree/tree_queries.hpp"

namespace kith::KITH_BACKEND::tree {

template <class F>
struct WithinCall {
  TreeQueries<F> queries;
  const F* radii = nullptr;  // keys, by the query's number
  // Where queries are points of the base, which are not their own neighbors: the id of query 0, else −1.
  std::int64_t first_self = -1;
};

// Counts hits, by the query's number; `whole_boxes` without a look at all points, some of which may be no numbers.
template <class F>
void count_within(const WithinCall<F>& call, bool whole_boxes, unsigned* counts, cudaStream_t stream);

// Writes the hits of query number q from hits[offsets[q]] on, with segment q, in no order.
template <class F>
void list_within(const WithinCall<F>& call, const unsigned long long* offsets, LabeledKey<OrderOf<F>>* hits,
                 cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::tree
