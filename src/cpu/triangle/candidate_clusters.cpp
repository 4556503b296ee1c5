// candidate_clusters.cpp: upper bounds are kept in a heap of the k smallest; near clusters are copied in the order of
// their distance, so that level 2 reads them in one go.
#include "cpu/triangle/candidate_clusters.hpp"

#include <algorithm>
#include <cstddef>

#include "cpu/triangle/block_rows.hpp"
#include "cpu/triangle/metric_distance.hpp"

namespace kith::cpu {

template <class F>
CandidateClusters<F>::CandidateClusters(const Clusters<F>& base, const Metric& metric, double scale, std::int64_t k)
    : base_(base), metric_(metric), bounds_(metric, base.dims, scale), k_(static_cast<std::size_t>(k)) {}

template <class F>
void CandidateClusters<F>::measure(const F* center) {
  center_distances_.resize(static_cast<std::size_t>(block_count<F>(base_.count()) * kBlockPoints<F>));
  block_scores(core::metric_distance_form(metric_), metric_.p, center, base_.center_blocks(), center_distances_.data());
  center_distances_.resize(static_cast<std::size_t>(base_.count()));
  for (F& distance : center_distances_) distance = metric_distance(metric_, distance);
}

// Adds the bounds of a cluster to the heap, from the member nearest to the center outwards, until they are too large.
template <class F>
void CandidateClusters<F>::bound_by(std::int64_t cluster) {
  const auto to_center = static_cast<double>(center_distances_[static_cast<std::size_t>(cluster)]);
  for (std::int64_t at = base_.first(cluster + 1) - 1; at >= base_.first(cluster); --at) {
    const double bound = to_center + static_cast<double>(base_.member_distances[static_cast<std::size_t>(at)]);
    if (bounds_of_k_.size() == k_) {
      if (!(bound < bounds_of_k_.front())) return;
      std::pop_heap(bounds_of_k_.begin(), bounds_of_k_.end());
      bounds_of_k_.pop_back();
    }
    bounds_of_k_.push_back(bound);
    std::push_heap(bounds_of_k_.begin(), bounds_of_k_.end());
  }
}

template <class F>
double CandidateClusters<F>::kth_bound() {
  bounds_of_k_.clear();
  // The nearest cluster comes first: its bounds are the smallest, and stop the others early.
  const std::int64_t nearest =
      std::min_element(center_distances_.begin(), center_distances_.end()) - center_distances_.begin();
  bound_by(nearest);
  for (std::int64_t c = 0; c < base_.count(); ++c)
    if (c != nearest) bound_by(c);
  return bounds_of_k_.front();
}

template <class F>
void CandidateClusters<F>::find(const F* center, F radius) {
  measure(center);
  const auto query_radius = static_cast<double>(radius);
  search_bound_ = bounds_.search_bound_of_distance(bounds_.above(kth_bound() + query_radius, 3));
  near_clusters_.clear();
  for (std::int64_t c = 0; c < base_.count(); ++c) {
    const F distance = center_distances_[static_cast<std::size_t>(c)];
    if (!bounds_.apart(static_cast<double>(distance), query_radius, static_cast<double>(base_.radius(c)),
                       search_bound_))
      near_clusters_.emplace_back(distance, c);
  }
  std::sort(near_clusters_.begin(), near_clusters_.end());
  clusters_.clear();
  radii_.clear();
  members_ = 0;
  const auto count = static_cast<std::int64_t>(near_clusters_.size());
  centers_.resize(static_cast<std::size_t>(block_count<F>(count) * kBlockPoints<F> * base_.dims));
  radii_.reserve(static_cast<std::size_t>(count + kSlack));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t cluster = near_clusters_[static_cast<std::size_t>(i)].second;
    clusters_.push_back(cluster);
    radii_.push_back(bounds_.apart_radius(static_cast<double>(base_.radius(cluster))));
    members_ += base_.size(cluster);
    const F* from = base_.centers.data() + block_offset<F>(cluster, base_.dims);
    F* to = centers_.data() + block_offset<F>(i, base_.dims);
    for (std::int64_t c = 0; c < base_.dims; ++c) to[c * kBlockPoints<F>] = from[c * kBlockPoints<F>];
  }
  radii_.resize(static_cast<std::size_t>(count + kSlack));
}

template class CandidateClusters<float>;
template class CandidateClusters<double>;

}  // namespace kith::cpu
