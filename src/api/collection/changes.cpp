// changes.cpp: points that come and go. A change makes the segments that it needs and then, at once, the next snapshot.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "api/collection/row_lists.hpp"
#include "api/collection/state.hpp"
#include "api/guard.hpp"
#include "api/validate.hpp"
#include "backend/host.hpp"
#include "core/instantiate.hpp"

namespace kith {
namespace api {
namespace {

constexpr std::int64_t kLargestId = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

void check_labels(const PointLabels& labels, std::int64_t rows) {
  const auto check = [&](std::span<const std::int64_t> values, const char* name) {
    if (!values.empty() && static_cast<std::int64_t>(values.size()) != rows)
      refuse(fmt::format("{} {} for {} points; each point must have one", values.size(), name, rows));
  };
  check(labels.ids, "ids");
  check(labels.tags, "tags");
  const auto missing = std::find(labels.ids.begin(), labels.ids.end(), std::int64_t{-1});
  if (missing != labels.ids.end())
    refuse(fmt::format("id {} is -1, which marks places without a neighbor", missing - labels.ids.begin()));
}

// Where ids count on behind this one, or from `least` if that is more.
std::int64_t id_after(std::int64_t largest, std::int64_t least) {
  return std::max(least, largest < kLargestId ? largest + 1 : largest);
}

// The order of points by ascending ids, none of which may be there twice.
std::vector<std::int64_t> order_of(std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> order(ids.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  const auto id = [&](std::int64_t i) { return ids[static_cast<std::size_t>(i)]; };
  if (!std::is_sorted(ids.begin(), ids.end()))
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return id(a) < id(b); });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (id(order[i]) == id(order[i - 1]))
      refuse(fmt::format("id {} is there twice; each point has its own", id(order[i])));
  return order;
}

// Where a point is; part −1 for an id that no point has.
struct Place {
  std::int64_t part = -1;
  std::int64_t row = -1;
};

Place find(const std::vector<LiveRows>& parts, std::int64_t id) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t row = parts[i].labels->find(id);
    if (row >= 0 && parts[i].has(row)) return {static_cast<std::int64_t>(i), row};
  }
  return {};
}

std::vector<Place> find_all(const std::vector<LiveRows>& parts, std::span<const std::int64_t> ids) {
  std::vector<Place> places;
  places.reserve(ids.size());
  for (const std::int64_t id : ids) {
    places.push_back(find(parts, id));
    if (places.back().part < 0) refuse(fmt::format("no point has id {}", id));
  }
  return places;
}

// The parts without these points. A segment of which no more than half is left is written anew; `copied` counts rows.
template <Element T>
std::vector<SnapshotPart<T>> without(const std::vector<SnapshotPart<T>>& parts, const std::vector<Place>& places,
                                     const Options& options, std::int64_t& copied) {
  std::map<std::int64_t, std::shared_ptr<RowSet>> live;
  for (const Place& place : places) {
    std::shared_ptr<RowSet>& rows = live[place.part];
    const SnapshotPart<T>& part = parts[static_cast<std::size_t>(place.part)];
    if (rows == nullptr)
      rows = part.rows.live != nullptr ? std::make_shared<RowSet>(*part.rows.live)
                                       : std::make_shared<RowSet>(part.segment->labels.rows, true);
    rows->remove(place.row);
  }
  std::vector<SnapshotPart<T>> left;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto at = live.find(static_cast<std::int64_t>(i));
    if (at == live.end()) {
      left.push_back(parts[i]);
      continue;
    }
    SnapshotPart<T> part = parts[i];
    part.rows.live = at->second;
    part.rows.count = at->second->count();
    if (part.rows.count == 0) continue;
    if (2 * part.rows.count <= part.segment->labels.rows) {
      copied += part.rows.count;
      part = part_of(join<T>(std::span(&part, 1), nullptr, options));
    }
    left.push_back(std::move(part));
  }
  return left;
}

// The parts with new points, which take the small segments at the end along: so there are few segments, each at least
// twice as large as the next.
template <Element T>
std::vector<SnapshotPart<T>> with(std::vector<SnapshotPart<T>> parts, const NewPoints<T>& added, bool one_segment,
                                  const Options& options, std::int64_t& copied) {
  auto rows = static_cast<std::int64_t>(added.ids.size());
  std::size_t kept = parts.size();
  while (kept > 0 && (one_segment || parts[kept - 1].rows.count < 2 * rows)) rows += parts[--kept].rows.count;
  copied += rows;
  auto segment = join<T>(std::span(parts).subspan(kept), &added, options);
  parts.resize(kept);
  parts.push_back(part_of(std::move(segment)));
  return parts;
}

// Approximate neighbors depend on all points.
bool needs_one_segment(const Options& options) {
  return options.method == Method::shifted_sort;
}

