#include "api/collection/find.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "api/collection/row_lists.hpp"
#include "api/index_state.hpp"
#include "core/instantiate.hpp"

namespace kith::api {
namespace {

using core::Hit;

// Seconds that copying takes beside the search of the copies, and that such a search takes to begin.
struct CopyCosts {
  double byte;
  double row;
  double begin;
};
constexpr CopyCosts kHostCopies{2.5e-10, 3e-8, 3e-5};
constexpr CopyCosts kDeviceCopies{2e-12, 4e-9, 3e-4};  // rows are named by the host
// Where the prediction of a search knows nothing of k, this many times k cost twice.
constexpr double kDoublingNeighbors = 32;
// Copies that are in memory at a time, where the budget does not say less.
constexpr std::int64_t kCopyBytes = std::int64_t{256} << 20;
// Neighbors that a list has room for before it grows.
constexpr std::int64_t kFirstRoom = 128;
// Sets of allowed rows that are in memory at a time.
constexpr std::int64_t kSetBytes = std::int64_t{64} << 20;

// A query and those of its points that are allowed in the segment at hand.
struct Wanted {
  std::int64_t query;
  const AllowedRows* allowed;
};

template <Element T>
class Finder {
 public:
  using D = DistanceOf<T>;

  Finder(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries, SearchReport& report)
      : snapshot_(snapshot), options_(options), queries_(queries), report_(report) {
    report_.filter.emplace();
  }

  // Calls found(query, hit) for every neighbor that is allowed.
  template <class Found>
  void nearest(std::int64_t k, const FilterRows& filter, Found found) {
    for_groups(filter, [&](std::size_t part, const std::vector<Wanted>& wanted) {
      nearest_in(snapshot_.parts()[part], k, wanted, found);
    });
  }
  template <class Found>
  void within(std::span<const D> radii, const FilterRows& filter, Found found) {
    for_groups(filter, [&](std::size_t part, const std::vector<Wanted>& wanted) {
      within_in(snapshot_.parts()[part], radii, wanted, found);
    });
  }

 private:
  // Calls search(part, wanted) for the queries of as many groups at a time as there is memory for.
  template <class Search>
  void for_groups(const FilterRows& filter, Search search) {
    const std::int64_t set_bytes = snapshot_.count() / 8 + 64;
    const auto step = static_cast<std::size_t>(std::max<std::int64_t>(1, kSetBytes / set_bytes));
    const auto& groups = filter.groups();
    for (std::size_t first = 0; first < groups.size(); first += step) {
      const std::size_t last = std::min(groups.size(), first + step);
      std::vector<std::vector<AllowedRows>> allowed;
      for (std::size_t g = first; g < last; ++g) allowed.push_back(filter.allowed(groups[g]));
      for (std::size_t part = 0; part < snapshot_.parts().size(); ++part) {
        std::vector<Wanted> wanted;
        for (std::size_t g = first; g < last; ++g)
          if (allowed[g - first][part].count > 0)
            for (const std::int64_t query : groups[g].queries) wanted.push_back({query, &allowed[g - first][part]});
        if (wanted.empty()) continue;
        ++report_.filter->segments;
        search(part, wanted);
      }
    }
  }

  // The rows of these queries: the caller's where they are all of them.
  struct Asked {
    Matrix<T> copy{};
    MatrixView<T> view{};
  };
  Asked asked(const std::vector<Wanted>& wanted) const {
    Asked made;
    bool all = static_cast<std::int64_t>(wanted.size()) == queries_.rows;
    for (std::size_t i = 0; all && i < wanted.size(); ++i) all = wanted[i].query == static_cast<std::int64_t>(i);
    if (all) {
      made.view = queries_;
      return made;
    }
    std::vector<std::int64_t> rows;
    for (const Wanted& each : wanted) rows.push_back(each.query);
    made.copy = copy_rows(queries_, rows);
    made.view = made.copy.view();
    return made;
  }

