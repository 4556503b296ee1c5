#include "api/collection/filter_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kith/error.hpp"

namespace kith::api {
namespace {

bool is_each(const std::optional<FilterLists>& lists) {
  return lists && !lists->offsets.empty();
}

// What a filter says of one query, as bytes that are equal where it says the same.
template <class V>
std::string_view bytes_of(std::span<const V> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::span<const std::int64_t> list_of(const FilterLists& lists, std::int64_t query) {
  if (lists.offsets.empty()) return lists.values;
  const auto at = static_cast<std::size_t>(query);
  const auto first = static_cast<std::size_t>(lists.offsets[at]);
  return lists.values.subspan(first, static_cast<std::size_t>(lists.offsets[at + 1]) - first);
}

void check_lists(const std::optional<FilterLists>& lists, const char* name, std::int64_t queries) {
  if (!is_each(lists)) return;
  const auto& offsets = lists->offsets;
  if (static_cast<std::int64_t>(offsets.size()) != queries + 1)
    throw Error(ErrorCode::invalid_argument, fmt::format("filter.{} has {} offsets; {} queries need {}", name,
                                                         offsets.size(), queries, queries + 1));
  std::int64_t before = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] < before || (i == 0 && offsets[i] != 0))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("filter.{}: offset {} is {}; offsets begin with 0 and do not fall", name, i, offsets[i]));
    before = offsets[i];
  }
  if (before != static_cast<std::int64_t>(lists->values.size()))
    throw Error(ErrorCode::invalid_argument, fmt::format("filter.{}: the last offset is {}, but there are {} values",
                                                         name, before, lists->values.size()));
}

// A row of a mask.
struct MaskRow {
  std::span<const std::uint8_t> bytes;
  std::span<const std::uint64_t> words;

  bool has(std::int64_t rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return bytes.empty() ? (words[at / 64] >> (at % 64) & 1) != 0 : bytes[at] != 0;
  }
  // Flags 64 · i … 64 · i + 63.
  std::uint64_t word(std::size_t i) const {
    if (bytes.empty()) return words[i];
    const std::size_t count = std::min<std::size_t>(64, bytes.size() - i * 64);
    std::uint64_t packed = 0;
    for (std::size_t bit = 0; bit < count; ++bit) packed |= static_cast<std::uint64_t>(bytes[i * 64 + bit] != 0) << bit;
    return packed;
  }
  std::string_view as_bytes() const { return bytes.empty() ? bytes_of(words) : bytes_of(bytes); }
};

std::size_t words_of(std::int64_t points) {
  return static_cast<std::size_t>((points + 63) / 64);
}

void check_mask(const FilterMask& mask, std::int64_t points, std::int64_t queries) {
  const std::int64_t rows = mask.each ? queries : 1;
  if (mask.bytes.empty() == mask.words.empty() && points > 0)
    throw Error(ErrorCode::invalid_argument, "filter.mask has either bytes or words, not both and not neither");
  const bool by_bytes = !mask.bytes.empty();
  const auto given = static_cast<std::int64_t>(by_bytes ? mask.bytes.size() : mask.words.size());
  const std::int64_t width = by_bytes ? points : static_cast<std::int64_t>(words_of(points));
  std::int64_t wanted = 0;
  if (__builtin_mul_overflow(rows, width, &wanted) || given != wanted)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("filter.mask has {} {}; {} of {} points need {}", given, by_bytes ? "bytes" : "words",
                            mask.each ? fmt::format("{} queries, a row each,", rows) : std::string("flags"), points,
                            mask.each ? fmt::format("{} each", width) : fmt::to_string(width)));
}

MaskRow mask_row(const FilterMask& mask, std::int64_t points, std::int64_t query) {
  const auto at = static_cast<std::size_t>(mask.each ? query : 0);
  if (!mask.bytes.empty()) {
    const auto count = static_cast<std::size_t>(points);
    return {mask.bytes.subspan(at * count, count), {}};
  }
  return {{}, mask.words.subspan(at * words_of(points), words_of(points))};
}

// Narrows down which rows of a part are left. Sets are copied when they are first changed.
class Narrowing {
 public:
  Narrowing(const LiveRows& part, const AllowedRows& begin) : part_(part), begin_(begin) {}

  RowSet& rows() {
    if (rows_ == nullptr)
      rows_ = begin_.rows != nullptr ? std::make_shared<RowSet>(*begin_.rows)
                                     : std::make_shared<RowSet>(part_.labels->rows, true);
    return *rows_;
  }

  void apply_mask(const MaskRow& mask, const Ranks& ranks) {
    const Labels& labels = *part_.labels;
    RowSet& mine = rows();
    if (part_.live == nullptr && labels.rows == ranks.count()) {  // the only part: ranks are rows
      std::vector<std::uint64_t>& words = mine.words();
      for (std::size_t i = 0; i < words.size(); ++i) words[i] &= mask.word(i);
      return;
    }
    // Both ids and ranks ascend, but ranks are of all parts.
    std::int64_t rank = 0;
    for (std::int64_t row = 0; row < labels.rows; ++row) {
      if (!part_.has(row)) continue;
      const std::int64_t id = labels.id(row);
      if (rank >= ranks.count() || ranks.id(rank) != id) rank = ranks.rank(id);
      if (!mask.has(rank++)) mine.remove(row);
    }
  }

