// searches.cpp: what a collection answers. Searches of several segments are put together here, those of one that is
// whole are its index's.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "api/checked_reduction.hpp"
#include "api/collection/find.hpp"
#include "api/collection/row_lists.hpp"
#include "api/collection/state.hpp"
#include "api/index_state.hpp"
#include "api/radii.hpp"
#include "backend/host.hpp"
#include "core/exclude_self.hpp"
#include "core/instantiate.hpp"
#include "core/neighbor_graph.hpp"

namespace kith {
namespace api {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
// Lists, and points, that are in memory at a time where there may be many.
constexpr std::int64_t kBlockBytes = std::int64_t{64} << 20;

// How many queries are at work at a time that hold so many bytes each.
std::int64_t block_of(const Options& options, std::int64_t bytes) {
  return std::max<std::int64_t>(1, held_bytes(options, kBlockBytes) / bytes);
}

template <Element T>
FilterRows filter_of(const Snapshot<T>& now, const Filter& filter, std::int64_t queries) {
  return {now.rows(), [&]() -> const Ranks& { return now.ranks(); }, filter, queries};
}

void check_shared(const Filter& filter, const char* what) {
  if (is_each(filter))
    throw Error(ErrorCode::invalid_argument, fmt::format("a filter for each query; {} has one for all", what));
}

template <Element T>
void check_queries(const MatrixView<T>& queries, std::int64_t dims) {
  check_view(queries, "queries");
  check_same_dims(dims, queries.cols);
  if (queries.memory == Memory::device)
    throw Error(ErrorCode::invalid_argument, "queries on a device for a collection, which takes host memory only");
}

// The one segment of which nothing was removed, or null.
template <Element T>
const Segment<T>* whole(const Snapshot<T>& now) {
  if (now.parts().size() != 1 || now.parts()[0].rows.live != nullptr) return nullptr;
  return now.parts()[0].segment.get();
}

// Rows of a segment become ids.
void name(const Labels& labels, std::vector<std::int64_t>& rows) {
  if (labels.ids.empty() && labels.first == 0) return;
  for (std::int64_t& row : rows)
    if (row >= 0) row = labels.id(row);
}

// Points that are left of a snapshot, in the order of their ids.
template <Element T>
struct Chosen {
  std::vector<std::int64_t> ids{};
  std::vector<std::pair<std::int64_t, std::int64_t>> places{};  // part and row of each
};

template <Element T>
Chosen<T> choose(const Snapshot<T>& now, const Filter& filter) {
  struct Place {
    std::int64_t id;
    std::int64_t part;
    std::int64_t row;
  };
  const FilterRows rows = filter_of(now, filter, 1);
  const std::vector<AllowedRows> allowed = rows.allowed(rows.groups().front());
  std::vector<Place> all;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const Labels& labels = *now.rows()[i].labels;
    for (std::int64_t row = 0; row < labels.rows; ++row)
      if (allowed[i].has(row)) all.push_back({labels.id(row), static_cast<std::int64_t>(i), row});
  }
  std::sort(all.begin(), all.end(), [](const Place& a, const Place& b) { return a.id < b.id; });
  Chosen<T> chosen;
  for (const Place& place : all) {
    chosen.ids.push_back(place.id);
    chosen.places.emplace_back(place.part, place.row);
  }
  return chosen;
}

template <Element T>
Matrix<T> points_of(const Snapshot<T>& now, const Chosen<T>& chosen, std::int64_t first, std::int64_t count) {
  Matrix<T> points(count, now.parts().front().segment->points.cols);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [part, row] = chosen.places[static_cast<std::size_t>(first + i)];
    copy_row(now.parts()[static_cast<std::size_t>(part)].segment->points, row, points.row(i));
  }
  return points;
}

void add(SearchReport& sum, const SearchReport& report) {
  const double seconds = sum.seconds;
  const std::int64_t finalists = sum.finalists;
  const auto filter = sum.filter;
  sum = report;
  sum.seconds += seconds;
  sum.finalists += finalists;
  if (!filter || !sum.filter) return;
  sum.filter->tested += filter->tested;
  sum.filter->repeated += filter->repeated;
  sum.filter->narrowed += filter->narrowed;
  sum.filter->gathered += filter->gathered;
  sum.filter->copied += filter->copied;
  sum.filter->segments += filter->segments;
}

