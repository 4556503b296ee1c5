// filter_rows.hpp: which points of a snapshot a filter leaves to each query.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "api/collection/snapshot.hpp"
#include "kith/filter.hpp"

namespace kith::api {

// Points of one segment; those that were removed are never among them.
struct AllowedRows {
  std::shared_ptr<const RowSet> rows{};  // null: all of the segment
  std::int64_t count = 0;

  bool has(std::int64_t row) const { return rows == nullptr || rows->has(row); }
};

// Throws Error(invalid_argument) for a filter that does not fit so many points and queries.
void check_filter(const Filter& filter, std::int64_t points, std::int64_t queries);

class FilterRows {
 public:
  // Queries for which the filter says the same.
  struct Group {
    std::vector<std::int64_t> queries;
    std::int64_t first = 0;  // of them, whose lists they share
  };

  // Throws as check_filter(). The filter and the parts must outlive this; `ranks` is asked only where there is a mask.
  FilterRows(const std::vector<LiveRows>& parts, const std::function<const Ranks&()>& ranks, const Filter& filter,
             std::int64_t queries);

  // One group where the filter is the same for all.
  const std::vector<Group>& groups() const { return groups_; }
  // Of each part.
  std::vector<AllowedRows> allowed(const Group& group) const;

 private:
  const std::vector<LiveRows>& parts_;
  const Filter& filter_;
  const Ranks* ranks_ = nullptr;
  std::vector<AllowedRows> shared_;  // what all queries have in common
  std::vector<Group> groups_;
};

// Whether a filter has something for each query.
bool is_each(const Filter& filter);

}  // namespace kith::api
