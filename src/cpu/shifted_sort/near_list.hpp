// near_list.hpp: the k nearest that were found for a query, sorted, and how the candidates of an order join them.
// Candidates are ranked by (sum in working precision, id). One that is offered again has the key it had, so a binary
// search tells whether it is in the list; where it is not, it was pushed out and is not below the k-th.
// Cost of an order: a comparison a candidate, a search for those that pass it, and a few moves for those that stay.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::cpu {

// (sum, id) as one key. Sums are not negative, so their bits have their order.
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

  // At most `most` candidates are offered at a time.
  NearList(std::int64_t k, std::int64_t most)
      : k_(static_cast<std::size_t>(k)), keys_(k_), fresh_(static_cast<std::size_t>(most) + 1) {}

  void clear() { count_ = 0; }
  std::size_t size() const { return count_; }
  std::uint32_t id(std::size_t rank) const { return Keys::id(keys_[rank]); }

  // The candidates of one order, no two of them the same point; sums are not NaN.
  void offer(const F* sums, const std::uint32_t* ids, std::int64_t count) {
    const F limit = count_ == k_ ? Keys::sum(keys_[k_ - 1]) : std::numeric_limits<F>::infinity();
    std::size_t passed = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      fresh_[passed] = Keys::make(sums[i], ids[i]);
      passed += sums[i] <= limit ? 1 : 0;
    }
    if (count_ == 0) return begin(passed);
    const std::size_t newcomers = drop_known(passed);
    constexpr std::size_t kFew = 12;
    if (newcomers <= kFew)
      for (std::size_t i = 0; i < newcomers; ++i) insert(fresh_[i]);
    else
      merge(newcomers);
  }

 private:
  // The first candidates of all.
  void begin(std::size_t passed) {
    const auto first = fresh_.begin();
    count_ = std::min(passed, k_);
    if (passed > k_) std::nth_element(first, first + as_offset(k_ - 1), first + as_offset(passed));
    std::sort(first, first + as_offset(count_));
    std::copy(first, first + as_offset(count_), keys_.begin());
  }

  // Leaves those that are not in the list and may come into it; returns how many they are.
  std::size_t drop_known(std::size_t passed) {
    const bool full = count_ == k_;
    const Key* const begin = keys_.data();
    const Key* const end = begin + count_;
    std::size_t newcomers = 0;
    for (std::size_t i = 0; i < passed; ++i) {
      const Key key = fresh_[i];
      if (full && !(key < end[-1])) continue;
      const Key* const at = std::lower_bound(begin, end, key);
      fresh_[newcomers] = key;
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
    std::sort(fresh_.begin(), fresh_.begin() + as_offset(newcomers));
    merged_.resize(count_ + newcomers);
    std::merge(keys_.begin(), keys_.begin() + as_offset(count_), fresh_.begin(), fresh_.begin() + as_offset(newcomers),
               merged_.begin());
    count_ = std::min(merged_.size(), k_);
    std::copy(merged_.begin(), merged_.begin() + as_offset(count_), keys_.begin());
  }

  static std::ptrdiff_t as_offset(std::size_t count) { return static_cast<std::ptrdiff_t>(count); }

  std::size_t k_;
  std::size_t count_ = 0;
  std::vector<Key> keys_;
  std::vector<Key> fresh_;
  std::vector<Key> merged_;
};

}  // namespace kith::cpu