// The same filter for some of the queries.
struct FilterOfBlock {
  FilterOfBlock(const Filter& filter, std::int64_t points, std::int64_t first, std::int64_t count) : part(filter) {
    if (part.mask && part.mask->each) {
      const auto take = [&](auto& values, std::int64_t width) {
        if (!values.empty())
          values = values.subspan(static_cast<std::size_t>(first * width), static_cast<std::size_t>(count * width));
      };
      take(part.mask->bytes, points);
      take(part.mask->words, (points + 63) / 64);
    }
    int list = 0;
    for (auto* lists : {&part.allowed, &part.excluded, &part.tags}) {
      std::vector<std::int64_t>& mine = offsets[list++];
      if (!*lists || (*lists)->offsets.empty()) continue;
      const auto from = (*lists)->offsets.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count) + 1);
      for (const std::int64_t offset : from) mine.push_back(offset - from.front());
      (*lists)->values = (*lists)->values.subspan(static_cast<std::size_t>(from.front()),
                                                  static_cast<std::size_t>(from.back() - from.front()));
      (*lists)->offsets = mine;
    }
  }

  Filter part;
  std::vector<std::int64_t> offsets[3];
};

// Calls search(count) and sets the report's time.
template <class Search>
auto timed(Search search) {
  return guarded([&] {
    const auto start = std::chrono::steady_clock::now();
    auto found = search();
    found.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return found;
  });
}

template <class D>
Neighbors<D> room_for(std::int64_t queries, std::int64_t k) {
  check_output(queries, k, sizeof(std::int64_t) + sizeof(D));
  Neighbors<D> found;
  found.queries = queries;
  found.k = k;
  found.ids.resize(static_cast<std::size_t>(queries * k));
  found.distances.resize(found.ids.size());
  return found;
}

void check_number(std::int64_t k, std::int64_t points, bool pads, const char* why) {
  check_k(k, pads ? kAnyNumber : std::max<std::int64_t>(points, 0), why);
}

// The k nearest others of the chosen points.
template <Element T>
SearchReport find_others(const Snapshot<T>& now, const Options& options, const Chosen<T>& chosen, std::int64_t k,
                         const Filter& filter, const NeighborsView<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  SearchReport sum;
  if (chosen.ids.empty()) return sum;
  const auto points = static_cast<std::int64_t>(chosen.ids.size());
  const std::int64_t dims = now.parts().front().segment->points.cols;
  const std::int64_t block = block_of(options, (k + 1) * static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(D)) +
                                                   dims * static_cast<std::int64_t>(sizeof(T)));
  for (std::int64_t first = 0; first < points; first += block) {
    const std::int64_t count = std::min(block, points - first);
    const Matrix<T> queries = points_of(now, chosen, first, count);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(count * (k + 1)));
    std::vector<D> distances(ids.size());
    const FilterRows rows = filter_of(now, filter, count);
    add(sum, find_nearest(now, options, queries.view(), k + 1, rows, NeighborsView<D>{ids.data(), distances.data()}));
    for (std::int64_t q = 0; q < count; ++q) {
      const std::int64_t self = chosen.ids[static_cast<std::size_t>(first + q)];
      const std::int64_t* const from = ids.data() + q * (k + 1);
      const std::int64_t at = std::find(from, from + k, self) - from;  // k: the last one is dropped
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t source = i < at ? i : i + 1;
        out.ids[(first + q) * k + i] = from[source];
        out.distances[(first + q) * k + i] = distances[static_cast<std::size_t>(q * (k + 1) + source)];
      }
    }
  }
  return sum;
}