  void note(const SearchReport& part) {
    report_.finalists += part.finalists;
    if (part.plan.problem.base_rows >= report_.plan.problem.base_rows) report_.plan = part.plan;
    for (const SearchStep& step : part.steps) report_.steps.push_back(step);
  }

  // Seconds of a search of the whole segment for so many queries and neighbors; infinite where the budget is too small.
  double whole_seconds(const SnapshotPart<T>& part, std::int64_t queries, std::int64_t k) const {
    double planned = 0;
    try {
      planned = part.segment->index->explain(queries, k).seconds;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      return std::numeric_limits<double>::infinity();
    }
    return planned * (1 + static_cast<double>(k) / (kDoublingNeighbors * std::sqrt(static_cast<double>(k) + 1024.0)));
  }
  // The same of a copy of some rows, with making it.
  double copy_seconds(const SnapshotPart<T>& part, double whole, std::int64_t rows) const {
    const CopyCosts& costs = OneSearch::copies_rows(*part.segment->index) ? kDeviceCopies : kHostCopies;
    const double row_bytes = static_cast<double>(queries_.cols) * sizeof(T);
    return costs.begin + static_cast<double>(rows) * (costs.row + row_bytes * costs.byte) +
           whole * static_cast<double>(rows) / static_cast<double>(part.segment->points.rows);
  }

  // How many neighbors n to look for, so that k of them are allowed, mostly: n · share − k is so many deviations of the
  // number of those among n.
  static std::int64_t tested_neighbors(std::int64_t k, std::int64_t allowed, std::int64_t rows) {
    constexpr double kDeviations = 3.5;
    const double share = static_cast<double>(allowed) / static_cast<double>(rows);
    const double spread = kDeviations * std::sqrt(share * (1 - share));
    const double root = (spread + std::sqrt(spread * spread + 4 * share * static_cast<double>(k))) / (2 * share);
    const std::int64_t enough = std::min(k, allowed) + rows - allowed;  // there are always k among them
    if (root * root >= static_cast<double>(std::min(rows, enough))) return std::min(rows, enough);
    return static_cast<std::int64_t>(root * root) + 1;
  }

  template <class Found>
  void nearest_in(const SnapshotPart<T>& part, std::int64_t k, const std::vector<Wanted>& wanted, Found& found) {
    const std::int64_t rows = part.segment->points.rows;
    std::vector<Wanted> plain;
    std::map<std::int64_t, std::vector<Wanted>> tested;  // by the number of neighbors, rounded up
    std::map<const AllowedRows*, std::vector<Wanted>> copied;
    std::map<std::int64_t, double> seconds;
    const auto queries = static_cast<std::int64_t>(wanted.size());
    const auto seconds_of = [&](std::int64_t neighbors) {
      const auto [at, is_new] = seconds.try_emplace(neighbors, 0.0);
      if (is_new) at->second = whole_seconds(part, queries, neighbors);
      return at->second;
    };
    for (std::size_t i = 0; i < wanted.size();) {
      std::size_t end = i;
      while (end < wanted.size() && wanted[end].allowed == wanted[i].allowed) ++end;
      const AllowedRows& allowed = *wanted[i].allowed;
      std::vector<Wanted>* list = &plain;
      if (allowed.rows != nullptr) {
        std::int64_t neighbors = tested_neighbors(k, allowed.count, rows);
        // Few numbers of neighbors, so that few searches do.
        if (end - i < wanted.size()) neighbors = std::min(rows, rounded_up(neighbors));
        const auto count = static_cast<double>(end - i);
        const double test = seconds_of(neighbors) * count / static_cast<double>(queries);
        const double copy =
            copy_seconds(part, seconds_of(std::min(k, rows)) * count / static_cast<double>(queries), allowed.count);
        // What shifted-sort finds depends on all points that it has.
        const bool copies = copy < test || options_.method == Method::shifted_sort;
        list = copies ? &copied[&allowed] : &tested[neighbors];
      }
      list->insert(list->end(), wanted.begin() + static_cast<std::ptrdiff_t>(i),
                   wanted.begin() + static_cast<std::ptrdiff_t>(end));
      i = end;
    }
    if (!plain.empty()) {
      search(part, plain, std::min(k, rows),
             [&](const Wanted& each, const std::int64_t* ids, const D* distances, std::int64_t count) {
               for (std::int64_t i = 0; i < count && ids[i] >= 0; ++i)
                 found(each.query, hit(part, ids[i], distances[i]));
             });
    }
    while (!tested.empty()) {
      const auto [neighbors, list] = std::move(*tested.begin());
      tested.erase(tested.begin());
      report_.filter->tested += static_cast<std::int64_t>(list.size());
      const std::vector<Wanted> unanswered = test_neighbors(part, neighbors, k, list, found);
      if (unanswered.empty()) continue;
      report_.filter->repeated += static_cast<std::int64_t>(unanswered.size());
      const std::int64_t more = std::min(rows, neighbors * 4);
      if (tests_again(part, unanswered, k, more)) {
        std::vector<Wanted>& again = tested[more];
        again.insert(again.end(), unanswered.begin(), unanswered.end());
      } else {
        for (const Wanted& each : unanswered) copied[each.allowed].push_back(each);
      }
    }
    for (const auto& [allowed, list] : copied) search_copies(part, *allowed, list, k, found);
  }

