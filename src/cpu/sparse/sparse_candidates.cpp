// sparse_candidates.cpp: limits of scores from the k-th score and from keys.
#include "cpu/sparse/sparse_candidates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "core/sizes.hpp"
#include "cpu/brute/kth_value.hpp"
#include "cpu/sort_hits.hpp"
#include "cpu/sparse/sparse_key.hpp"

namespace kith::cpu {
namespace {

using core::kSlack;

template <class T>
void drop_zeros(T* scores, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kZero = std::bit_cast<Bits>(T{-0.0});
  for (std::int64_t i = 0; i < count; ++i)
    scores[i] = std::bit_cast<Bits>(scores[i]) == kZero ? std::numeric_limits<T>::infinity() : scores[i];
}

}  // namespace

std::int64_t sparse_capacity(std::int64_t k, std::int64_t rows) {
  constexpr std::int64_t kFew = 256;
  return std::min(4 * k + kFew, std::max(rows, k)) + 2 * kSlack;
}

template <SparseElement T>
SparseCandidates<T>::SparseCandidates(const SparseQuery<T>& query, T limit, T* scores, OffsetOf<T>* offsets,
                                      std::int64_t capacity)
    : query_(query),
      bounds_(query.metric, query.queries.row(query.query).count + query.base.most_entries,
              query.queries.size(query.query), query.largest_size,
              query.base.is_integral && query.queries.is_integral && query.scale == 1, query.scale),
      scores_(scores),
      offsets_(offsets),
      capacity_(capacity) {
  lower_limit(limit);
}

template <SparseElement T>
void SparseCandidates<T>::lower_limit(T key) {
  if (!(key < key_limit_)) return;
  key_limit_ = key;
  score_limit_ = bounds_.true_limit(key);
}

// Exact scores have the order of keys, and later rows lose ties: they must be strictly below the k-th.
template <SparseElement T>
void SparseCandidates<T>::set_block_threshold() {
  threshold_ = bounds_.computed_limit(score_limit_, block_error_);
  if (bounds_.is_exact())
    threshold_ = std::min(threshold_, std::nextafter(exact_limit_, -std::numeric_limits<T>::infinity()));
}

template <SparseElement T>
bool SparseCandidates<T>::zeros_have_lost() const {
  const T key = query_.metric == SparseMetric::cosine ? T{1} : T{0};
  return static_cast<std::int64_t>(hits_.size()) == query_.k && hits_.back().key <= key;
}

template <SparseElement T>
void SparseCandidates<T>::add_block(std::int64_t first, T* scores, const T* bias, std::int64_t count, double block_size,
                                    bool tells_zeros) {
  block_error_ = bounds_.error(block_size);
  if (size_ >= std::max(refresh_at_, kRefreshFactor * query_.k)) {
    tighten();
    drop_beyond_limit();
    refresh_at_ = kRefreshFactor * size_;
  }
  set_block_threshold();
  bool drops_zeros = tells_zeros && zeros_have_lost();
  if (drops_zeros) drop_zeros(scores, count);
  const T raise = core::round_up<T>(block_error_);
  for (std::int64_t done = 0; done < count;) {
    const auto offset = static_cast<OffsetOf<T>>(first - query_.first + done);
    const auto result = filter(scores + done, bias != nullptr ? bias + done : nullptr, count - done, threshold_, raise,
                               offset, scores_ + size_, offsets_ + size_, capacity_ - size_);
    done += result.consumed;
    size_ += result.kept;
    if (done == count) return;
    shrink();
    set_block_threshold();
    if (drops_zeros || !tells_zeros || !zeros_have_lost()) continue;
    drop_zeros(scores + done, count - done);
    drops_zeros = true;
  }
}

template <SparseElement T>
void SparseCandidates<T>::shrink() {
  tighten();
  drop_beyond_limit();
  const std::int64_t wanted = std::max(kSlack, (capacity_ - query_.k) / 2);
  if (size_ + wanted > capacity_) rank_by_keys();
}

// At least k candidates have scores up to the k-th value, so no neighbor's key is above that value's bound.
template <SparseElement T>
void SparseCandidates<T>::tighten() {
  if (size_ < query_.k) return;
  const bool exact = bounds_.is_exact();
  const T raised = kth_value(scores_, size_, query_.k, exact ? 0 : query_.k / 8);
  if (exact) exact_limit_ = std::min(exact_limit_, raised);
  lower_limit(bounds_.key_above(raised));
}

// Scores of the buffer were raised by errors of their blocks, of which none is larger than that of all.
template <SparseElement T>
void SparseCandidates<T>::drop_beyond_limit() {
  const double error = bounds_.error(query_.largest_size);
  size_ = compact(scores_, offsets_, size_, bounds_.computed_limit(score_limit_, 2 * error));
  if (bounds_.is_exact()) drop_lost_ties();
}

// Drops candidates that are no better than the k-th score and come after k that are at least as good.
template <SparseElement T>
void SparseCandidates<T>::drop_lost_ties() {
  std::int64_t kept = 0;
  std::int64_t ahead = 0;
  for (std::int64_t i = 0; i < size_; ++i) {
    if (ahead >= query_.k && scores_[i] >= exact_limit_) continue;
    ahead += scores_[i] <= exact_limit_ ? 1 : 0;
    scores_[kept] = scores_[i];
    offsets_[kept++] = offsets_[i];
  }
  size_ = kept;
}

// Computes the keys of all candidates in the buffer and keeps the k best so far.
template <SparseElement T>
void SparseCandidates<T>::rank_by_keys() {
  const CsrRow<T> x = query_.queries.row(query_.query);
  const double x_size = query_.queries.size(query_.query);
  // With k numbers only a smaller one matters: later rows lose ties.
  const bool full = static_cast<std::int64_t>(hits_.size()) == query_.k && !std::isnan(hits_.back().key);
  const T worst = full ? hits_.back().key : T{0};
  const std::size_t before = hits_.size();
  for (std::int64_t i = 0; i < size_; ++i) {
    const std::int64_t id = query_.first + static_cast<std::int64_t>(offsets_[i]);
    const T key = sparse_key(query_.metric, x, x_size, query_.base.row(id), query_.base.size(id), query_.base.cols);
    if (!full || key < worst) hits_.push_back({key, id});
  }
  finalists_ += size_;
  size_ = 0;
  if (hits_.size() == before) return;
  sort_hits(hits_);
  if (static_cast<std::int64_t>(hits_.size()) < query_.k) return;
  hits_.resize(static_cast<std::size_t>(query_.k));
  lower_limit(hits_.back().key);
  // Once k distances are 0, no later row can win.
  if (hits_.back().key <= 0 && query_.metric != SparseMetric::inner_product)
    score_limit_ = -std::numeric_limits<double>::infinity();
}

template <SparseElement T>
std::vector<core::Hit<T>> SparseCandidates<T>::finish() {
  if (size_ > query_.k) {
    tighten();
    drop_beyond_limit();
  }
  if (size_ > 0) rank_by_keys();
  return std::move(hits_);
}

template class SparseCandidates<float>;
template class SparseCandidates<double>;

}  // namespace kith::cpu
