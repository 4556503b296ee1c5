#include "cpu/tree/within.hpp"

#include <limits>

#include "core/instantiate.hpp"
#include "cpu/tree/listed_keys.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kDecided = 256;  // points whose keys are computed together

}  // namespace

template <Element T>
Within<T>::Within(const PreparedRows<T>& base, const Tree<F>& tree, const PreparedRows<T>& queries)
    : base_(base), tree_(tree), queries_(queries), query_(base, tree), form_(core::form_of(base.metric)) {
  constexpr auto kCapacity = static_cast<std::size_t>(kDecided + kLeafPoints + 2 * kSlack);
  scores_.resize(kCapacity);
  points_.resize(kCapacity);
  ids_.resize(kCapacity);
  raw_.resize(kCapacity);
  keys_.resize(kCapacity);
  near_ = {scores_.data(), points_.data(), 0, kDecided, 0, 0, tree.rows, this, &Within::decide};
}

template <Element T>
void Within<T>::begin(std::int64_t query, F radius) {
  radius_ = radius;
  counted_ = 0;
  near_.size = 0;
  query_.set(queries_, query);
  near_.limit = query_.limit_of(radius);
  near_.box_limit = near_.limit;
}

// Computes the keys of the collected points.
template <Element T>
void Within<T>::decide() {
  const std::int64_t count = near_.size;
  near_.size = 0;
  if (count == 0) return;
  listed_keys(base_, tree_, query_.exact(), points_.data(), count, ids_.data(), raw_.data(), keys_.data());
  finalists_ += count;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) take(keys_[i], ids_[i]);
}

template <Element T>
void Within<T>::take(F key, std::int64_t id) {
  if (!(key <= radius_) || id == excluded_) return;
  ++counted_;
  if (hits_ != nullptr) hits_->push_back({key, id});
}

// Where scores tell nothing.
template <Element T>
void Within<T>::decide_everything() {
  finalists_ += tree_.rows;
  for (std::int64_t id = 0; id < tree_.rows; ++id) {
    const double raw = given_sum(base_, tree_, query_.exact(), id);
    take(static_cast<F>(core::finish(base_.metric, raw, {}, {}, tree_.dims)), id);
  }
}

template <Element T>
void Within<T>::list(std::int64_t query, F radius, std::int64_t excluded, std::vector<core::Hit<F>>& hits) {
  begin(query, radius);
  excluded_ = excluded;
  hits_ = &hits;
  if (!query_.is_certain()) return decide_everything();
  walk_tree(form_, base_.metric.p, tree_.view(), query_.row(), -1, near_);
  decide();
}

template <Element T>
std::int64_t Within<T>::count(std::int64_t query, F radius, std::int64_t excluded) {
  begin(query, radius);
  hits_ = nullptr;
  excluded_ = excluded;
  if (!query_.is_certain()) {
    decide_everything();
    return counted_;
  }
  excluded_ = -1;
  const std::int64_t proven =
      count_in_tree(form_, base_.metric.p, tree_.view(), query_.row(), query_.surely_within(radius), near_);
  decide();
  // A query that is a point is within its own radius, unless it has coordinates that are no numbers.
  const bool counts_itself = excluded >= 0 && core::raw_sum(form_, base_.metric.p, query_.exact(), 1, 0.0,
                                                            query_.exact(), 1, 0.0, tree_.dims) == 0;
  return proven + counted_ - (counts_itself ? 1 : 0);
}

#define KITH_INSTANTIATE(T) template class Within<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