template <Element T>
bool is_whole(const std::vector<SnapshotPart<T>>& parts) {
  return parts.empty() || (parts.size() == 1 && parts[0].rows.live == nullptr);
}

// Joins what has to be one segment.
template <Element T>
std::vector<SnapshotPart<T>> joined(std::vector<SnapshotPart<T>> parts, const Options& options, std::int64_t& copied) {
  if (is_whole(parts)) return parts;
  for (const SnapshotPart<T>& part : parts) copied += part.rows.count;
  return {part_of(join<T>(std::span<const SnapshotPart<T>>(parts), nullptr, options))};
}

template <Element T>
void check_points(const MatrixView<T>& points, std::int64_t dims, const Options& options) {
  check_view(points, "points");
  if (points.memory == Memory::device) refuse("points on a device for a collection, which takes host memory only");
  if (points.cols != dims) refuse(fmt::format("points have {} dimensions, the collection has {}", points.cols, dims));
  cpu::check_base(points, options);
}

// What a change makes of a snapshot.
template <Element T>
struct Changed {
  std::vector<SnapshotPart<T>> parts;
  std::int64_t next_id;
};

// Calls change(snapshot, copied), which makes the next one, and tells what that took.
template <class State, class Change>
ChangeReport changed(State& state, std::int64_t points, Change change) {
  return guarded([&] {
    const auto start = std::chrono::steady_clock::now();
    const std::lock_guard<std::mutex> lock(state.changing);
    ChangeReport report;
    report.points = points;
    auto [parts, next_id] = change(*state.now(), report.copied);
    report.segments = static_cast<std::int64_t>(parts.size());
    state.publish(std::move(parts), next_id);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  });
}

}  // namespace
}  // namespace api

template <Element T>
Collection<T>::State::State(std::int64_t dims_, Options options_) : dims(dims_), options(std::move(options_)) {
  api::guarded([&] {
    if (dims < 1) throw Error(ErrorCode::invalid_argument, fmt::format("{} dimensions; at least 1 is needed", dims));
    api::check_dims(dims);
    api::check_period(options.period, dims);
    options.backend = api::check_options(options);
    api::refuse_certify(options, "collections");
    api::refuse_devices(options, "collections");
    segment_options = options;
    segment_options.pad_missing = false;
    snapshot = std::make_shared<const api::Snapshot<T>>();
  });
}

template <Element T>
Collection<T>::Collection(std::int64_t dims, Options options)
    : state_(std::make_unique<State>(dims, std::move(options))) {}

template <Element T>
Collection<T>::Collection(MatrixView<T> points, PointLabels labels, Options options)
    : state_(std::make_unique<State>(std::max<std::int64_t>(points.cols, 1), std::move(options))) {
  api::guarded([&] {
    api::check_view(points, "points");
    if (points.memory == Memory::device)
      api::refuse("points on a device for a collection, which takes host memory only");
    api::check_labels(labels, points.rows);
    const std::vector<std::int64_t> order = api::order_of(labels.ids);
    const std::int64_t next_id =
        labels.ids.empty() ? points.rows : api::id_after(labels.ids[static_cast<std::size_t>(order.back())], 0);
    if (std::is_sorted(order.begin(), order.end())) {
      api::Labels kept;
      kept.rows = points.rows;
      if (labels.ids.empty()) {
        kept.tags = std::vector<std::int64_t>(labels.tags.begin(), labels.tags.end());
      } else {
        kept = api::labels_of({labels.ids.begin(), labels.ids.end()}, {labels.tags.begin(), labels.tags.end()});
      }
      state_->publish({api::part_of(api::make_segment<T>(points, {}, std::move(kept), state_->segment_options))},
                      next_id);
      return;
    }
    cpu::check_base(points, state_->segment_options);  // names the caller's rows
    const api::NewPoints<T> added{
        points, {labels.ids.begin(), labels.ids.end()}, {labels.tags.begin(), labels.tags.end()}};
    state_->publish({api::part_of(api::join<T>({}, &added, state_->segment_options))}, next_id);
  });
}

template <Element T>
Collection<T>::Collection(Matrix<T>&& points, PointLabels labels, Options options)
    : Collection(points.view(), labels, std::move(options)) {
  // Its values stay where they are, so a view of them stays good. Rows that were copied need it no more.
  const auto parts = state_->now()->parts();
  if (parts[0].segment->points.data != points.data()) return;
  const_cast<api::Segment<T>&>(*parts[0].segment).owned = std::move(points);  // NOLINT: nobody else has it yet
}

