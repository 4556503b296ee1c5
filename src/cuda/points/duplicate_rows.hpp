// duplicate_rows.hpp: rows of a base that occur more than once, found on the device.
// Idea    rows are hashed and sorted by (hash, id); a row that equals the one before it belongs to the same group. Rows
//         of equal hashes are compared as they are, so that no answer depends on the hash: a collision can only divide
//         a group in two, and both parts then have the same distances.
// Cost    a sample of a large base decides first whether most rows may be duplicates: 65,536 rows are hashed and
//         sorted. Where it says so, all rows are read twice and sorted, with up to core::kGroupingBytes of memory a
//         row.
// Limits  fewer than 2^31 rows. Numbers are compared: −0 equals 0, and a row with NaN equals none, not even itself.
#pragma once

#include <optional>

#include "cuda/points/point_store.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline points {

// Groups of equal rows, by ascending smallest id.
struct RowGroups {
  std::int64_t count = 0;
  DeviceBuffer<unsigned> first_ids;  // the smallest of each group
  DeviceBuffer<unsigned> offsets;    // of each group's members, and their number at the end
  DeviceBuffer<unsigned> members;    // ids of all rows, ascending in each group
};

struct GroupSearch {
  std::int64_t max_groups = 0;  // more are not worth it
  // Which bits of a hash count; tests leave few, so that different rows share them.
  unsigned long long hash_mask = ~0ULL;
};

// Rows of a base that a sample has; all of a smaller base.
constexpr std::int64_t kGroupSample = 1 << 16;

// Whether `sample`, kGroupSample rows that are spread evenly over a base of `rows`, speaks for groups.
template <class F>
bool may_have_groups(const PointRows<F>& sample, std::int64_t dims, std::int64_t rows, const GroupSearch& wanted,
                     Workspace& workspace);

// Returns the groups, ready, or nothing where there are more than wanted. Waits for the workspace's stream.
template <class F>
std::optional<RowGroups> group_equal_rows(const PointRows<F>& rows, std::int64_t dims, const GroupSearch& wanted,
                                          Workspace& workspace);

// A copy of the first row of each group, in their order. Enqueued on the stream.
template <class F>
PointStore<F> first_rows(const PointRows<F>& rows, std::int64_t dims, const RowGroups& groups, const Metric& metric,
                         bool bias, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::inline points
