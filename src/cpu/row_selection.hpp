// row_selection.hpp: the k smallest of keys that come in the order of their ids, by threshold filtering: keys that are
// not above the k-th so far are kept. Ties go to the smaller id, NaN comes last.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/order.hpp"
#include "cpu/brute/kth_value.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/sort_hits.hpp"

namespace kith::cpu {

template <class F>
std::vector<core::Hit<F>> best(std::vector<core::Hit<F>> hits, std::int64_t k) {
  sort_hits(hits);
  if (static_cast<std::int64_t>(hits.size()) > k) hits.resize(static_cast<std::size_t>(k));
  return hits;
}

inline std::int64_t buffer_capacity(std::int64_t cols, std::int64_t k) {
  return std::min(4 * k, cols) + 4 * kSlack;
}

// The k smallest keys of a range of columns of one row. Later columns lose ties, so once k keys are at most v, a later
// key must be below v.
template <class F>
class RowSelection {
 public:
  RowSelection(std::int64_t first, std::int64_t count, std::int64_t k)
      : first_(first),
        k_(std::min(k, count)),
        capacity_(buffer_capacity(count, k_)),
        keys_(static_cast<std::size_t>(capacity_)),
        offsets_(keys_.size()) {}

  // Filters the keys of columns at … at + count − 1.
  void add(const F* keys, std::int64_t count, std::int64_t at) {
    for (std::int64_t done = 0; done < count;) {
      const auto result =
          filter(keys + done, nullptr, count - done, threshold_, F{0}, static_cast<OffsetOf<F>>(at + done - first_),
                 keys_.data() + size_, offsets_.data() + size_, capacity_ - size_);
      done += result.consumed;
      size_ += result.kept;
      if (done < count) keep_best();
    }
  }

  std::vector<core::Hit<F>> finish() {
    if (size_ > k_) keep_best();
    std::vector<core::Hit<F>> hits;
    hits.reserve(static_cast<std::size_t>(size_));
    for (std::size_t i = 0; i < static_cast<std::size_t>(size_); ++i)
      hits.push_back({keys_[i], first_ + static_cast<std::int64_t>(offsets_[i])});
    return best(std::move(hits), k_);
  }

 private:
  // Keeps all keys below the k-th and the first of those equal to it; drops NaN if there are k numbers.
  void keep_best() {
    const F limit = kth_value(keys_.data(), size_, k_, 0);
    if (limit == std::numeric_limits<F>::infinity()) return keep_first();
    std::int64_t below = 0;
    for (std::int64_t i = 0; i < size_; ++i) below += keys_[static_cast<std::size_t>(i)] < limit ? 1 : 0;
    compact([&, ties = k_ - below](F key) mutable { return key < limit || (key == limit && ties-- > 0); });
    threshold_ = std::nextafter(limit, -std::numeric_limits<F>::infinity());
  }

  // Keeps k keys if fewer are finite: infinities before NaN, and of each the first ones.
  void keep_first() {
    std::int64_t numbers = 0;
    for (std::int64_t i = 0; i < size_; ++i) numbers += std::isnan(keys_[static_cast<std::size_t>(i)]) ? 0 : 1;
    std::int64_t finite = count_at_most(keys_.data(), size_, std::numeric_limits<F>::max());
    compact([&, infinities = std::max<std::int64_t>(0, k_ - finite),
             nans = std::max<std::int64_t>(0, k_ - numbers)](F key) mutable {
      if (std::isnan(key)) return nans-- > 0;
      return key < std::numeric_limits<F>::infinity() || infinities-- > 0;
    });
  }

  template <class Keep>
  void compact(Keep keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size_); ++i) {
      if (!keep(keys_[i])) continue;
      keys_[kept] = keys_[i];
      offsets_[kept++] = offsets_[i];
    }
    size_ = static_cast<std::int64_t>(kept);
  }

  std::int64_t first_;
  std::int64_t k_;
  std::int64_t capacity_;
  std::vector<F> keys_;
  std::vector<OffsetOf<F>> offsets_;
  std::int64_t size_ = 0;
  F threshold_ = std::numeric_limits<F>::infinity();
};

}  // namespace kith::cpu