  // Finds so many neighbors of each and tests them. Returns those that have too few allowed ones among them.
  template <class Found>
  std::vector<Wanted> test_neighbors(const SnapshotPart<T>& part, std::int64_t neighbors, std::int64_t k,
                                     const std::vector<Wanted>& list, Found& found) {
    std::vector<Wanted> unanswered;
    search(part, list, neighbors,
           [&](const Wanted& each, const std::int64_t* ids, const D* distances, std::int64_t count) {
             std::int64_t left = 0;
             std::int64_t at = 0;
             for (; at < count && ids[at] >= 0 && left < k; ++at) left += each.allowed->has(ids[at]) ? 1 : 0;
             const bool is_cut_off = at < count && ids[at] < 0;  // by a largest distance: there are no more
             if (left < std::min(k, each.allowed->count) && !is_cut_off && count < part.segment->points.rows) {
               unanswered.push_back(each);
               return;
             }
             for (std::int64_t i = 0; i < at; ++i)
               if (each.allowed->has(ids[i])) found(each.query, hit(part, ids[i], distances[i]));
           });
    return unanswered;
  }

  // Whether those that had too few neighbors are tested again, with more of them; else copies are searched.
  bool tests_again(const SnapshotPart<T>& part, const std::vector<Wanted>& list, std::int64_t k, std::int64_t more) {
    const auto queries = static_cast<std::int64_t>(list.size());
    const double whole = whole_seconds(part, queries, std::min(k, part.segment->points.rows));
    double copies = 0;
    std::map<const AllowedRows*, std::int64_t> counts;
    for (const Wanted& each : list) ++counts[each.allowed];
    for (const auto& [allowed, count] : counts)
      copies += copy_seconds(part, whole * static_cast<double>(count) / static_cast<double>(queries), allowed->count);
    return whole_seconds(part, queries, more) < copies;
  }

  static std::int64_t rounded_up(std::int64_t neighbors) {
    std::int64_t step = 1;
    while (step * 8 < neighbors) step *= 2;
    return (neighbors + step - 1) / step * step;
  }

  Hit<D> hit(const SnapshotPart<T>& part, std::int64_t row, D distance) const {
    return {key_of(options_.metric, distance), part.segment->labels.id(row)};
  }

  // Calls each(wanted, ids, distances, k) for the k nearest rows of the whole segment.
  template <class Each>
  void search(const SnapshotPart<T>& part, const std::vector<Wanted>& wanted, std::int64_t k, Each each) {
    // Long lists are not held for all queries at once.
    constexpr std::int64_t kListPlaces = std::int64_t{1} << 24;
    const auto step = static_cast<std::size_t>(std::max<std::int64_t>(1, kListPlaces / k));
    for (std::size_t first = 0; first < wanted.size(); first += step) {
      const std::size_t last = std::min(wanted.size(), first + step);
      const std::vector<Wanted> some(wanted.begin() + static_cast<std::ptrdiff_t>(first),
                                     wanted.begin() + static_cast<std::ptrdiff_t>(last));
      const Asked queries = asked(some);
      const Neighbors<D> lists = part.segment->index->search(queries.view, k);
      note(lists.report);
      for (std::size_t i = 0; i < some.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        each(some[i], lists.ids_of(at).data(), lists.distances_of(at).data(), k);
      }
    }
  }

