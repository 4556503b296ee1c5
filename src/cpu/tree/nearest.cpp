#include "cpu/tree/nearest.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "core/sizes.hpp"
#include "cpu/sort_hits.hpp"
#include "cpu/tree/listed_keys.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kIdsAhead = 16;

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

// Several at a time, without a branch: which is the least is a matter of chance. There is one at least.
template <class F>
F least_of(const F* values, std::int64_t count) {
  F least[4] = {values[0], values[0], values[0], values[0]};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::int64_t lane = 0; lane < 4; ++lane) least[lane] = std::min(least[lane], values[i + lane]);
  for (; i < count; ++i) least[0] = std::min(least[0], values[i]);
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

}  // namespace

template <Element T>
Nearest<T>::Nearest(const PreparedRows<T>& base, const Tree<F>& tree)
    : base_(base),
      tree_(tree),
      query_(base, tree),
      form_(core::form_of(base.metric)),
      finite_limit_(tree.is_periodic() ? std::numeric_limits<F>::infinity()
                                       : finite_limit(query_.bounds(), base.metric, base.view.cols, base.scale)) {}

template <Element T>
void Nearest<T>::set_wanted(const Wanted& wanted) {
  finalists_ = 0;
  max_wanted_ = core::largest_within<F>(wanted.max_distance);
  epsilon_ = wanted.epsilon;
  const std::int64_t k = wanted.k;
  if (k == k_) return;
  k_ = k;
  const auto capacity = static_cast<std::size_t>(core::tree_candidates(k, tree_.rows));
  if (scores_.size() < capacity) {
    scores_.resize(capacity);
    points_.resize(capacity);
  }
  near_ = {scores_.data(), points_.data(), 0, 0, 0, 0, k, this, &Nearest::tighten};
}

// k points are known whose keys are no larger. Epsilon counts where these are an answer: not beyond the largest
// distance that is wanted, and that distance itself is no such key.
template <Element T>
void Nearest<T>::lower_limit(F key) {
  near_.limit = std::min(near_.limit, query_.limit_of(key));
  near_.box_limit = std::min(near_.box_limit, near_.limit);
  if (!(epsilon_ > 0) || key > max_key_) return;
  const auto of_box = static_cast<F>(static_cast<double>(key) / (1 + epsilon_));
  near_.box_limit = std::min(near_.box_limit, query_.limit_of(of_box));
}

// At least k points have scores up to the k-th value, and no neighbor a larger key than that of the farthest of them.
template <Element T>
void Nearest<T>::thin_out() {
  const F kth = k_ == 1 ? least_of(scores_.data(), near_.size) : bound_kth(scores_.data(), near_.size, k_);
  lower_limit(query_.key_above(kth));
  near_.size = compact(scores_.data(), points_.data(), near_.size, near_.limit);
}

template <Element T>
void Nearest<T>::tighten() {
  thin_out();
  if (near_.size > most_collected(k_)) {
    rank_by_keys();
    if (static_cast<std::int64_t>(hits_.size()) == k_) lower_limit(hits_.back().key);
  }
  near_.tighten_at = std::max(k_, near_.size + std::max<std::int64_t>(k_ / 2, 8));
  prefetch_ids();
}

// Of what may be the answer.
template <Element T>
void Nearest<T>::prefetch_ids() const {
  for (std::int64_t i = 0; i < std::min(near_.size, kIdsAhead); ++i)
    hwy::Prefetch(tree_.ids.data() + points_[static_cast<std::size_t>(i)]);
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
  listed_keys(base_, tree_, query_.exact(), points_.data(), finalists, ids_.data(), raw_.data(), keys_.data());
  finalists_ += finalists;
  const std::size_t before = hits_.size();
  const bool full = static_cast<std::int64_t>(before) == k_;
  for (std::size_t i = 0; i < count; ++i) {
    const core::Hit<F> hit{keys_[i], ids_[i]};
    if (!full || hit < hits_[before - 1]) hits_.push_back(hit);
  }
  if (hits_.size() == before) return;
  sort_hits(hits_);
  if (static_cast<std::int64_t>(hits_.size()) > k_) hits_.resize(static_cast<std::size_t>(k_));
}

