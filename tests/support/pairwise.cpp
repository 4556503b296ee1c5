#include "support/pairwise.hpp"

#include <algorithm>
#include <numeric>

#include "support/random.hpp"

namespace kith::test {
namespace {

constexpr std::size_t kUnset = static_cast<std::size_t>(-1);

// The pairs not seen yet, over all values of all parameters numbered consecutively.
class Pairs {
 public:
  explicit Pairs(const std::vector<std::size_t>& sizes) : first_(sizes.size()) {
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      first_[p] = values_;
      values_ += sizes[p];
    }
    missing_.resize(values_ * values_);
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      for (std::size_t o = p + 1; o < sizes.size(); ++o) {
        for (std::size_t v = 0; v < sizes[p] * sizes[o]; ++v) set(p, v / sizes[o], o, v % sizes[o], true);
      }
    }
  }

  std::size_t left() const { return left_; }

  // Pairs that giving parameter p the value v would add to a partly filled row.
  std::size_t gain(const std::vector<std::size_t>& row, std::size_t p, std::size_t v) const {
    std::size_t count = 0;
    for (std::size_t o = 0; o < row.size(); ++o) {
      if (o != p && row[o] != kUnset && missing_[index(p, v, o, row[o])]) ++count;
    }
    return count;
  }

  // Whether any pair with this value is missing.
  bool wanted(std::size_t p, std::size_t v) const {
    const auto row = missing_.begin() + static_cast<std::ptrdiff_t>((first_[p] + v) * values_);
    return std::find(row, row + static_cast<std::ptrdiff_t>(values_), true) !=
           row + static_cast<std::ptrdiff_t>(values_);
  }

  void cover(const std::vector<std::size_t>& row) {
    for (std::size_t p = 0; p < row.size(); ++p) {
      for (std::size_t o = p + 1; o < row.size(); ++o) set(p, row[p], o, row[o], false);
    }
  }

 private:
  std::size_t index(std::size_t p, std::size_t v, std::size_t o, std::size_t w) const {
    return (first_[p] + v) * values_ + first_[o] + w;
  }
  void set(std::size_t p, std::size_t v, std::size_t o, std::size_t w, bool missing) {
    if (missing && !missing_[index(p, v, o, w)]) ++left_;
    if (!missing && missing_[index(p, v, o, w)]) --left_;
    missing_[index(p, v, o, w)] = missing;
    missing_[index(o, w, p, v)] = missing;
  }

  std::vector<std::size_t> first_;
  std::vector<bool> missing_;
  std::size_t values_ = 0;
  std::size_t left_ = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> pairwise(const std::vector<std::size_t>& sizes, std::uint64_t seed) {
  Random random(seed);
  Pairs pairs(sizes);
  std::vector<std::vector<std::size_t>> rows;
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto draw = [&](std::size_t limit) {
    return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(limit)));
  };
  while (pairs.left() > 0) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw(i)]);
    std::vector<std::size_t> row(sizes.size(), kUnset);
    for (std::size_t p : order) {
      // The value that adds most pairs; among equals one that still misses some, then by chance.
      std::size_t best_score = 0;
      for (std::size_t v = 0; v < sizes[p]; ++v) {
        const std::size_t score = (pairs.gain(row, p, v) * 2 + (pairs.wanted(p, v) ? 1 : 0)) * 64 + 1 + draw(64);
        if (score <= best_score) continue;
        best_score = score;
        row[p] = v;
      }
    }
    pairs.cover(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kith::test