  std::int64_t copy_rows_limit() const {
    const std::int64_t bytes = options_.memory_budget > 0 ? options_.memory_budget / 2 : kCopyBytes;
    return std::max<std::int64_t>(1024, bytes / (queries_.cols * static_cast<std::int64_t>(sizeof(T))));
  }

  // Calls work(copy, stream, rows) for copies of the allowed rows, as many at a time as there is memory for.
  template <class Work>
  void for_copies(const SnapshotPart<T>& part, const AllowedRows& allowed, Work work) {
    std::vector<std::int64_t> rows;
    rows.reserve(static_cast<std::size_t>(allowed.count));
    if (allowed.rows != nullptr) {
      allowed.rows->for_each([&](std::int64_t row) { rows.push_back(row); });
    } else {
      rows.resize(static_cast<std::size_t>(allowed.count));
      std::iota(rows.begin(), rows.end(), std::int64_t{0});
    }
    // A method that depends on all points has all of them.
    const std::int64_t limit = options_.method == Method::shifted_sort ? allowed.count : copy_rows_limit();
    for (std::size_t first = 0; first < rows.size(); first += static_cast<std::size_t>(limit)) {
      const std::span<const std::int64_t> some(rows.data() + first,
                                               std::min(rows.size() - first, static_cast<std::size_t>(limit)));
      report_.filter->copied += static_cast<std::int64_t>(some.size());
      if (const auto there = OneSearch::copy_rows(*part.segment->index, some)) {
        work(there->rows, there->stream, some);
      } else {
        const Matrix<T> copy = copy_rows(part.segment->points, some);
        work(copy.view(), nullptr, some);
      }
    }
  }

  template <class Found>
  void search_copies(const SnapshotPart<T>& part, const AllowedRows& allowed, const std::vector<Wanted>& wanted,
                     std::int64_t k, Found& found) {
    report_.filter->gathered += static_cast<std::int64_t>(wanted.size());
    const Asked queries = asked(wanted);
    for_copies(part, allowed, [&](const MatrixView<T>& copy, void* stream, std::span<const std::int64_t> rows) {
      const std::int64_t here = std::min(k, copy.rows);
      const Neighbors<D> lists = kith::search(copy, queries.view, here, options_, stream);
      note(lists.report);
      for (std::size_t q = 0; q < wanted.size(); ++q) {
        const auto ids = lists.ids_of(static_cast<std::int64_t>(q));
        const auto distances = lists.distances_of(static_cast<std::int64_t>(q));
        for (std::size_t i = 0; i < ids.size() && ids[i] >= 0; ++i)
          found(wanted[q].query, hit(part, rows[static_cast<std::size_t>(ids[i])], distances[i]));
      }
    });
  }

