#include "cpu/tree/nearest.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/instantiate.hpp"
#include "core/sizes.hpp"
#include "cpu/sort_hits.hpp"
#include "cpu/tree/listed_keys.hpp"

namespace kith::cpu {
namespace {

// More collected points than this are ranked by their keys.
std::int64_t most_collected(std::int64_t k) {
  return core::TreeLimits::kRankFactor * k + core::TreeLimits::kRanked;
}

// Scores above this belong to keys that the type of keys cannot hold: they are infinite, and tie.
template <class F>
F finite_limit(const core::ScoreBounds<F>& bounds, const Metric& metric, std::int64_t dims, double scale) {
  if constexpr (std::is_same_v<F, double>) return std::numeric_limits<F>::infinity();
  constexpr double kRoundsToInfinity = 0x1p128;
  return bounds.computed_limit(core::raw_of_distance(metric, kRoundsToInfinity, dims) * scale * scale, 0);
}

}  // namespace

template <Element T>
Nearest<T>::Nearest(const PreparedRows<T>& base, const Tree<F>& tree)
    : base_(base),
      tree_(tree),
      bounds_(base.metric, base.view.cols, false, core::range_of_type<T>(), base.scale),
      form_(core::form_of(base.metric)),
      finite_limit_(finite_limit(bounds_, base.metric, base.view.cols, base.scale)),
      row_(static_cast<std::size_t>(tree.dims)),
      exact_row_(static_cast<std::size_t>(tree.dims)) {}

template <Element T>
void Nearest<T>::set_neighbors(std::int64_t k) {
  finalists_ = 0;
  if (k == k_) return;
  k_ = k;
  const auto capacity = static_cast<std::size_t>(core::tree_candidates(k, tree_.rows));
  if (scores_.size() < capacity) {
    scores_.resize(capacity);
    points_.resize(capacity);
  }
  near_ = {scores_.data(), points_.data(), 0, 0, 0, k, this, &Nearest::tighten};
}

template <Element T>
void Nearest<T>::lower_limit(F key) {
  near_.limit = std::min(near_.limit, bounds_.computed_limit(bounds_.true_limit(key, 0), 0));
}

// At least k points have scores up to the k-th value, and no neighbor a larger key than that of the farthest of them.
template <Element T>
void Nearest<T>::thin_out() {
  const F kth = k_ == 1 ? *std::min_element(scores_.data(), scores_.data() + near_.size)
                        : bound_kth(scores_.data(), near_.size, k_);
  lower_limit(bounds_.key_above(kth, 0));
  near_.size = compact(scores_.data(), points_.data(), near_.size, near_.limit);
}

template <Element T>
void Nearest<T>::tighten() {
  thin_out();
  if (near_.size > most_collected(k_)) rank_by_keys();
  near_.tighten_at = std::max(k_, near_.size + std::max<std::int64_t>(k_ / 2, 8));
}

// Computes the keys of all collected points and keeps the k best so far.
template <Element T>
void Nearest<T>::rank_by_keys() {
  const auto count = static_cast<std::size_t>(near_.size);
  near_.size = 0;
  if (count == 0) return;
  if (ids_.size() < count) {
    ids_.resize(count);
    keys_.resize(count);
    raw_.resize(count + static_cast<std::size_t>(kSlack));
  }
  const auto finalists = static_cast<std::int64_t>(count);
  listed_keys(base_, tree_, exact_row_.data(), points_.data(), finalists, ids_.data(), raw_.data(), keys_.data());
  finalists_ += finalists;
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
  lower_limit(hits_.back().key);
}

// All points that were not collected are at an infinite distance: those with the smallest ids come first.
template <Element T>
void Nearest<T>::add_infinite() {
  constexpr F kInfinity = std::numeric_limits<F>::infinity();
  while (!hits_.empty() && !(hits_.back().key < kInfinity)) hits_.pop_back();
  ids_.clear();
  for (const core::Hit<F>& hit : hits_) ids_.push_back(hit.id);
  std::sort(ids_.begin(), ids_.end());
  std::size_t next = 0;
  for (std::int64_t id = 0; static_cast<std::int64_t>(hits_.size()) < k_; ++id) {
    if (next < ids_.size() && ids_[next] == id) {
      ++next;
    } else {
      hits_.push_back({kInfinity, id});
    }
  }
  ids_.resize(keys_.size());
}

// Distances that are no numbers are not collected: where fewer than k others are there, all points are ranked.
template <Element T>
void Nearest<T>::rank_everything() {
  hits_.clear();
  for (std::int64_t id = 0; id < tree_.rows; ++id) {
    const double raw = core::raw_sum(form_, base_.metric.p, exact_row_.data(), 1, 0.0, base_.view.row(id),
                                     base_.view.col_stride, 0.0, tree_.dims);
    hits_.push_back({static_cast<F>(core::finish(base_.metric, raw, {}, {}, tree_.dims)), id});
  }
  finalists_ += tree_.rows;
  sort_hits(hits_);
  hits_.resize(static_cast<std::size_t>(k_));
}

template <Element T>
auto Nearest<T>::run(const PreparedRows<T>& queries, std::int64_t query, std::int64_t seed)
    -> const std::vector<core::Hit<F>>& {
  const F* const row = working_rows(queries, query, 1, row_.data()).data;
  exact_query(queries, query, exact_row_.data());
  hits_.clear();
  near_.size = 0;
  near_.tighten_at = k_;
  near_.limit = finite_limit_;
  walk_tree(form_, base_.metric.p, tree_.view(), row, seed, near_);
  if (near_.size > k_) thin_out();
  rank_by_keys();
  if (static_cast<std::int64_t>(hits_.size()) < k_) {
    if (finite_limit_ < std::numeric_limits<F>::infinity()) {
      add_infinite();
    } else {
      rank_everything();
    }
  }
  return hits_;
}

template <Element T>
std::unique_ptr<Nearest<T>> NearestPool<T>::take(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree,
                                                 std::int64_t k) {
  std::unique_ptr<Nearest<T>> nearest;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      nearest = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (nearest == nullptr) nearest = std::make_unique<Nearest<T>>(base, tree);
  nearest->set_neighbors(k);
  return nearest;
}

template <Element T>
void NearestPool<T>::give_back(std::unique_ptr<Nearest<T>> nearest, std::int64_t k) {
  constexpr std::int64_t kMostNeighbors = 1024;  // for more, buffers are large and soon made
  constexpr std::size_t kMostIdle = 16;
  if (k > kMostNeighbors) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(nearest));
}

#define KITH_INSTANTIATE(T)  \
  template class Nearest<T>; \
  template class NearestPool<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
