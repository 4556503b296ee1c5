// candidate_clusters.hpp: level 1: the base clusters that may hold neighbors of some query of a cluster (Chen et al.
// Sweet KNN, section III-B).
// Idea    d(cq,ct) + d(ct,t), plus the cluster's radius, bounds the distance of any of its queries to a point t; the
//         k-th smallest of these bounds that of the k-th neighbor. Clusters beyond it are ruled out as a whole.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/triangle_bounds.hpp"
#include "cpu/triangle/clusters.hpp"

namespace kith::cpu {

template <class F>
class CandidateClusters {
 public:
  // `scale`: PreparedRows::scale of the points.
  CandidateClusters(const Clusters<F>& base, const Metric& metric, double scale, std::int64_t k);

  // Finds the candidates of queries within `radius` of the center.
  void find(const F* center, F radius);

  // No neighbor of these queries is farther away.
  double search_bound() const { return search_bound_; }
  // In the order of their centers' distances.
  const std::vector<std::int64_t>& clusters() const { return clusters_; }
  LaneBlocks<F> centers() const { return {centers_.data(), static_cast<std::int64_t>(clusters_.size()), base_.dims}; }
  // TriangleBounds::apart_radius() of the clusters; kSlack more may be read.
  const std::vector<F>& radii() const { return radii_; }
  std::int64_t members() const { return members_; }

 private:
  void measure(const F* center);
  double kth_bound();
  void bound_by(std::int64_t cluster);

  const Clusters<F>& base_;
  Metric metric_;
  core::TriangleBounds<F> bounds_;
  std::size_t k_;
  double search_bound_ = 0;
  std::int64_t members_ = 0;
  std::vector<F> center_distances_;  // from the queries' center to those of all clusters
  std::vector<double> bounds_of_k_;
  std::vector<std::pair<F, std::int64_t>> near_clusters_;
  std::vector<std::int64_t> clusters_;
  std::vector<F> radii_;
  std::vector<F> centers_;
};

}  // namespace kith::cpu
