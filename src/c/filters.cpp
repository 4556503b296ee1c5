#include "c/filters.hpp"

namespace kith::c {
namespace {

std::optional<FilterLists> lists_of(const kith_id_lists* lists, const char* role) {
  if (lists == nullptr) return std::nullopt;
  if (lists->offsets == nullptr && lists->offset_count != 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has {} offsets, which are null", role, lists->offset_count));
  if (lists->offsets != nullptr && lists->offset_count < 1)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} has offsets, but {} of them", role, lists->offset_count));
  return FilterLists{span_of(lists->values, lists->count, role), span_of(lists->offsets, lists->offset_count, role)};
}

}  // namespace

Filter filter_of(const kith_filter* filter) {
  Filter made;
  if (filter == nullptr) return made;
  if (filter->mask_each != 0 && filter->mask_each != 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("mask_each of the filter is {}; it must be 0 or 1", filter->mask_each));
  const auto bytes = span_of(filter->mask_bytes, filter->mask_byte_count, "mask_bytes of the filter");
  const auto words = span_of(filter->mask_words, filter->mask_word_count, "mask_words of the filter");
  if (filter->mask_bytes != nullptr || filter->mask_words != nullptr)
    made.mask = FilterMask{bytes, words, filter->mask_each == 1};
  made.allowed = lists_of(filter->allowed, "allowed of the filter");
  made.excluded = lists_of(filter->excluded, "excluded of the filter");
  made.tags = lists_of(filter->tags, "tags of the filter");
  return made;
}

PointLabels labels_of(const kith_labels* labels, std::int64_t points) {
  if (labels == nullptr) return {};
  if (labels->count != points)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} labels for {} points; each point must have one", labels->count, points));
  PointLabels made;
  if (labels->ids != nullptr) made.ids = span_of(labels->ids, labels->count, "ids of the labels");
  if (labels->tags != nullptr) made.tags = span_of(labels->tags, labels->count, "tags of the labels");
  return made;
}

}  // namespace kith::c
