// find.hpp: the nearest points of a snapshot that a filter leaves.
// Idea    a segment whose points are all allowed is searched as it is. Else either more neighbors than k are found and
//         tested, and what a query then lacks is searched for among copies of the points that are left; or it is at
//         once. What is predicted to take less time is done: testing suits filters that leave most points, copies
//         those that leave few, and queries whose filters differ are tested together.
// Proof   the first k of those allowed among the m nearest are the k nearest of those allowed: what is not among the m
//         comes later in the order of (distance, id). If fewer than k were found, and there are more, they are not
//         enough, and copies decide. Rows of a segment ascend by id, so that rows order ties as ids do.
#pragma once

#include <cstdint>
#include <vector>

#include "api/collection/filter_rows.hpp"
#include "core/order.hpp"

namespace kith::api {

// k neighbors of each query, as search() of an index of the allowed points would find them, with their ids; −1 where
// there are fewer.
template <Element T>
SearchReport find_nearest(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries,
                          std::int64_t k, const FilterRows& filter, const NeighborsView<DistanceOf<T>>& out);

// All within the radii, as `hits` of each query in no order.
template <Element T>
SearchReport find_within(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries,
                         std::span<const DistanceOf<T>> radii, const FilterRows& filter,
                         std::vector<std::vector<core::Hit<DistanceOf<T>>>>& hits);

// How many they are, adding to `counts`. Hits are kept only where they must be looked at, some queries' at a time:
// where a filter may leave them out, and the points themselves where `self` has the id of each query.
template <Element T>
SearchReport count_within(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries,
                          std::span<const DistanceOf<T>> radii, const FilterRows& filter,
                          std::span<const std::int64_t> self, std::vector<std::int64_t>& counts);

// The part of a memory budget that one kind of what searches of collections hold may take, or this many bytes.
std::int64_t held_bytes(const Options& options, std::int64_t bytes);

}  // namespace kith::api