// Appends the hits of each query, sorted, as rows of an answer; without the point itself where queries are `self`.
template <class D>
void append_rows(const Metric& metric, std::vector<std::vector<core::Hit<D>>>& hits, std::span<const std::int64_t> self,
                 RadiusNeighbors<D>& found) {
  for (std::size_t q = 0; q < hits.size(); ++q) {
    std::vector<core::Hit<D>>& mine = hits[q];
    if (!self.empty())
      mine.erase(std::remove_if(mine.begin(), mine.end(), [&](const auto& hit) { return hit.id == self[q]; }),
                 mine.end());
    found.offsets.push_back(found.offsets.back() + static_cast<std::int64_t>(mine.size()));
    std::sort(mine.begin(), mine.end());
    for (const core::Hit<D>& hit : mine) {
      found.ids.push_back(hit.id);
      found.distances.push_back(core::returned_value(metric, hit.key));
    }
    mine = {};
  }
}

// Adds the rows of some queries to an answer, or the numbers of their neighbors.
template <Element T>
void append_within(const Snapshot<T>& now, const Options& options, const MatrixView<T>& queries,
                   std::span<const DistanceOf<T>> radii, const FilterRows& filter, std::span<const std::int64_t> self,
                   RadiusOutput output, RadiusNeighbors<DistanceOf<T>>& found) {
  found.queries += queries.rows;
  if (output == RadiusOutput::count_only) {
    std::vector<std::int64_t> counts;
    add(found.report, count_within(now, options, queries, radii, filter, self, counts));
    for (const std::int64_t count : counts) found.offsets.push_back(found.offsets.back() + count);
    return;
  }
  std::vector<std::vector<core::Hit<DistanceOf<T>>>> hits;
  add(found.report, find_within(now, options, queries, radii, filter, hits));
  append_rows(options.metric, hits, self, found);
}

// The neighbors of a query, as reduce_neighbors() takes them: points by part and row, values by rank.
template <Element T>
struct FoundNeighbors {
  const Snapshot<T>& now;
  const Ranks& ranks;
  const MatrixView<DistanceOf<T>>& values;
  const std::int64_t* ids;
  const DistanceOf<T>* distances;

  double distance(std::int64_t r) const { return static_cast<double>(distances[r]); }
  double value(std::int64_t r, std::int64_t c) const { return static_cast<double>(values(ranks.rank(ids[r]), c)); }
  double coordinate(std::int64_t r, std::int64_t c) const {
    for (const SnapshotPart<T>& part : now.parts()) {
      const std::int64_t row = part.segment->labels.find(ids[r]);
      if (row >= 0 && part.rows.has(row)) return static_cast<double>(part.segment->points(row, c));
    }
    return 0;  // not reached: neighbors are points of the snapshot
  }
};

}  // namespace
}  // namespace api

