// plain_search.hpp: contenders that fill lists of ids and distances. They only search: for all-kNN they are asked for
// k + 1, and each point itself is left out of the answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/contenders/contenders.hpp"

namespace kith::bench {

template <class Id>
class PlainSearch : public Contender {
 public:
  void clear() override {
    ids_ = {};
    distances_ = {};
  }

  // A point that is not among its own neighbors loses its farthest one.
  Answer answer() const override {
    const std::int64_t queries = problem_.queries().rows();
    if (!problem_.row.self) return {queries, k_, {ids_.begin(), ids_.end()}, {distances_.begin(), distances_.end()}};
    Answer answer{queries, k_ - 1, {}, {}};
    for (std::int64_t q = 0; q < queries; ++q) {
      const auto first = ids_.begin() + static_cast<std::ptrdiff_t>(q * k_);
      const std::ptrdiff_t self =
          std::find(first, first + static_cast<std::ptrdiff_t>(k_ - 1), static_cast<Id>(q)) - first;
      for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(k_); ++i) {
        if (i == self) continue;
        answer.ids.push_back(static_cast<std::int64_t>(first[i]));
        answer.distances.push_back(static_cast<double>(distances_[static_cast<std::size_t>(q * k_ + i)]));
      }
    }
    return answer;
  }

 protected:
  explicit PlainSearch(const Problem<float>& problem)
      : problem_(problem), k_(problem.row.k + (problem.row.self ? 1 : 0)) {}

  void make_room() {
    ids_.resize(static_cast<std::size_t>(problem_.queries().rows() * k_));
    distances_.resize(ids_.size());
  }

  const Problem<float>& problem_;
  std::int64_t k_;
  std::vector<Id> ids_;
  std::vector<float> distances_;
};

}  // namespace kith::bench
