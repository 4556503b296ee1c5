// clusters.hpp: points grouped around the nearest of some landmarks, each group sorted by falling length to its center,
// so that the points whose lengths lie in a window are one stretch (Chen et al., sections II-C and III-A).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/prepared_rows.hpp"
#include "cpu/simd/lane_blocks.hpp"

namespace kith::cpu {

// Members are numbered through, cluster by cluster. No cluster is empty. Equal rows of a cluster follow each other.
template <class F>
struct Clusters {
  std::int64_t dims = 0;
  std::vector<F> centers;            // in block layout
  std::vector<std::int64_t> starts;  // the first member of each cluster, and the number of members
  std::vector<std::int64_t> ids;     // members' rows
  std::vector<F> lengths;            // members' lengths, as TriangleBounds<F> understands them, and kSlack zeros
  std::vector<F> members;            // their rows in block layout; empty where nobody asked

  std::int64_t count() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t first(std::int64_t cluster) const { return starts[static_cast<std::size_t>(cluster)]; }
  std::int64_t size(std::int64_t cluster) const { return first(cluster + 1) - first(cluster); }
  F radius(std::int64_t cluster) const { return lengths[static_cast<std::size_t>(first(cluster))]; }
  LaneBlocks<F> center_blocks() const { return {centers.data(), count(), dims}; }
  LaneBlocks<F> member_blocks() const { return {members.data(), static_cast<std::int64_t>(ids.size()), dims}; }
};

struct ClusterTimes {
  double landmarks = 0;
  double clusters = 0;
};

struct Clustering {
  std::int64_t first = 0;  // of these rows
  std::int64_t rows = 0;
  std::int64_t landmarks = 1;
  bool members = false;  // keep the rows too
  int threads = 1;
};

template <Element T>
Clusters<DistanceOf<T>> make_clusters(const PreparedRows<T>& set, const Clustering& how, ClusterTimes& times);

// Bytes of the clusters and of what making them takes.
std::int64_t cluster_bytes(std::int64_t rows, std::int64_t dims, std::int64_t landmarks, std::int64_t element,
                           bool members);

}  // namespace kith::cpu
