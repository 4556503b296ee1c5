// candidate_clusters.hpp: level 1: the base clusters that may hold neighbors of some query of a cluster
// (Chen et al., section III-B).
// Idea    The k points that are nearest to their centers give k upper bounds through both centers; the k-th smallest
//         bounds the k-th neighbor of every query of the cluster. Clusters farther than it are ruled out as a whole.
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
  CandidateClusters(const Clusters<F>& base, const Metric& metric, std::int64_t k);

  // For queries within `radius` of the center.
  void find(const F* center, F radius);

  // Of all neighbors of such queries, in lengths.
  double theta() const { return theta_; }
  // The nearest first.
  const std::vector<std::int64_t>& clusters() const { return clusters_; }
  LaneBlocks<F> centers() const { return {centers_.data(), static_cast<std::int64_t>(clusters_.size()), base_.dims}; }
  // As TriangleBounds::apart_radius(); kSlack more may be read.
  const std::vector<F>& radii() const { return radii_; }
  std::int64_t members() const { return members_; }

  static std::int64_t bytes(std::int64_t clusters, std::int64_t dims, std::int64_t k, std::int64_t element);

 private:
  void measure(const F* center);
  double kth_bound();
  void bound_by(std::int64_t cluster);

  const Clusters<F>& base_;
  Metric metric_;
  core::TriangleBounds<F> bounds_;
  std::size_t k_;
  double theta_ = 0;
  std::int64_t members_ = 0;
  std::vector<F> lengths_;  // from the queries' center to all centers
  std::vector<double> bounds_of_k_;
  std::vector<std::pair<F, std::int64_t>> near_;
  std::vector<std::int64_t> clusters_;
  std::vector<F> radii_;
  std::vector<F> centers_;
};

}  // namespace kith::cpu