template <Element T>
ChangeReport Collection<T>::add(MatrixView<T> points, PointLabels labels) {
  State& state = this->state();
  return api::changed(state, points.rows, [&](const api::Snapshot<T>& now, std::int64_t& copied) {
    api::check_points(points, state.dims, state.segment_options);
    api::check_labels(labels, points.rows);
    api::NewPoints<T> added{points, {labels.ids.begin(), labels.ids.end()}, {labels.tags.begin(), labels.tags.end()}};
    if (added.ids.empty()) {
      if (points.rows > api::kLargestId - now.next_id())
        api::refuse(
            fmt::format("{} points without ids, but ids from {} on are few; name theirs", points.rows, now.next_id()));
      for (std::int64_t i = 0; i < points.rows; ++i) added.ids.push_back(now.next_id() + i);
    } else {
      api::order_of(added.ids);
      for (const std::int64_t id : added.ids)
        if (api::find(now.rows(), id).part >= 0)
          api::refuse(fmt::format("a point has id {} already; update() replaces points", id));
    }
    auto parts = api::with<T>(now.parts(), added, api::needs_one_segment(state.options), state.segment_options, copied);
    const std::int64_t largest = *std::max_element(added.ids.begin(), added.ids.end());
    return api::Changed<T>{std::move(parts), api::id_after(largest, now.next_id())};
  });
}

template <Element T>
ChangeReport Collection<T>::remove(std::span<const std::int64_t> ids) {
  State& state = this->state();
  return api::changed(
      state, static_cast<std::int64_t>(ids.size()), [&](const api::Snapshot<T>& now, std::int64_t& copied) {
        api::order_of(ids);
        auto parts = api::without<T>(now.parts(), api::find_all(now.rows(), ids), state.segment_options, copied);
        if (api::needs_one_segment(state.options))
          parts = api::joined<T>(std::move(parts), state.segment_options, copied);
        return api::Changed<T>{std::move(parts), now.next_id()};
      });
}

template <Element T>
ChangeReport Collection<T>::update(MatrixView<T> points, PointLabels labels) {
  State& state = this->state();
  return api::changed(state, points.rows, [&](const api::Snapshot<T>& now, std::int64_t& copied) {
    api::check_points(points, state.dims, state.segment_options);
    api::check_labels(labels, points.rows);
    if (labels.ids.empty()) api::refuse("update() needs the ids of the points that it replaces");
    api::order_of(labels.ids);
    const std::vector<api::Place> places = api::find_all(now.rows(), labels.ids);
    api::NewPoints<T> added{points, {labels.ids.begin(), labels.ids.end()}, {labels.tags.begin(), labels.tags.end()}};
    if (added.tags.empty())
      for (const api::Place& place : places)
        added.tags.push_back(now.rows()[static_cast<std::size_t>(place.part)].labels->tag(place.row));
    auto left = api::without<T>(now.parts(), places, state.segment_options, copied);
    auto parts =
        api::with<T>(std::move(left), added, api::needs_one_segment(state.options), state.segment_options, copied);
    return api::Changed<T>{std::move(parts), now.next_id()};
  });
}

template <Element T>
ChangeReport Collection<T>::compact() {
  State& state = this->state();
  return api::changed(state, 0, [&](const api::Snapshot<T>& now, std::int64_t& copied) {
    return api::Changed<T>{api::joined<T>(now.parts(), state.segment_options, copied), now.next_id()};
  });
}

template <Element T>
bool Collection<T>::contains(std::int64_t id) const {
  return api::find(state().now()->rows(), id).part >= 0;
}

template <Element T>
Matrix<T> Collection<T>::points(std::span<const std::int64_t> ids) const {
  return api::guarded([&] {
    const auto now = state().now();
    const std::vector<api::Place> places = api::find_all(now->rows(), ids);
    Matrix<T> found(static_cast<std::int64_t>(ids.size()), state().dims);
    for (std::size_t i = 0; i < places.size(); ++i)
      api::copy_row(now->parts()[static_cast<std::size_t>(places[i].part)].segment->points, places[i].row,
                    found.row(static_cast<std::int64_t>(i)));
    return found;
  });
}

#define KITH_INSTANTIATE(T)                                                   \
  template Collection<T>::State::State(std::int64_t, Options);                \
  template Collection<T>::Collection(std::int64_t, Options);                  \
  template Collection<T>::Collection(MatrixView<T>, PointLabels, Options);    \
  template Collection<T>::Collection(Matrix<T>&&, PointLabels, Options);      \
  template ChangeReport Collection<T>::add(MatrixView<T>, PointLabels);       \
  template ChangeReport Collection<T>::remove(std::span<const std::int64_t>); \
  template ChangeReport Collection<T>::update(MatrixView<T>, PointLabels);    \
  template ChangeReport Collection<T>::compact();                             \
  template bool Collection<T>::contains(std::int64_t) const;                  \
  template Matrix<T> Collection<T>::points(std::span<const std::int64_t>) const;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
