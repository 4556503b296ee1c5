#include "cpu/tree/within.hpp"

#include <limits>

#include "cpu/tree/listed_keys.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kDecided = 256;  // points whose keys are computed together

}  // namespace

template <Element T>
Within<T>::Within(const PreparedRows<T>& base, const Tree<F>& tree, const PreparedRows<T>& queries)
    : base_(base),
      tree_(tree),
      queries_(queries),
      bounds_(base.metric, base.view.cols, false, core::range_of_type<T>(), base.scale),
      form_(core::form_of(base.metric)),
      row_(static_cast<std::size_t>(tree.dims)),
      exact_row_(static_cast<std::size_t>(tree.dims)) {
  constexpr auto kCapacity = static_cast<std::size_t>(kDecided + kLeafPoints + 2 * kSlack);
  scores_.resize(kCapacity);
  points_.resize(kCapacity);
  ids_.resize(kCapacity);
  raw_.resize(kCapacity);
  keys_.resize(kCapacity);
  near_ = {scores_.data(), points_.data(), 0, kDecided, 0, tree.rows, this, &Within::decide};
}

template <Element T>
auto Within<T>::begin(std::int64_t query, F radius) -> const F* {
  radius_ = radius;
  counted_ = 0;
  near_.size = 0;
  near_.limit = bounds_.computed_limit(bounds_.true_limit(radius, 0), 0);
  exact_query(queries_, query, exact_row_.data());
  return working_rows(queries_, query, 1, row_.data()).data;
}

// Scores up to the result belong to keys that are within; −1 where none is known.
template <Element T>
auto Within<T>::surely_within(F radius) const -> F {
  constexpr auto kSlightly = static_cast<F>(sizeof(F) == 4 ? 1e-5 : 1e-13);
  const F score = near_.limit * (1 - kSlightly);
  const bool is_proven = score < std::numeric_limits<F>::infinity() && bounds_.key_above(score, 0) <= radius;
  return is_proven ? score : F{-1};
}

// Computes the keys of the collected points.
template <Element T>
void Within<T>::decide() {
  const std::int64_t count = near_.size;
  near_.size = 0;
  if (count == 0) return;
  listed_keys(base_, tree_, exact_row_.data(), points_.data(), count, ids_.data(), raw_.data(), keys_.data());
  finalists_ += count;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!(keys_[at] <= radius_) || ids_[at] == excluded_) continue;
    ++counted_;
    if (hits_ != nullptr) hits_->push_back({keys_[at], ids_[at]});
  }
}

template <Element T>
void Within<T>::list(std::int64_t query, F radius, std::int64_t excluded, std::vector<core::Hit<F>>& hits) {
  const F* const row = begin(query, radius);
  excluded_ = excluded;
  hits_ = &hits;
  walk_tree(form_, base_.metric.p, tree_.view(), row, -1, near_);
  decide();
}

template <Element T>
std::int64_t Within<T>::count(std::int64_t query, F radius, std::int64_t excluded) {
  const F* const row = begin(query, radius);
  hits_ = nullptr;
  excluded_ = -1;
  const std::int64_t proven = count_in_tree(form_, base_.metric.p, tree_.view(), row, surely_within(radius), near_);
  decide();
  // A query that is a point is within its own radius, unless it has coordinates that are no numbers.
  const bool counts_itself = excluded >= 0 && core::raw_sum(form_, base_.metric.p, exact_row_.data(), 1, 0.0,
                                                            exact_row_.data(), 1, 0.0, tree_.dims) == 0;
  return proven + counted_ - (counts_itself ? 1 : 0);
}

template class Within<float>;
template class Within<double>;
template class Within<std::uint8_t>;
template class Within<std::int8_t>;

}  // namespace kith::cpu
