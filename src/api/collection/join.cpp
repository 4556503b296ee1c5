#include "api/collection/join.hpp"

#include <algorithm>
#include <utility>

#include "api/collection/row_lists.hpp"
#include "core/instantiate.hpp"

namespace kith::api {
namespace {

// Where a point of a joined segment comes from.
struct Origin {
  std::int64_t id;
  std::int64_t part;  // the number of parts for new points
  std::int64_t row;
};

}  // namespace

Labels labels_of(std::vector<std::int64_t> ids, std::vector<std::int64_t> tags) {
  Labels labels;
  labels.rows = static_cast<std::int64_t>(ids.size());
  labels.first = ids.empty() ? 0 : ids.front();
  // Ascending ids without a gap.
  const bool counts_on =
      !ids.empty() && static_cast<std::uint64_t>(ids.back()) - static_cast<std::uint64_t>(ids.front()) ==
                          static_cast<std::uint64_t>(labels.rows - 1);
  if (!counts_on) labels.ids = std::move(ids);
  if (std::any_of(tags.begin(), tags.end(), [](std::int64_t tag) { return tag != 0; })) labels.tags = std::move(tags);
  return labels;
}

template <Element T>
std::shared_ptr<const Segment<T>> make_segment(const MatrixView<T>& view, Matrix<T>&& owned, Labels labels,
                                               const Options& options) {
  auto segment = std::make_shared<Segment<T>>();
  segment->points = view;
  segment->owned = std::move(owned);  // its values stay where they are, so the view stays good
  segment->labels = std::move(labels);
  segment->index = std::make_unique<const Index<T>>(segment->points, options);
  return segment;
}

template <Element T>
std::shared_ptr<const Segment<T>> join(std::span<const SnapshotPart<T>> parts, const NewPoints<T>* added,
                                       const Options& options) {
  std::vector<Origin> origins;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Labels& labels = parts[i].segment->labels;
    for (std::int64_t row = 0; row < labels.rows; ++row)
      if (parts[i].rows.has(row)) origins.push_back({labels.id(row), static_cast<std::int64_t>(i), row});
  }
  if (added != nullptr)
    for (std::size_t i = 0; i < added->ids.size(); ++i)
      origins.push_back({added->ids[i], static_cast<std::int64_t>(parts.size()), static_cast<std::int64_t>(i)});
  std::sort(origins.begin(), origins.end(), [](const Origin& a, const Origin& b) { return a.id < b.id; });
  const std::int64_t dims = added != nullptr ? added->points.cols : parts.front().segment->points.cols;
  Matrix<T> rows(static_cast<std::int64_t>(origins.size()), dims);
  std::vector<std::int64_t> ids(origins.size());
  std::vector<std::int64_t> tags(origins.size());
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const Origin& from = origins[i];
    const bool is_new = from.part == static_cast<std::int64_t>(parts.size());
    const auto at = static_cast<std::size_t>(from.row);
    ids[i] = from.id;
    if (is_new) {
      tags[i] = added->tags.empty() ? 0 : added->tags[at];
      copy_row(added->points, from.row, rows.row(static_cast<std::int64_t>(i)));
    } else {
      const Segment<T>& segment = *parts[static_cast<std::size_t>(from.part)].segment;
      tags[i] = segment.labels.tag(from.row);
      copy_row(segment.points, from.row, rows.row(static_cast<std::int64_t>(i)));
    }
  }
  const MatrixView<T> view = rows.view();
  return make_segment(view, std::move(rows), labels_of(std::move(ids), std::move(tags)), options);
}

#define KITH_INSTANTIATE(T)                                                                                           \
  template std::shared_ptr<const Segment<T>> make_segment(const MatrixView<T>&, Matrix<T>&&, Labels, const Options&); \
  template std::shared_ptr<const Segment<T>> join(std::span<const SnapshotPart<T>>, const NewPoints<T>*,              \
                                                  const Options&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::api
