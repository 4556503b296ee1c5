#include "api/collection/snapshot.hpp"

#include <algorithm>

namespace kith::api {

Ranks::Ranks(const std::vector<LiveRows>& parts) {
  for (const LiveRows& part : parts) count_ += part.count;
  if (count_ == 0) return;
  if (parts.size() == 1 && parts[0].live == nullptr && parts[0].labels->ids.empty()) {
    first_ = parts[0].labels->first;
    return;
  }
  ids_.reserve(static_cast<std::size_t>(count_));
  // Later parts are small: what was joined last is sorted in first.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const auto middle = static_cast<std::ptrdiff_t>(ids_.size());
    const Labels& labels = *part->labels;
    for (std::int64_t row = 0; row < labels.rows; ++row)
      if (part->has(row)) ids_.push_back(labels.id(row));
    std::inplace_merge(ids_.begin(), ids_.begin() + middle, ids_.end());
  }
}

std::int64_t Ranks::rank(std::int64_t id) const {
  return ids_.empty() ? id - first_ : std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin();
}

}  // namespace kith::api
