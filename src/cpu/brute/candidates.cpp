// candidates.cpp: limits of scores from the k-th score and from exact keys.
#include "cpu/brute/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "cpu/brute/kth_value.hpp"
#include "cpu/finish_keys.hpp"
#include "cpu/sort_hits.hpp"

namespace kith::cpu {

template <Element T>
double Candidates<T>::tile_error(const SelectionContext<T>& context, std::int64_t tile) const {
  if (!context.bounds.is_absolute()) return 0;
  return context.bounds.error(context.queries.facts(query_).square_norm,
                              context.part.tile_square_norms[static_cast<std::size_t>(tile)]);
}

template <Element T>
void Candidates<T>::set_tile_threshold(const SelectionContext<T>& context) {
  tile_threshold_ =
      context.bounds.is_absolute() ? context.bounds.computed_limit(score_limit_, tile_error_) : threshold_;
}

template <Element T>
void Candidates<T>::update_threshold(const SelectionContext<T>& context) {
  threshold_ = context.bounds.computed_limit(score_limit_, 0);
  // Exact scores have the order of keys, and later rows lose ties: they must be strictly below the k-th.
  if (context.bounds.is_exact())
    threshold_ = std::min(threshold_, std::nextafter(exact_limit_, -std::numeric_limits<F>::infinity()));
}

template <Element T>
void Candidates<T>::begin_tile(SelectionContext<T>& context, std::int64_t tile) {
  tile_first_ = tile * context.part.tile_rows;
  tile_error_ = tile_error(context, tile);
  if (size_ >= std::max(refresh_at_, kRefreshFactor * context.k)) {
    tighten(context);
    drop_beyond_limit(context);
    refresh_at_ = kRefreshFactor * size_;
  }
  set_tile_threshold(context);
}

template <Element T>
void Candidates<T>::add_scores(SelectionContext<T>& context, std::int64_t first, const F* scores, const F* bias,
                               std::int64_t count) {
  const F raise = core::round_up<F>(tile_error_);
  for (std::int64_t done = 0; done < count;) {
    const auto offset = static_cast<OffsetOf<F>>(tile_first_ + first + done);
    const auto result = filter(scores + done, bias != nullptr ? bias + done : nullptr, count - done, tile_threshold_,
                               raise, offset, scores_ + size_, offsets_ + size_, capacity_ - size_);
    done += result.consumed;
    size_ += result.kept;
    if (done == count) return;
    shrink(context);
    set_tile_threshold(context);
  }
}

template <Element T>
void Candidates<T>::shrink(SelectionContext<T>& context) {
  tighten(context);
  drop_beyond_limit(context);
  const std::int64_t wanted = std::max(kSlack, (capacity_ - context.k) / 2);
  if (size_ + wanted > capacity_) rank_by_keys(context);
}

template <Element T>
void Candidates<T>::lower_limit(const SelectionContext<T>& context, F key) {
  if (!(key < key_limit_)) return;
  key_limit_ = key;
  score_limit_ = context.bounds.true_limit(key, context.queries.facts(query_).square_norm);
}

// At least k candidates have scores up to the k-th value, so no neighbor's key is above that value's bound.
template <Element T>
void Candidates<T>::tighten(const SelectionContext<T>& context) {
  if (size_ < context.k) return;
  const bool exact = context.bounds.is_exact();
  const F raised = kth_value(scores_, size_, context.k, exact ? 0 : context.k / 8);
  if (exact) exact_limit_ = std::min(exact_limit_, raised);
  lower_limit(context, context.bounds.key_above(raised, context.queries.facts(query_).square_norm));
  update_threshold(context);
}

// Uses the largest error of all tiles, so that one threshold serves the whole buffer.
template <Element T>
void Candidates<T>::drop_beyond_limit(const SelectionContext<T>& context) {
  const double error = tile_error(context, context.part.max_norm_tile);
  size_ = compact(scores_, offsets_, size_, context.bounds.computed_limit(score_limit_, 2 * error));
  if (context.bounds.is_exact()) drop_lost_ties(context.k);
}

// Drops candidates that are no better than the k-th score and come after k that are at least as good.
template <Element T>
void Candidates<T>::drop_lost_ties(std::int64_t k) {
  std::int64_t kept = 0;
  std::int64_t ahead = 0;
  for (std::int64_t i = 0; i < size_; ++i) {
    if (ahead >= k && scores_[i] >= exact_limit_) continue;
    ahead += scores_[i] <= exact_limit_ ? 1 : 0;
    scores_[kept] = scores_[i];
    offsets_[kept++] = offsets_[i];
  }
  size_ = kept;
}

// Computes the keys of all candidates in the buffer and keeps the k best so far.
template <Element T>
void Candidates<T>::rank_by_keys(SelectionContext<T>& context) {
  const Metric& metric = context.base.metric;
  const auto count = static_cast<std::size_t>(size_);
  context.query.resize(static_cast<std::size_t>(context.base.view.cols));
  context.ids.resize(std::max(context.ids.size(), count));
  context.raw.resize(std::max(context.raw.size(), count));
  exact_query(context.queries, query_, context.query.data());
  for (std::size_t i = 0; i < count; ++i) context.ids[i] = context.part.first + static_cast<std::int64_t>(offsets_[i]);
  exact_sums(core::form_of(metric), metric.p, context.query.data(), context.base.exact_base(), context.ids.data(),
             size_, context.raw.data());
  context.finalists += size_;
  size_ = 0;
  context.keys.resize(context.raw.size());
  finish_keys(
      context.base, context.queries.facts(query_),
      [&](std::int64_t i) { return context.ids[static_cast<std::size_t>(i)]; }, static_cast<std::int64_t>(count),
      context.raw.data(), context.keys.data());
  // With k numbers only a smaller one matters: later rows lose ties.
  const bool full = static_cast<std::int64_t>(hits_.size()) == context.k && !std::isnan(hits_.back().key);
  std::vector<core::Hit<F>>& all = context.hits;
  all.assign(hits_.begin(), hits_.end());
  for (std::size_t i = 0; i < count; ++i)
    if (!full || context.keys[i] < hits_.back().key) all.push_back({context.keys[i], context.ids[i]});
  if (all.size() == hits_.size()) return;
  sort_hits(all);
  hits_.assign(all.begin(), all.begin() + std::min(static_cast<std::ptrdiff_t>(all.size()), context.k));
  if (static_cast<std::int64_t>(hits_.size()) < context.k) return;
  lower_limit(context, hits_.back().key);
  // Once k distances are 0, no later row can win.
  if (hits_.back().key <= 0 && metric.kind != MetricKind::inner_product)
    score_limit_ = -std::numeric_limits<double>::infinity();
  update_threshold(context);
}

template <Element T>
auto Candidates<T>::finish(SelectionContext<T>& context) -> std::vector<core::Hit<F>> {
  if (size_ > context.k) {
    tighten(context);
    drop_beyond_limit(context);
  }
  if (size_ > 0) rank_by_keys(context);
  return std::move(hits_);
}

#define KITH_INSTANTIATE(T) template class Candidates<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
