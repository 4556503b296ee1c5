// near_list.hpp: the k nearest found for a query, sorted by (sum in working precision, id).
// Ties    a candidate that is offered again has the key it had, so a binary search finds it in the list; if it is not
//         there, it was pushed out, and its key is not below the k-th.
// Cost    an order: a comparison a candidate, a binary search for those that pass, and a few moves for those that stay.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::cpu {

// (sum, id) as one key. The bits of sums, which are not negative, have the order of the sums.
template <class F>
struct NearKeys;

template <>
struct NearKeys<float> {
  using Key = std::uint64_t;
  static Key make(float sum, std::uint32_t id) { return std::uint64_t{std::bit_cast<std::uint32_t>(sum)} << 32U | id; }
  static std::uint32_t id(Key key) { return static_cast<std::uint32_t>(key); }
  static float sum(Key key) { return std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32U)); }
};

template <>
struct NearKeys<double> {
  struct Key {
    std::uint64_t bits;
    std::uint32_t id;
    friend bool operator<(const Key& a, const Key& b) { return a.bits != b.bits ? a.bits < b.bits : a.id < b.id; }
    friend bool operator==(const Key& a, const Key& b) { return a.bits == b.bits && a.id == b.id; }
  };
  static Key make(double sum, std::uint32_t id) { return {std::bit_cast<std::uint64_t>(sum), id}; }
  static std::uint32_t id(const Key& key) { return key.id; }
  static double sum(const Key& key) { return std::bit_cast<double>(key.bits); }
};

template <class F>
class NearList {
  using Keys = NearKeys<F>;

 public:
  using Key = typename Keys::Key;

  // At most `max_candidates` are offered at a time.
  NearList(std::int64_t k, std::int64_t max_candidates)
      : k_(static_cast<std::size_t>(k)), keys_(k_), pending_(static_cast<std::size_t>(max_candidates) + 1) {}

  void clear() { count_ = 0; }
  std::size_t size() const { return count_; }
  std::uint32_t id(std::size_t rank) const { return Keys::id(keys_[rank]); }

  // Takes the candidates of one order, no two of them the same point; sums are not NaN.
  void offer(const F* sums, const std::uint32_t* ids, std::int64_t count) {
    const F limit = count_ == k_ ? Keys::sum(keys_[k_ - 1]) : std::numeric_limits<F>::infinity();
    std::size_t passed = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      pending_[passed] = Keys::make(sums[i], ids[i]);
      passed += sums[i] <= limit ? 1 : 0;
    }
    if (count_ == 0) return begin(passed);
    const std::size_t newcomers = drop_known(passed);
    constexpr std::size_t kMaxInserted = 12;
    if (newcomers <= kMaxInserted)
      for (std::size_t i = 0; i < newcomers; ++i) insert(pending_[i]);
    else
      merge(newcomers);
  }

 private:
  // Starts the list with the candidates of the first order.
  void begin(std::size_t passed) {
    const auto first = pending_.begin();
    count_ = std::min(passed, k_);
    if (passed > k_) std::nth_element(first, first + as_offset(k_ - 1), first + as_offset(passed));
    std::sort(first, first + as_offset(count_));
    std::copy(first, first + as_offset(count_), keys_.begin());
  }

  // Keeps pending candidates that are below the k-th and not in the list; returns how many.
  std::size_t drop_known(std::size_t passed) {
    const bool full = count_ == k_;
    const Key* const begin = keys_.data();
    const Key* const end = begin + count_;
    std::size_t newcomers = 0;
    for (std::size_t i = 0; i < passed; ++i) {
      const Key key = pending_[i];
      if (full && !(key < end[-1])) continue;
      const Key* const at = std::lower_bound(begin, end, key);
      pending_[newcomers] = key;
      newcomers += at == end || !(*at == key) ? 1 : 0;
    }
    return newcomers;
  }

  void insert(const Key& key) {
    if (count_ == k_ && !(key < keys_[k_ - 1])) return;
    count_ = std::min(count_ + 1, k_);
    std::size_t at = count_ - 1;
    for (; at > 0 && key < keys_[at - 1]; --at) keys_[at] = keys_[at - 1];
    keys_[at] = key;
  }

  void merge(std::size_t newcomers) {
    std::sort(pending_.begin(), pending_.begin() + as_offset(newcomers));
    merged_.resize(count_ + newcomers);
    std::merge(keys_.begin(), keys_.begin() + as_offset(count_), pending_.begin(),
               pending_.begin() + as_offset(newcomers), merged_.begin());
    count_ = std::min(merged_.size(), k_);
    std::copy(merged_.begin(), merged_.begin() + as_offset(count_), keys_.begin());
  }

  static std::ptrdiff_t as_offset(std::size_t count) { return static_cast<std::ptrdiff_t>(count); }

  std::size_t k_;
  std::size_t count_ = 0;
  std::vector<Key> keys_;
  std::vector<Key> pending_;
  std::vector<Key> merged_;
};

}  // namespace kith::cpu
