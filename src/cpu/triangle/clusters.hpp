// clusters.hpp: points grouped around the nearest of some landmarks (Chen et al. Sweet KNN, sections II-C and III-A).
// Layout  members of a cluster lie next to each other by falling distance to its center, so that members whose
//         distances lie in an interval are neighbors; then by a hash of the row, which brings equal rows together, then
//         by id. No cluster is empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/mapped_array.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/simd/lane_blocks.hpp"

namespace kith::cpu {

template <class F>
struct Clusters {
  std::int64_t dims = 0;
  core::MappedArray<F> centers;             // in block layout
  core::MappedArray<std::int64_t> offsets;  // the first member of each cluster, and the number of members
  core::MappedArray<std::int64_t> ids;      // of members
  core::MappedArray<F> member_distances;    // to the center, as TriangleBounds<F> has them, and kSlack zeros
  core::MappedArray<F> rows;                // of members, in block layout; empty unless Clustering::keep_rows

  std::int64_t count() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t first(std::int64_t cluster) const { return offsets[static_cast<std::size_t>(cluster)]; }
  std::int64_t size(std::int64_t cluster) const { return first(cluster + 1) - first(cluster); }
  F radius(std::int64_t cluster) const { return member_distances[static_cast<std::size_t>(first(cluster))]; }
  LaneBlocks<F> center_blocks() const { return {centers.data(), count(), dims}; }
  LaneBlocks<F> member_blocks() const { return {rows.data(), static_cast<std::int64_t>(ids.size()), dims}; }
};

struct ClusterTimes {
  double landmarks = 0;
  double clusters = 0;
};

struct Clustering {
  std::int64_t first = 0;  // rows first … first + rows − 1 of the set
  std::int64_t rows = 0;
  std::int64_t landmarks = 1;
  bool keep_rows = false;
  int threads = 1;
};

template <Element T>
Clusters<DistanceOf<T>> make_clusters(const PreparedRows<T>& set, const Clustering& how, ProgressMeter& progress,
                                      ClusterTimes& times);

}  // namespace kith::cpu