// All points that were not collected are at an infinite distance: those with the smallest ids come first.
template <Element T>
void Nearest<T>::add_infinite() {
  constexpr F kInfinite = std::numeric_limits<F>::infinity();
  while (!hits_.empty() && !(hits_.back().key < kInfinite)) hits_.pop_back();
  ids_.clear();
  for (const core::Hit<F>& hit : hits_) ids_.push_back(hit.id);
  std::sort(ids_.begin(), ids_.end());
  std::size_t next = 0;
  for (std::int64_t id = 0; static_cast<std::int64_t>(hits_.size()) < k_; ++id) {
    if (next < ids_.size() && ids_[next] == id) {
      ++next;
    } else {
      hits_.push_back({kInfinite, id});
    }
  }
  ids_.resize(keys_.size());
}

// Distances that are no numbers are not collected: where fewer than k others are there, all points are ranked. So they
// are where scores tell nothing.
template <Element T>
void Nearest<T>::rank_everything() {
  hits_.clear();
  for (std::int64_t id = 0; id < tree_.rows; ++id) {
    const double raw = given_sum(base_, tree_, query_.exact(), id);
    hits_.push_back({static_cast<F>(core::finish(base_.metric, raw, {}, {}, tree_.dims)), id});
  }
  finalists_ += tree_.rows;
  sort_hits(hits_);
  hits_.resize(static_cast<std::size_t>(k_));
}

template <Element T>
auto Nearest<T>::run(const PreparedRows<T>& queries, std::int64_t query, std::int64_t seed, F limit)
    -> const std::vector<core::Hit<F>>& {
  max_key_ = std::min(max_wanted_, limit);
  query_.set(queries, query);
  hits_.clear();
  if (query_.is_certain()) {
    near_.size = 0;
    near_.tighten_at = k_;
    near_.limit = has_max() ? std::min(finite_limit_, query_.limit_of(max_key_)) : finite_limit_;
    near_.box_limit = near_.limit;
    const TreeView<F> tree = tree_.view();
    // Without a limit all boxes on the way to the first leaf would have to be sorted.
    const std::int64_t leaf = seed >= 0 ? seed : near_leaf(form_, base_.metric.p, tree, query_.row());
    walk_tree(form_, base_.metric.p, tree, query_.row(), leaf, near_);
    prefetch_ids();
    if (near_.size > k_) thin_out();
    rank_by_keys();
    if (static_cast<std::int64_t>(hits_.size()) < k_ && !has_max()) {
      if (finite_limit_ < std::numeric_limits<F>::infinity()) {
        add_infinite();
      } else {
        rank_everything();
      }
    }
  } else {
    rank_everything();
  }
  if (has_max())
    while (!hits_.empty() && !(hits_.back().key <= max_key_)) hits_.pop_back();
  return hits_;
}

template <Element T>
std::unique_ptr<Nearest<T>> NearestPool<T>::take(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree,
                                                 const Wanted& wanted) {
  std::unique_ptr<Nearest<T>> nearest(latest_.exchange(nullptr));
  if (nearest == nullptr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      nearest = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (nearest == nullptr) nearest = std::make_unique<Nearest<T>>(base, tree);
  nearest->set_wanted(wanted);
  return nearest;
}

template <Element T>
void NearestPool<T>::give_back(std::unique_ptr<Nearest<T>> nearest, std::int64_t k) {
  constexpr std::int64_t kMostNeighbors = 1024;  // for more, buffers are large and soon made
  constexpr std::size_t kMostIdle = 16;
  if (k > kMostNeighbors) return;
  Nearest<T>* none = nullptr;
  if (latest_.compare_exchange_strong(none, nearest.get())) {
    [[maybe_unused]] const Nearest<T>* const kept = nearest.release();
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(nearest));
}

#define KITH_INSTANTIATE(T)  \
  template class Nearest<T>; \
  template class NearestPool<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
