// without_self.hpp: all-kNN for contenders that only search: ask for k + 1 and leave each point itself out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/problem/contender.hpp"

namespace kith::bench {

// From rows of k + 1, row q being point q. A point that is not among its own neighbors loses its farthest one.
template <class Id, class D>
Answer without_self(std::int64_t queries, std::int64_t k, const std::vector<Id>& ids, const std::vector<D>& distances) {
  Answer answer{queries, k, {}, {}};
  for (std::int64_t q = 0; q < queries; ++q) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(q * (k + 1));
    const std::ptrdiff_t self = std::find(first, first + static_cast<std::ptrdiff_t>(k), static_cast<Id>(q)) - first;
    for (std::ptrdiff_t i = 0; i <= static_cast<std::ptrdiff_t>(k); ++i) {
      if (i == self) continue;
      answer.ids.push_back(static_cast<std::int64_t>(first[i]));
      answer.distances.push_back(static_cast<double>(distances[static_cast<std::size_t>(q * (k + 1) + i)]));
    }
  }
  return answer;
}

}  // namespace kith::bench