template <Element T>
Collection<T>::Collection(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <Element T>
Collection<T>::Collection(Collection&&) noexcept = default;
template <Element T>
Collection<T>& Collection<T>::operator=(Collection&&) noexcept = default;
template <Element T>
Collection<T>::~Collection() = default;

template <Element T>
auto Collection<T>::state() const -> State& {
  if (state_ == nullptr)
    throw Error(ErrorCode::invalid_argument, "this collection has no points any more: it was moved from");
  return *state_;
}

template <Element T>
std::int64_t Collection<T>::rows() const {
  return state().unchecked()->count();
}

template <Element T>
std::int64_t Collection<T>::dims() const {
  return state().dims;
}

template <Element T>
const Options& Collection<T>::options() const {
  return state().options;
}

template <Element T>
std::vector<std::int64_t> Collection<T>::ids(const Filter& filter) const {
  return api::guarded([&] {
    api::check_shared(filter, "a list of ids");
    return api::choose(*state().now(), filter).ids;
  });
}

template <Element T>
auto Collection<T>::search(MatrixView<T> queries, std::int64_t k, const Filter& filter) const -> Neighbors<D> {
  return api::timed([&] {
    const auto now = state().now();
    const Options& options = state().segment_options;
    api::check_queries(queries, state().dims);
    const bool pads = state().options.pad_missing || !filter.is_empty();
    api::check_number(k, now->count(), pads, "the number of points is");
    if (const auto* const segment = api::whole(*now); segment != nullptr && filter.is_empty() && k <= now->count()) {
      Neighbors<D> found = segment->index->search(queries, k);
      api::name(segment->labels, found.ids);
      found.report.filter.emplace().segments = 1;
      return found;
    }
    const api::FilterRows rows = api::filter_of(*now, filter, queries.rows);
    cpu::check_queries(queries, options);
    Neighbors<D> found = api::room_for<D>(queries.rows, k);
    found.report =
        api::find_nearest(*now, options, queries, k, rows, NeighborsView<D>{found.ids.data(), found.distances.data()});
    return found;
  });
}

template <Element T>
auto Collection<T>::search_self(std::int64_t k, const Filter& filter) const -> Neighbors<D> {
  return api::timed([&] {
    const auto now = state().now();
    api::check_shared(filter, "a search of points for each other");
    if (const auto* const segment = api::whole(*now); segment != nullptr && filter.is_empty() && k < now->count()) {
      Neighbors<D> found = segment->index->search_self(k);
      api::name(segment->labels, found.ids);
      found.report.filter.emplace().segments = 1;
      return found;
    }
    const api::Chosen<T> chosen = api::choose(*now, filter);
    const auto points = static_cast<std::int64_t>(chosen.ids.size());
    api::check_number(k, points - 1, state().options.pad_missing, "the number of other points is");
    Neighbors<D> found = api::room_for<D>(points, k);
    found.report = api::find_others(*now, state().segment_options, chosen, k, filter,
                                    NeighborsView<D>{found.ids.data(), found.distances.data()});
    return found;
  });
}

template <Element T>
auto Collection<T>::search_radius(MatrixView<T> queries, std::span<const D> radii, const Filter& filter,
                                  RadiusOutput output) const -> RadiusNeighbors<D> {
  return api::timed([&] {
    const auto now = state().now();
    api::check_queries(queries, state().dims);
    if (const auto* const segment = api::whole(*now); segment != nullptr && filter.is_empty()) {
      RadiusNeighbors<D> found = segment->index->search_radius(queries, radii, output);
      api::name(segment->labels, found.ids);
      found.report.filter.emplace().segments = 1;
      return found;
    }
    api::checked_radii<D>(radii, queries.rows, state().options.metric.kind == MetricKind::inner_product);
    const api::FilterRows rows = api::filter_of(*now, filter, queries.rows);
    cpu::check_queries(queries, state().segment_options);
    RadiusNeighbors<D> found;
    found.offsets.assign(1, 0);
    api::append_within<T>(*now, state().segment_options, queries, radii, rows, {}, output, found);
    return found;
  });
}

template <Element T>
auto Collection<T>::search_radius_self(std::span<const D> radii, const Filter& filter, RadiusOutput output) const
    -> RadiusNeighbors<D> {
  return api::timed([&] {
    const auto now = state().now();
    api::check_shared(filter, "a search of points for each other");
    if (const auto* const segment = api::whole(*now); segment != nullptr && filter.is_empty()) {
      RadiusNeighbors<D> found = segment->index->search_radius_self(radii, output);
      api::name(segment->labels, found.ids);
      found.report.filter.emplace().segments = 1;
      return found;
    }
    const api::Chosen<T> chosen = api::choose(*now, filter);
    const auto points = static_cast<std::int64_t>(chosen.ids.size());
    api::checked_radii<D>(radii, points, state().options.metric.kind == MetricKind::inner_product);
    RadiusNeighbors<D> found;
    found.offsets.assign(1, 0);
    const std::int64_t block = api::block_of(state().options, state().dims * static_cast<std::int64_t>(sizeof(T)));
    for (std::int64_t first = 0; first < points; first += block) {
      const std::int64_t count = std::min(block, points - first);
      const auto some = [&](auto all) {
        return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      };
      const Matrix<T> queries = api::points_of(*now, chosen, first, count);
      const api::FilterRows rows = api::filter_of(*now, filter, count);
      api::append_within<T>(*now, state().segment_options, queries.view(), radii.size() == 1 ? radii : some(radii),
                            rows, some(std::span<const std::int64_t>(chosen.ids)), output, found);
    }
    return found;
  });
}

template <Element T>
auto Collection<T>::graph(std::int64_t k, Symmetrize symmetrize, const Filter& filter) const -> Graph<D> {
  return api::timed([&] {
    const auto now = state().now();
    api::check_shared(filter, "a graph");
    if (const auto* const segment = api::whole(*now); segment != nullptr && filter.is_empty() && k < now->count())
      return segment->index->graph(k, symmetrize);
    const api::Chosen<T> chosen = api::choose(*now, filter);
    const auto points = static_cast<std::int64_t>(chosen.ids.size());
    const bool pads = state().options.pad_missing;
    api::check_number(k, points - 1, pads, "the number of other points is");
    api::check_output(points, k, sizeof(std::int64_t) + sizeof(D));
    Graph<D> made;
    made.points = points;
    made.indptr.resize(static_cast<std::size_t>(points) + 1);
    const bool is_cut_off = pads || std::isfinite(state().options.max_distance);
    const GraphLists<D> lists{made.indptr.data(), api::growing(made.indices, made.data)};
    core::make_graph<D>(points, k, symmetrize, is_cut_off, lists, [&](const NeighborsView<D>& out) {
      made.report = api::find_others(*now, state().segment_options, chosen, k, filter, out);
      const auto rank = [&](std::int64_t id) {
        return std::lower_bound(chosen.ids.begin(), chosen.ids.end(), id) - chosen.ids.begin();
      };
      for (std::int64_t i = 0; i < points * k; ++i)
        if (out.ids[i] != core::kNoNeighbor) out.ids[i] = rank(out.ids[i]);
    });
    return made;
  });
}

template <Element T>
auto Collection<T>::reduce(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op,
                           const Filter& filter) const -> Reduced<D> {
  return api::timed([&] {
    const auto now = state().now();
    api::check_queries(queries, state().dims);
    api::check_k(k, now->count(), "the number of points is");
    const core::Reduction reduction =
        api::checked_reduction(now->count(), state().dims, k, values, op, state().options);
    if (const auto* const segment = api::whole(*now); segment != nullptr && filter.is_empty())
      return segment->index->reduce(queries, k, values, op);
    api::check_filter(filter, now->count(), queries.rows);
    cpu::check_queries(queries, state().segment_options);
    const std::int64_t columns = core::reduced_columns(reduction);
    api::check_output(queries.rows, columns, sizeof(D));
    Reduced<D> reduced;
    reduced.values = Matrix<D>(queries.rows, columns);
    const std::int64_t block =
        api::block_of(state().options, k * static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(D)));
    for (std::int64_t first = 0; first < queries.rows; first += block) {
      const std::int64_t count = std::min(block, queries.rows - first);
      const api::FilterOfBlock some(filter, now->count(), first, count);
      std::vector<std::int64_t> ids(static_cast<std::size_t>(count * k));
      std::vector<D> distances(ids.size());
      const NeighborsView<D> lists{ids.data(), distances.data()};
      api::add(reduced.report, api::find_nearest(*now, state().segment_options, queries.rows_from(first, count), k,
                                                 api::filter_of(*now, some.part, count), lists));
      const auto missing = std::find(ids.begin(), ids.end(), core::kNoNeighbor);
      if (missing != ids.end())
        throw Error(ErrorCode::invalid_argument, fmt::format("the filter leaves query {} fewer than k = {} points",
                                                             first + (missing - ids.begin()) / k, k));
      for (std::int64_t q = 0; q < count; ++q) {
        const api::FoundNeighbors<T> near{*now, now->ranks(), values, ids.data() + q * k, distances.data() + q * k};
        D* const out = reduced.values.row(first + q);
        core::reduce_neighbors<core::HostLanes>(reduction, near,
                                                [&](std::int64_t c, double value) { out[c] = static_cast<D>(value); });
      }
    }
    return reduced;
  });
}

template <Element T>
Plan Collection<T>::explain(std::int64_t queries, std::int64_t k) const {
  const auto now = state().unchecked();
  if (now->parts().empty()) throw Error(ErrorCode::invalid_argument, "the collection has no points to plan for");
  const auto& parts = now->parts();
  const auto largest = std::max_element(parts.begin(), parts.end(),
                                        [](const auto& a, const auto& b) { return a.rows.count < b.rows.count; });
  return largest->segment->index->explain(queries, k);
}

#define KITH_INSTANTIATE(T) template class Collection<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