  void allow(std::span<const std::int64_t> ids) {
    RowSet listed(part_.labels->rows, false);
    for (const std::int64_t id : ids)
      if (const std::int64_t row = part_.labels->find(id); row >= 0) listed.add(row);
    rows().intersect(listed);
  }

  void exclude(std::span<const std::int64_t> ids) {
    for (const std::int64_t id : ids)
      if (const std::int64_t row = part_.labels->find(id); row >= 0) rows().remove(row);
  }

  void allow_tags(std::span<const std::int64_t> tags) {
    std::vector<std::int64_t> sorted(tags.begin(), tags.end());
    std::sort(sorted.begin(), sorted.end());
    const Labels& labels = *part_.labels;
    RowSet& mine = rows();
    for (std::int64_t row = 0; row < labels.rows; ++row)
      if (!std::binary_search(sorted.begin(), sorted.end(), labels.tag(row))) mine.remove(row);
  }

  AllowedRows done() {
    if (rows_ == nullptr) return begin_;
    const std::int64_t count = rows_->count();
    if (count == part_.labels->rows) return {nullptr, count};
    return {std::move(rows_), count};
  }

 private:
  const LiveRows& part_;
  const AllowedRows& begin_;
  std::shared_ptr<RowSet> rows_;
};

}  // namespace

bool is_each(const Filter& filter) {
  return (filter.mask && filter.mask->each) || is_each(filter.allowed) || is_each(filter.excluded) ||
         is_each(filter.tags);
}

void check_filter(const Filter& filter, std::int64_t points, std::int64_t queries) {
  if (filter.mask) check_mask(*filter.mask, points, queries);
  check_lists(filter.allowed, "allowed", queries);
  check_lists(filter.excluded, "excluded", queries);
  check_lists(filter.tags, "tags", queries);
}

FilterRows::FilterRows(const std::vector<LiveRows>& parts, const std::function<const Ranks&()>& ranks,
                       const Filter& filter, std::int64_t queries)
    : parts_(parts), filter_(filter) {
  std::int64_t points = 0;
  for (const LiveRows& part : parts) points += part.count;
  check_filter(filter, points, queries);
  if (filter.mask) ranks_ = &ranks();
  for (const LiveRows& part : parts) {
    const AllowedRows live{part.live, part.count};
    Narrowing narrowing(part, live);
    if (filter.mask && !filter.mask->each) narrowing.apply_mask(mask_row(*filter.mask, ranks_->count(), 0), *ranks_);
    if (filter.tags && !is_each(filter.tags)) narrowing.allow_tags(filter.tags->values);
    if (filter.allowed && !is_each(filter.allowed)) narrowing.allow(filter.allowed->values);
    if (filter.excluded && !is_each(filter.excluded)) narrowing.exclude(filter.excluded->values);
    shared_.push_back(narrowing.done());
  }
  if (!is_each(filter)) {
    Group all;
    all.queries.resize(static_cast<std::size_t>(queries));
    std::iota(all.queries.begin(), all.queries.end(), std::int64_t{0});
    groups_.push_back(std::move(all));
    return;
  }
  // Queries with equal lists are one group.
  const auto parts_of = [&](std::int64_t query) {
    std::vector<std::string_view> said;
    if (filter.mask && filter.mask->each) said.push_back(mask_row(*filter.mask, ranks_->count(), query).as_bytes());
    for (const auto* lists : {&filter.allowed, &filter.excluded, &filter.tags})
      if (is_each(*lists)) said.push_back(bytes_of(list_of(**lists, query)));
    return said;
  };
  std::unordered_multimap<std::size_t, std::size_t> known;  // hash → group
  for (std::int64_t query = 0; query < queries; ++query) {
    const std::vector<std::string_view> said = parts_of(query);
    std::size_t hash = 0;
    for (const std::string_view each : said) hash = hash * 1000003 + std::hash<std::string_view>{}(each);
    const auto [begin, end] = known.equal_range(hash);
    const auto same =
        std::find_if(begin, end, [&](const auto& entry) { return parts_of(groups_[entry.second].first) == said; });
    if (same != end) {
      groups_[same->second].queries.push_back(query);
    } else {
      known.emplace(hash, groups_.size());
      groups_.push_back({{query}, query});
    }
  }
}

std::vector<AllowedRows> FilterRows::allowed(const Group& group) const {
  std::vector<AllowedRows> all;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Narrowing narrowing(parts_[i], shared_[i]);
    if (filter_.mask && filter_.mask->each)
      narrowing.apply_mask(mask_row(*filter_.mask, ranks_->count(), group.first), *ranks_);
    if (is_each(filter_.tags)) narrowing.allow_tags(list_of(*filter_.tags, group.first));
    if (is_each(filter_.allowed)) narrowing.allow(list_of(*filter_.allowed, group.first));
    if (is_each(filter_.excluded)) narrowing.exclude(list_of(*filter_.excluded, group.first));
    all.push_back(narrowing.done());
  }
  return all;
}

}  // namespace kith::api
