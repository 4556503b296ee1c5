#include "cpu/triangle/query_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "cpu/sort_hits.hpp"
#include "cpu/triangle/length.hpp"

namespace kith::cpu {
namespace {

// Members scored before the bound is looked at again.
constexpr std::int64_t kScanned = 256;
// Collected beyond so many times k, candidates are settled by their keys: scores cannot part ties.
constexpr std::int64_t kSettled = 8;

// A longer stretch is scanned in parts, so that buffers stay small.
constexpr std::int64_t kLongest = 4096;
// In larger clusters the window is looked up first.
constexpr std::int64_t kLookedUp = 512;

}  // namespace

template <Element T>
QuerySearch<T>::QuerySearch(const PreparedRows<T>& base, const Clusters<F>& clusters, const PreparedRows<T>& queries,
                            std::int64_t k)
    : base_(base),
      clusters_(clusters),
      queries_(queries),
      bounds_(base.metric, base.view.cols),
      form_(core::length_form(base.metric)),
      k_(k),
      row_buffer_(static_cast<std::size_t>(base.view.cols)),
      exact_row_(static_cast<std::size_t>(base.view.cols)) {}

// Lengths to the centers; returns the candidate whose center is nearest.
template <Element T>
std::int64_t QuerySearch<T>::measure_centers(const CandidateClusters<F>& candidates) {
  const LaneBlocks<F> centers = candidates.centers();
  const auto room = static_cast<std::size_t>(centers.points + 2 * kSlack);
  if (center_lengths_.size() < room) {
    center_lengths_.resize(room);
    within_.resize(room);
  }
  const std::int64_t nearest = block_lengths(form_, base_.metric.p, row_, centers, center_lengths_.data());
  if (form_ == core::Form::power)
    for (std::int64_t i = 0; i < centers.points; ++i) {
      F& each = center_lengths_[static_cast<std::size_t>(i)];
      each = static_cast<F>(std::pow(static_cast<double>(each), 1 / base_.metric.p));
    }
  counts_.center_distances += centers.points;
  return nearest;
}

template <Element T>
void QuerySearch<T>::lower(double theta) {
  if (!(theta < theta_)) return;
  theta_ = theta;
  limit_ = bounds_.raw_limit(theta);
}

template <Element T>
void QuerySearch<T>::add_stretch(const CandidateClusters<F>& candidates, std::int64_t candidate) {
  const auto i = static_cast<std::size_t>(candidate);
  const std::int64_t cluster = candidates.clusters()[i];
  std::int64_t first = clusters_.first(cluster);
  std::int64_t last = clusters_.first(cluster + 1);
  const F* lengths = clusters_.lengths.data();
  const core::LengthWindow window =
      bounds_.window(static_cast<double>(center_lengths_[i]), static_cast<double>(lengths[first]), theta_);
  constexpr double kRounding = 4 * core::unit_roundoff<F>();
  const F high = static_cast<F>(window.high * (1 + kRounding));
  const F low = window.low > 0 ? static_cast<F>(window.low * (1 - kRounding)) : F{0};
  ++counts_.clusters_visited;
  if (last - first > kLookedUp) {
    const F* from = std::partition_point(lengths + first, lengths + last, [=](F each) { return each > high; });
    last = std::partition_point(from, lengths + last, [=](F each) { return each >= low; }) - lengths;
    first = from - lengths;
  }
  for (; first < last; first += kLongest) {
    const std::int64_t end = std::min(last, first + kLongest);
    stretches_.push_back({first, end, low, high});
    waiting_ += end - first;
    if (waiting_ >= kScanned) scan();
  }
}

template <Element T>
void QuerySearch<T>::scan() {
  const auto needed = static_cast<std::size_t>(size_ + waiting_ + kSlack);
  if (scores_.size() < needed) {
    scores_.resize(needed + needed / 2);
    members_.resize(scores_.size());
  }
  const ScanResult scanned = scan_stretches(
      form_, base_.metric.p, row_, clusters_.member_blocks(), clusters_.lengths.data(), stretches_.data(),
      static_cast<std::int64_t>(stretches_.size()), limit_, scores_.data() + size_, members_.data() + size_);
  size_ += scanned.kept;
  counts_.distances += scanned.scored;
  stretches_.clear();
  waiting_ = 0;
  if (size_ < thin_at_) return;
  tighten();
  if (size_ > kSettled * k_ + kScanned) settle();
  thin_at_ = std::max(k_, size_ + std::max<std::int64_t>(k_, 16));
}

// At least k candidates have scores up to the k-th value: no neighbor is beyond the reach of that length.
template <Element T>
void QuerySearch<T>::tighten() {
  const F kth = bound_kth(scores_.data(), size_, k_);
  lower(bounds_.reach_of_length(bounds_.above(static_cast<double>(length_of(base_.metric, kth)), 1)));
  size_ = compact(scores_.data(), members_.data(), size_, limit_);
}

// The keys of all that was collected; the k best ever seen stay.
template <Element T>
void QuerySearch<T>::settle() {
  const Metric& metric = base_.metric;
  // Once k copies of the query are there, only a smaller id can do better.
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
  const core::RowFacts facts = queries_.facts(query_);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = core::finish(metric, raw_[i], facts, base_.facts(ids_[i]), base_.view.cols);
    hits_.push_back({static_cast<F>(value), ids_[i]});
  }
  sort_hits(hits_);
  counts_.finalists += finalists;
  if (static_cast<std::int64_t>(hits_.size()) < k_) return;
  hits_.resize(static_cast<std::size_t>(k_));
  lower(bounds_.reach(hits_.back().key));
}

template <Element T>
auto QuerySearch<T>::run(std::int64_t query, const CandidateClusters<F>& candidates)
    -> const std::vector<core::Hit<F>>& {
  query_ = query;
  row_ = working_rows(queries_, query, 1, row_buffer_.data()).data;
  hits_.clear();
  size_ = 0;
  thin_at_ = k_;
  theta_ = std::numeric_limits<double>::infinity();
  limit_ = std::numeric_limits<F>::infinity();
  lower(candidates.theta());
  const std::int64_t nearest = measure_centers(candidates);
  add_stretch(candidates, nearest);
  scan();
  const std::int64_t within =
      list_within(center_lengths_.data(), candidates.radii().data(),
                  static_cast<std::int64_t>(candidates.clusters().size()), bounds_.apart_reach(theta_), within_.data());
  for (std::int64_t i = 0; i < within; ++i) {
    const auto candidate = static_cast<std::int64_t>(within_[static_cast<std::size_t>(i)]);
    if (candidate == nearest) continue;
    add_stretch(candidates, candidate);
  }
  scan();
  if (size_ > k_) tighten();
  settle();
  return hits_;
}

template <Element T>
std::int64_t QuerySearch<T>::bytes(std::int64_t rows, std::int64_t clusters, std::int64_t dims, std::int64_t k,
                                   std::int64_t element) {
  const std::int64_t most = (kSettled + 1) * k + 2 * kScanned + kLongest;
  const std::int64_t collected = 3 * std::min(most, rows + k) / 2 + 2 * kSlack;
  return collected * (3 * element + 8 + 8 + 16) + clusters * (element + 16) + dims * (element + 8);
}

template class QuerySearch<float>;
template class QuerySearch<double>;
template class QuerySearch<std::uint8_t>;
template class QuerySearch<std::int8_t>;

}  // namespace kith::cpu
