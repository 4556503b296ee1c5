// interval_scan.cpp: intervals wait until they have enough members, and are then scored together.
#include "cpu/triangle/interval_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/instantiate.hpp"
#include "core/sizes.hpp"
#include "cpu/finish_keys.hpp"
#include "cpu/sort_hits.hpp"
#include "cpu/triangle/metric_distance.hpp"

namespace kith::cpu {
namespace {

using Limits = core::IntervalScanLimits;

// In larger clusters binary search finds the ends of the interval first.
constexpr std::int64_t kBinarySearchMembers = 512;

}  // namespace

template <Element T>
IntervalScan<T>::IntervalScan(const PreparedRows<T>& base, const Clusters<F>& clusters, const PreparedRows<T>& queries,
                              std::int64_t k)
    : base_(base),
      clusters_(clusters),
      queries_(queries),
      bounds_(base.metric, base.view.cols, base.scale),
      form_(core::metric_distance_form(base.metric)),
      k_(k),
      row_buffer_(static_cast<std::size_t>(base.view.cols)),
      exact_row_(static_cast<std::size_t>(base.view.cols)) {}

// Computes the distances to the centers; returns the candidate whose center is nearest.
template <Element T>
std::int64_t IntervalScan<T>::measure_centers(const CandidateClusters<F>& candidates) {
  const LaneBlocks<F> centers = candidates.centers();
  const auto capacity = static_cast<std::size_t>(centers.points + 2 * kSlack);
  if (center_distances_.size() < capacity) {
    center_distances_.resize(capacity);
    within_.resize(capacity);
  }
  const std::int64_t nearest = block_lengths(form_, base_.metric.p, row_, centers, center_distances_.data());
  if (form_ == core::Form::power)
    for (std::int64_t i = 0; i < centers.points; ++i) {
      F& each = center_distances_[static_cast<std::size_t>(i)];
      each = static_cast<F>(std::pow(static_cast<double>(each), 1 / base_.metric.p));
    }
  counts_.center_distances += centers.points;
  return nearest;
}

template <Element T>
void IntervalScan<T>::lower_search_bound(double search_bound) {
  if (!(search_bound < search_bound_)) return;
  search_bound_ = search_bound;
  limit_ = bounds_.raw_limit(search_bound);
}

template <Element T>
void IntervalScan<T>::add_interval(const CandidateClusters<F>& candidates, std::int64_t candidate) {
  const auto i = static_cast<std::size_t>(candidate);
  const std::int64_t cluster = candidates.clusters()[i];
  std::int64_t first = clusters_.first(cluster);
  std::int64_t last = clusters_.first(cluster + 1);
  const F* distances = clusters_.member_distances.data();
  const core::DistanceInterval interval =
      bounds_.interval(static_cast<double>(center_distances_[i]), static_cast<double>(distances[first]), search_bound_);
  constexpr double kRounding = 4 * core::unit_roundoff<F>();
  const F high = static_cast<F>(interval.high * (1 + kRounding));
  const F low = interval.low > 0 ? static_cast<F>(interval.low * (1 - kRounding)) : F{0};
  ++counts_.clusters_visited;
  if (last - first > kBinarySearchMembers) {
    const F* from = std::partition_point(distances + first, distances + last, [=](F each) { return each > high; });
    last = std::partition_point(from, distances + last, [=](F each) { return each >= low; }) - distances;
    first = from - distances;
  }
  for (; first < last; first += Limits::kMaxIntervalMembers) {
    const std::int64_t end = std::min(last, first + Limits::kMaxIntervalMembers);
    intervals_.push_back({first, end, low, high});
    pending_members_ += end - first;
    if (pending_members_ >= Limits::kScanMembers) scan();
  }
}

template <Element T>
void IntervalScan<T>::scan() {
  const auto needed = static_cast<std::size_t>(size_ + pending_members_ + kSlack);
  if (scores_.size() < needed) {
    scores_.resize(needed + needed / 2);
    members_.resize(scores_.size());
  }
  const ScanResult scanned = scan_intervals(
      form_, base_.metric.p, row_, clusters_.member_blocks(), clusters_.member_distances.data(), intervals_.data(),
      static_cast<std::int64_t>(intervals_.size()), limit_, scores_.data() + size_, members_.data() + size_);
  size_ += scanned.kept;
  counts_.distances += scanned.scored;
  intervals_.clear();
  pending_members_ = 0;
  if (size_ < tighten_at_) return;
  tighten();
  if (size_ > Limits::kRankFactor * k_ + Limits::kScanMembers) rank_by_keys();
  tighten_at_ = std::max(k_, size_ + std::max<std::int64_t>(k_, 16));
}

// At least k members have scores up to the k-th value: no neighbor is beyond the search bound of that distance.
template <Element T>
void IntervalScan<T>::tighten() {
  const F kth = bound_kth(scores_.data(), size_, k_);
  lower_search_bound(
      bounds_.search_bound_of_distance(bounds_.above(static_cast<double>(metric_distance(base_.metric, kth)), 1)));
  size_ = compact(scores_.data(), members_.data(), size_, limit_);
}

// Computes the keys of all collected members and keeps the k best so far.
template <Element T>
void IntervalScan<T>::rank_by_keys() {
  const Metric& metric = base_.metric;
  // Once k neighbors have key 0, only a smaller id can win.
  const bool only_earlier = static_cast<std::int64_t>(hits_.size()) == k_ && hits_.back().key <= 0;
  ids_.resize(std::max(ids_.size(), static_cast<std::size_t>(size_)));
  raw_.resize(ids_.size());
  std::size_t count = 0;
  for (std::int64_t i = 0; i < size_; ++i) {
    const std::int64_t id = clusters_.ids[static_cast<std::size_t>(members_[static_cast<std::size_t>(i)])];
    if (!only_earlier || id < hits_.back().id) ids_[count++] = id;
  }
  size_ = 0;
  if (count == 0) return;
  const auto finalists = static_cast<std::int64_t>(count);
  exact_query(queries_, query_, exact_row_.data());
  exact_sums(core::form_of(metric), metric.p, exact_row_.data(), base_.exact_base(), ids_.data(), finalists,
             raw_.data());
  counts_.finalists += finalists;
  keys_.resize(raw_.size());
  finish_keys(
      base_, queries_.facts(query_), [&](std::int64_t i) { return ids_[static_cast<std::size_t>(i)]; }, finalists,
      raw_.data(), keys_.data());
  const std::size_t before = hits_.size();
  const bool full = static_cast<std::int64_t>(before) == k_;
  for (std::size_t i = 0; i < count; ++i) {
    const core::Hit<F> hit{keys_[i], ids_[i]};
    if (!full || hit < hits_[before - 1]) hits_.push_back(hit);
  }
  if (hits_.size() == before) return;
  sort_hits(hits_);
  if (static_cast<std::int64_t>(hits_.size()) < k_) return;
  hits_.resize(static_cast<std::size_t>(k_));
  lower_search_bound(bounds_.search_bound(hits_.back().key));
}

template <Element T>
auto IntervalScan<T>::run(std::int64_t query, const CandidateClusters<F>& candidates)
    -> const std::vector<core::Hit<F>>& {
  query_ = query;
  row_ = working_rows(queries_, query, 1, row_buffer_.data()).data;
  hits_.clear();
  size_ = 0;
  tighten_at_ = k_;
  search_bound_ = std::numeric_limits<double>::infinity();
  limit_ = std::numeric_limits<F>::infinity();
  lower_search_bound(candidates.search_bound());
  const std::int64_t nearest = measure_centers(candidates);
  add_interval(candidates, nearest);
  scan();
  const std::int64_t within = list_within(center_distances_.data(), candidates.radii().data(),
                                          static_cast<std::int64_t>(candidates.clusters().size()),
                                          bounds_.apart_bound(search_bound_), within_.data());
  for (std::int64_t i = 0; i < within; ++i) {
    const auto candidate = static_cast<std::int64_t>(within_[static_cast<std::size_t>(i)]);
    if (candidate == nearest) continue;
    add_interval(candidates, candidate);
  }
  scan();
  if (size_ > k_) tighten();
  rank_by_keys();
  return hits_;
}

#define KITH_INSTANTIATE(T) template class IntervalScan<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
