// labels.hpp: ids and tags of the points of a segment, whose ids ascend.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/mapped_array.hpp"

namespace kith::api {

struct Labels {
  std::int64_t rows = 0;
  std::int64_t first = 0;                // the id of row 0 where `ids` is empty: those that follow count on
  core::MappedArray<std::int64_t> ids;   // ascending, or empty
  core::MappedArray<std::int64_t> tags;  // or empty: all are 0

  std::int64_t id(std::int64_t row) const { return ids.empty() ? first + row : ids[static_cast<std::size_t>(row)]; }
  std::int64_t tag(std::int64_t row) const { return tags.empty() ? 0 : tags[static_cast<std::size_t>(row)]; }
  // The first row whose id is not below this one.
  std::int64_t lower_bound(std::int64_t wanted) const {
    if (!ids.empty()) return std::lower_bound(ids.begin(), ids.end(), wanted) - ids.begin();
    if (wanted <= first) return 0;
    // The difference of two ids may be more than a signed number holds.
    const std::uint64_t beyond = static_cast<std::uint64_t>(wanted) - static_cast<std::uint64_t>(first);
    return beyond >= static_cast<std::uint64_t>(rows) ? rows : static_cast<std::int64_t>(beyond);
  }
  // −1 where no point has it.
  std::int64_t find(std::int64_t wanted) const {
    const std::int64_t row = lower_bound(wanted);
    return row < rows && id(row) == wanted ? row : -1;
  }
};

}  // namespace kith::api