  template <class Found>
  void within_in(const SnapshotPart<T>& part, std::span<const D> radii, const std::vector<Wanted>& wanted,
                 Found& found) {
    const std::int64_t rows = part.segment->points.rows;
    // How many points lie within is not known, so the choice is by shares: copies cost about as much as so many queries
    // of all points.
    constexpr double kCopyQueries = 40;
    std::vector<Wanted> tested;
    std::map<const AllowedRows*, std::vector<Wanted>> copied;
    std::map<const AllowedRows*, double> queries;
    for (const Wanted& each : wanted) queries[each.allowed] += 1;
    for (const Wanted& each : wanted) {
      const double share = static_cast<double>(each.allowed->count) / static_cast<double>(rows);
      const double count = queries[each.allowed];
      const bool copies = each.allowed->rows != nullptr && share * (kCopyQueries + count) < count;
      if (copies) {
        copied[each.allowed].push_back(each);
      } else {
        tested.push_back(each);
      }
    }
    const auto radii_of = [&](const std::vector<Wanted>& some) {
      if (radii.size() == 1) return std::vector<D>(radii.begin(), radii.end());
      std::vector<D> theirs;
      for (const Wanted& each : some) theirs.push_back(radii[static_cast<std::size_t>(each.query)]);
      return theirs;
    };
    const auto add = [&](const RadiusNeighbors<D>& lists, const std::vector<Wanted>& some,
                         std::span<const std::int64_t> copies) {
      note(lists.report);
      for (std::size_t q = 0; q < some.size(); ++q) {
        const auto ids = lists.ids_of(static_cast<std::int64_t>(q));
        const auto distances = lists.distances_of(static_cast<std::int64_t>(q));
        for (std::size_t i = 0; i < ids.size(); ++i) {
          const std::int64_t row = copies.empty() ? ids[i] : copies[static_cast<std::size_t>(ids[i])];
          if (some[q].allowed->has(row)) found(some[q].query, hit(part, row, distances[i]));
        }
      }
    };
    if (!tested.empty()) {
      const Asked queries_of = asked(tested);
      add(part.segment->index->search_radius(queries_of.view, radii_of(tested)), tested, {});
    }
    for (const auto& [allowed, list] : copied) {
      report_.filter->gathered += static_cast<std::int64_t>(list.size());
      const Asked queries_of = asked(list);
      for_copies(part, *allowed,
                 [&, &some = list](const MatrixView<T>& copy, void* stream, std::span<const std::int64_t> from) {
                   const std::vector<D> theirs = radii_of(some);
                   add(kith::search_radius(copy, queries_of.view, std::span<const D>(theirs), RadiusOutput::neighbors,
                                           options_, stream),
                       some, from);
                 });
    }
  }

  const Snapshot<T>& snapshot_;
  const Options& options_;
  const MatrixView<T>& queries_;
  SearchReport& report_;
};

}  // namespace

template <Element T>
SearchReport find_nearest(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries,
                          std::int64_t k, const FilterRows& filter, const NeighborsView<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  SearchReport report;
  std::vector<std::vector<Hit<D>>> hits(static_cast<std::size_t>(queries.rows));
  Finder<T> finder(snapshot, options, queries, report);
  finder.nearest(k, filter, [&](std::int64_t query, const Hit<D>& hit) {
    std::vector<Hit<D>>& mine = hits[static_cast<std::size_t>(query)];
    if (mine.empty()) mine.reserve(static_cast<std::size_t>(std::min<std::int64_t>(k, kFirstRoom)));
    mine.push_back(hit);
  });
  for (std::int64_t q = 0; q < queries.rows; ++q)
    write_best(options.metric, hits[static_cast<std::size_t>(q)], k, out.ids + q * k, out.distances + q * k);
  return report;
}

template <Element T>
SearchReport find_within(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries,
                         std::span<const DistanceOf<T>> radii, const FilterRows& filter,
                         std::vector<std::vector<Hit<DistanceOf<T>>>>& hits) {
  using D = DistanceOf<T>;
  SearchReport report;
  hits.resize(static_cast<std::size_t>(queries.rows));
  Finder<T> finder(snapshot, options, queries, report);
  finder.within(radii, filter,
                [&](std::int64_t query, const Hit<D>& hit) { hits[static_cast<std::size_t>(query)].push_back(hit); });
  return report;
}

#define KITH_INSTANTIATE(T)                                                                                  \
  template SearchReport find_nearest(const Snapshot<T>&, const Options&, const MatrixView<T>&, std::int64_t, \
                                     const FilterRows&, const NeighborsView<DistanceOf<T>>&);                \
  template SearchReport find_within(const Snapshot<T>&, const Options&, const MatrixView<T>&,                \
                                    std::span<const DistanceOf<T>>, const FilterRows&,                       \
                                    std::vector<std::vector<Hit<DistanceOf<T>>>>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::api
