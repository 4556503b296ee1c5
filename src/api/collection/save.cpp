// save.cpp: collections to files and back.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/collection/file.hpp"
#include "api/collection/state.hpp"
#include "api/index_state.hpp"
#include "core/instantiate.hpp"
#include "core/max_distance.hpp"

namespace kith {
namespace api {
namespace {

// The rows of a view as bytes: in one piece where they are packed, else packed into `copy`.
template <Element T>
std::vector<std::span<const std::byte>> bytes_of(const MatrixView<T>& points, Matrix<T>& copy) {
  const auto values = static_cast<std::size_t>(points.rows * points.cols);
  if (points.col_stride == 1 && (points.row_stride == points.cols || points.rows == 1))
    return {std::as_bytes(std::span(points.data, values))};
  std::vector<std::span<const std::byte>> rows;
  if (points.col_stride == 1) {
    for (std::int64_t row = 0; row < points.rows; ++row)
      rows.push_back(std::as_bytes(std::span(points.row(row), static_cast<std::size_t>(points.cols))));
    return rows;
  }
  copy = Matrix<T>(points.rows, points.cols);
  for (std::int64_t row = 0; row < points.rows; ++row)
    for (std::int64_t c = 0; c < points.cols; ++c) copy(row, c) = points(row, c);
  return {std::as_bytes(std::span<const T>(copy.data(), values))};
}

// Throws Error(bad_data) for ids by which points are not found, or given to others again.
void check_ids(const MappedFile& file, const Labels& labels) {
  file.sections().values<std::int64_t>(kIdsSection, labels.rows, true);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::bad_data, fmt::format("{}: {}", file.path(), what));
  };
  for (std::size_t i = 0; i < labels.ids.size(); ++i) {
    if (labels.ids[i] == core::kNoNeighbor)
      refuse(fmt::format("id {} is -1, which marks places without a neighbor", i));
    if (i > 0 && labels.ids[i] <= labels.ids[i - 1])
      refuse(fmt::format("id {} is {} after {}; ids ascend", i, labels.ids[i], labels.ids[i - 1]));
  }
  if (!is_id_after(file.head().next_id, labels.id(labels.rows - 1)))
    refuse(fmt::format("the next id is {}, but there is {} already", file.head().next_id, labels.id(labels.rows - 1)));
}

// The points of a file, as they lie there, and their labels.
template <Element T>
std::shared_ptr<Segment<T>> mapped_segment(const std::shared_ptr<const MappedFile>& file) {
  const FileHead& head = file->head();
  const auto& sections = file->sections();
  auto segment = std::make_shared<Segment<T>>();
  segment->points = {sections.template values<T>(kPointsSection, head.rows * head.dims).data(), head.rows, head.dims};
  segment->mapping = file;
  segment->labels.rows = head.rows;
  segment->labels.first = head.first_id;
  const auto numbers = [&](std::string_view section) {
    return core::MappedArray<std::int64_t>(sections.template values<std::int64_t>(section, head.rows));
  };
  if (sections.has(kIdsSection)) segment->labels.ids = numbers(kIdsSection);
  if (sections.has(kTagsSection)) segment->labels.tags = numbers(kTagsSection);
  if (!segment->labels.ids.empty())
    segment->check_labels = [file, &labels = segment->labels] { check_ids(*file, labels); };
  return segment;
}

}  // namespace
}  // namespace api

template <Element T>
void Collection<T>::save(const std::string& path) const {
  api::guarded([&] {
    const auto now = state().now();
    api::FileHead head{dtype_of<T>(), now->count(), state().dims, 0, now->next_id(), state().options};
    std::vector<api::FileSection> sections;
    std::shared_ptr<const api::Segment<T>> segment;
    if (now->parts().size() == 1 && now->parts()[0].rows.live == nullptr) {
      segment = now->parts()[0].segment;
    } else if (now->count() > 0) {
      segment = api::join<T>(std::span(now->parts()), nullptr, state().segment_options);
    }
    if (segment == nullptr) {
      sections.push_back({std::string(api::kPointsSection), {}});
      return api::write_file(path, head, sections, state().options.progress);
    }
    Matrix<T> copy;
    const api::Labels& labels = segment->labels;
    head.first_id = labels.ids.empty() ? labels.first : 0;
    sections.push_back({std::string(api::kPointsSection), api::bytes_of(segment->points, copy)});
    if (!labels.ids.empty()) sections.push_back({std::string(api::kIdsSection), {std::as_bytes(labels.ids.span())}});
    if (!labels.tags.empty()) sections.push_back({std::string(api::kTagsSection), {std::as_bytes(labels.tags.span())}});
    const backend::Parts prepared = OneSearch::parts_of(*segment->index);
    for (const backend::Part& part : prepared.all()) sections.push_back({part.name, {part.bytes}});
    api::write_file(path, head, sections, state().options.progress);
  });
}

template <Element T>
Collection<T> Collection<T>::load(const std::string& path, const Options& wanted, bool verify) {
  return api::guarded([&] {
    const auto file = std::make_shared<const api::MappedFile>(path);
    const api::FileHead& head = file->head();
    if (head.dtype != dtype_of<T>())
      throw Error(ErrorCode::bad_data, fmt::format("{} has points of {}; {} are wanted", path, to_string(head.dtype),
                                                   to_string(dtype_of<T>())));
    if (verify) file->verify();
    Options options = wanted;
    options.metric = head.options.metric;
    options.method = head.options.method;
    options.period = head.options.period;
    options.shifted_sort = head.options.shifted_sort;
    options.shifted_sort.merge = wanted.shifted_sort.merge;
    options.shifted_sort.positions = wanted.shifted_sort.positions;
    auto state = std::make_unique<State>(head.dims, std::move(options));
    if (head.rows > 0) {
      std::shared_ptr<api::Segment<T>> segment = api::mapped_segment<T>(file);
      if (verify) segment->require_labels();
      segment->index = std::make_unique<const Index<T>>(
          OneSearch::prepared(segment->points, state->segment_options, file->prepared()));
      state->publish({api::part_of<T>(std::move(segment))}, head.next_id);
    } else {
      state->publish({}, head.next_id);
    }
    return Collection(std::move(state));
  });
}

#define KITH_INSTANTIATE(T)                                    \
  template void Collection<T>::save(const std::string&) const; \
  template Collection<T> Collection<T>::load(const std::string&, const Options&, bool);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
