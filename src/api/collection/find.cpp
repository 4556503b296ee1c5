#include "api/collection/find.hpp"

#include <fmt/format.h>

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
// Sets of allowed rows that are in memory at a time; lists of a search of a segment; hits that are counted.
constexpr std::int64_t kSetBytes = std::int64_t{64} << 20;
constexpr std::int64_t kListBytes = std::int64_t{256} << 20;
constexpr std::int64_t kHitBytes = std::int64_t{64} << 20;
constexpr std::int64_t kPlaceBytes = 16;  // of an id and a distance

// A query and those of its points that are allowed in the segment at hand.
struct Wanted {
  std::int64_t query;
  const AllowedRows* allowed;
};

constexpr double kNever = std::numeric_limits<double>::infinity();

template <Element T>
class Finder {
 public:
  using D = DistanceOf<T>;

  Finder(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries, SearchReport& report)
      : snapshot_(snapshot), options_(options), queries_(queries), report_(report) {
    report_.filter.emplace();
  }

  // Calls found(query, hit) for every neighbor that is allowed, then done(query).
  template <class Found, class Done>
  void nearest(std::int64_t k, const FilterRows& filter, Found found, Done done) {
    const std::int64_t places = std::max<std::int64_t>(1, held_bytes(options_, kListBytes) / kPlaceBytes);
    for_groups(
        filter, std::max<std::int64_t>(1, places / k / 2),
        [&](std::size_t part, const std::vector<Wanted>& wanted) {
          nearest_in(snapshot_.parts()[part], k, wanted, found);
        },
        done);
  }
  template <class Found>
  void within(std::span<const D> radii, const FilterRows& filter, Found found) {
    for_groups(
        filter, queries_.rows,
        [&](std::size_t part, const std::vector<Wanted>& wanted) {
          within_in(snapshot_.parts()[part], wanted,
                    [&](const auto& search, const std::vector<Wanted>& some, std::span<const std::int64_t> copies) {
                      const Asked asked_for = asked(some);
                      const auto lists = search(asked_for.view, radii_of(radii, some), RadiusOutput::neighbors);
                      note(lists.report);
                      for_hits(snapshot_.parts()[part], lists, some, copies, found);
                    });
        },
        [](std::int64_t) {});
  }
  // Adds to the counts of queries, without the points of these ids where there are some.
  void count(std::span<const D> radii, const FilterRows& filter, std::span<const std::int64_t> self,
             std::vector<std::int64_t>& counts) {
    for_groups(
        filter, queries_.rows,
        [&](std::size_t part, const std::vector<Wanted>& wanted) {
          within_in(snapshot_.parts()[part], wanted,
                    [&](const auto& search, const std::vector<Wanted>& some, std::span<const std::int64_t> copies) {
                      count_hits(snapshot_.parts()[part], radii, search, some, copies, self, counts);
                    });
        },
        [](std::int64_t) {});
  }

 private:
  // Calls search(part, wanted) for the queries of as many groups at a time as there is memory for, no more than
  // `block`, and done(query) for each of them.
  template <class Search, class Done>
  void for_groups(const FilterRows& filter, std::int64_t block, Search search, Done done) {
    const std::int64_t set_bytes = snapshot_.count() / 8 + 64;
    const auto step = static_cast<std::size_t>(std::max<std::int64_t>(1, held_bytes(options_, kSetBytes) / set_bytes));
    const auto& groups = filter.groups();
    for (std::size_t first = 0; first < groups.size(); first += step) {
      const std::size_t last = std::min(groups.size(), first + step);
      std::vector<std::vector<AllowedRows>> allowed;
      std::vector<std::pair<std::int64_t, std::size_t>> queries;  // with the group of each
      for (std::size_t g = first; g < last; ++g) {
        allowed.push_back(filter.allowed(groups[g]));
        for (const std::int64_t query : groups[g].queries) queries.emplace_back(query, g - first);
      }
      std::vector<bool> is_searched(snapshot_.parts().size());
      for (std::size_t at = 0; at < queries.size(); at += static_cast<std::size_t>(block)) {
        const std::span some(queries.data() + at, std::min(queries.size() - at, static_cast<std::size_t>(block)));
        for (std::size_t part = 0; part < snapshot_.parts().size(); ++part) {
          std::vector<Wanted> wanted;
          for (const auto& [query, group] : some)
            if (allowed[group][part].count > 0) wanted.push_back({query, &allowed[group][part]});
          if (wanted.empty()) continue;
          is_searched[part] = true;
          search(part, wanted);
        }
        for (const auto& [query, group] : some) done(query);
      }
      report_.filter->segments += std::count(is_searched.begin(), is_searched.end(), true);
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

  // Seconds of a search of the whole segment for so many queries and neighbors; infinite where the budget is too small,
  // or where the method takes fewer neighbors.
  double whole_seconds(const SnapshotPart<T>& part, std::int64_t queries, std::int64_t k) const {
    double planned = 0;
    try {
      planned = part.segment->index->explain(queries, k).seconds;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory && error.code() != ErrorCode::invalid_argument) throw;
      return kNever;
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
    std::map<const AllowedRows*, std::vector<Wanted>> narrowed;  // searches that leave out what is not allowed
    std::map<std::int64_t, std::vector<Wanted>> tested;          // by the number of neighbors, rounded up
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
        const double queries_here = static_cast<double>(end - i) / static_cast<double>(queries);
        const Way way = cheapest_way(part, allowed, std::min(k, rows), neighbors, queries_here, seconds_of);
        list = way == Way::copies ? &copied[&allowed] : way == Way::tests ? &tested[neighbors] : &narrowed[&allowed];
      }
      list->insert(list->end(), wanted.begin() + static_cast<std::ptrdiff_t>(i),
                   wanted.begin() + static_cast<std::ptrdiff_t>(end));
      i = end;
    }
    if (!plain.empty()) {
      search(part, plain, std::min(k, rows), nullptr,
             [&](const Wanted& each, const std::int64_t* ids, const D* distances, std::int64_t count) {
               for (std::int64_t i = 0; i < count && ids[i] >= 0; ++i)
                 found(each.query, hit(part, ids[i], distances[i]));
             });
    }
    const auto repeat = [&](const std::vector<Wanted>& unanswered, std::int64_t neighbors) {
      if (unanswered.empty()) return;
      report_.filter->repeated += static_cast<std::int64_t>(unanswered.size());
      const std::int64_t more = std::min(rows, neighbors * 4);
      if (tests_again(part, unanswered, k, more)) {
        std::vector<Wanted>& again = tested[more];
        again.insert(again.end(), unanswered.begin(), unanswered.end());
      } else {
        for (const Wanted& each : unanswered) copied[each.allowed].push_back(each);
      }
    };
    for (const auto& [allowed, list] : narrowed) repeat(test_neighbors(part, k, k, list, found, allowed), k);
    while (!tested.empty()) {
      const auto [neighbors, list] = std::move(*tested.begin());
      tested.erase(tested.begin());
      repeat(test_neighbors(part, neighbors, k, list, found), neighbors);
    }
    for (const auto& [allowed, list] : copied) search_copies(part, *allowed, list, k, found);
  }

  // Finds so many neighbors of each and tests them; `narrowed`: by a search that leaves out most of the other points.
  // Returns those that have too few allowed ones among them.
  template <class Found>
  std::vector<Wanted> test_neighbors(const SnapshotPart<T>& part, std::int64_t neighbors, std::int64_t k,
                                     const std::vector<Wanted>& list, Found& found,
                                     const AllowedRows* narrowed = nullptr) {
    std::vector<Wanted> unanswered;
    const auto queries = static_cast<std::int64_t>(list.size());
    report_.filter->tested += queries;
    if (narrowed != nullptr) report_.filter->narrowed += queries;
    search(part, list, neighbors, narrowed,
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

  // How the allowed points are searched.
  enum class Way { copies, tests, narrowed };

  // What takes least time of looking for k neighbors in copies, for so many among all points, or for k by a search that
  // leaves the others out. `seconds_of` are a search's for all queries, of which these are a fraction.
  template <class Seconds>
  Way cheapest_way(const SnapshotPart<T>& part, const AllowedRows& allowed, std::int64_t k, std::int64_t neighbors,
                   double fraction, Seconds seconds_of) const {
    // What shifted-sort finds depends on all points that it has.
    if (options_.method == Method::shifted_sort) return Way::copies;
    const double copy = copy_seconds(part, seconds_of(k) * fraction, allowed.count);
    const double narrow = fraction < 1 ? kNever : narrowed_seconds(part, allowed, k);
    // Some selections of devices take short lists only.
    const bool takes_long = options_.select == SelectMethod::automatic || options_.backend == Backend::cpu;
    const double test = takes_long ? seconds_of(neighbors) * fraction : kNever;
    if (test == kNever && narrow == kNever) return Way::copies;
    if (copy < std::min(test, narrow)) return Way::copies;
    return narrow < test ? Way::narrowed : Way::tests;
  }

  // Seconds of a search of all queries in the whole segment that leaves out what is not allowed; infinite where it
  // would find other points too, since no search by such a plan leaves them out, or a sample has too few to go by.
  double narrowed_seconds(const SnapshotPart<T>& part, const AllowedRows& allowed, std::int64_t k) const {
    constexpr double kLeastShare = 0.05;
    constexpr double kMaskByteSeconds = 5e-10;  // on its way to the device and there
    const auto rows = static_cast<double>(part.segment->points.rows);
    const Index<T>& index = *part.segment->index;
    if (static_cast<double>(allowed.count) < kLeastShare * rows || k > allowed.count) return kNever;
    const Plan plan = index.explain(queries_.rows, k);
    return OneSearch::leaves_out(index, plan) ? plan.seconds + rows / 8 * kMaskByteSeconds : kNever;
  }

  static std::int64_t rounded_up(std::int64_t neighbors) {
    std::int64_t step = 1;
    while (step * 8 < neighbors) step *= 2;
    return (neighbors + step - 1) / step * step;
  }

  Hit<D> hit(const SnapshotPart<T>& part, std::int64_t row, D distance) const {
    return {core::key_of(options_.metric, distance), part.segment->labels.id(row)};
  }

  // Calls each(wanted, ids, distances, k) for the k nearest rows of the whole segment, of which those that are not
  // `narrowed` may be missing.
  template <class Each>
  void search(const SnapshotPart<T>& part, const std::vector<Wanted>& wanted, std::int64_t k,
              const AllowedRows* narrowed, Each each) {
    const Index<T>& index = *part.segment->index;
    // Long lists are not held for all queries at once.
    const auto step =
        static_cast<std::size_t>(std::max<std::int64_t>(1, held_bytes(options_, kListBytes) / kPlaceBytes / k));
    for (std::size_t first = 0; first < wanted.size(); first += step) {
      const std::size_t last = std::min(wanted.size(), first + step);
      const std::vector<Wanted> some(wanted.begin() + static_cast<std::ptrdiff_t>(first),
                                     wanted.begin() + static_cast<std::ptrdiff_t>(last));
      const Asked queries = asked(some);
      const Neighbors<D> lists = narrowed == nullptr
                                     ? index.search(queries.view, k)
                                     : OneSearch::search_wanted(index, queries.view, k, narrowed->rows->words().data());
      note(lists.report);
      for (std::size_t i = 0; i < some.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        each(some[i], lists.ids_of(at).data(), lists.distances_of(at).data(), k);
      }
    }
  }

  std::int64_t row_bytes() const { return queries_.cols * static_cast<std::int64_t>(sizeof(T)); }

  // How many rows are copied at a time. A method that depends on all points has all of them.
  std::int64_t copy_rows_limit(std::int64_t allowed) const {
    if (options_.method != Method::shifted_sort)
      return std::max<std::int64_t>(1, held_bytes(options_, kCopyBytes) / row_bytes());
    const std::int64_t budget = options_.memory_budget;
    if (budget > 0 && allowed > budget / row_bytes())
      throw Error(
          ErrorCode::out_of_memory,
          fmt::format("method shifted-sort searches a copy of the {} points that a filter leaves, {} bytes; the "
                      "memory budget is {} bytes",
                      allowed, allowed * row_bytes(), budget));
    return allowed;
  }

  // Of a search of copies, which have a part of the budget.
  Options copy_options(const MatrixView<T>& copy) const {
    Options options = options_;
    if (options.memory_budget > 0)
      options.memory_budget = std::max<std::int64_t>(1, options.memory_budget - copy.rows * row_bytes());
    return options;
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
    const std::int64_t limit = copy_rows_limit(allowed.count);
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
      const Neighbors<D> lists = kith::search(copy, queries.view, here, copy_options(copy), stream);
      note(lists.report);
      for (std::size_t q = 0; q < wanted.size(); ++q) {
        const auto ids = lists.ids_of(static_cast<std::int64_t>(q));
        const auto distances = lists.distances_of(static_cast<std::int64_t>(q));
        for (std::size_t i = 0; i < ids.size() && ids[i] >= 0; ++i)
          found(wanted[q].query, hit(part, rows[static_cast<std::size_t>(ids[i])], distances[i]));
      }
    });
  }

  static std::vector<D> radii_of(std::span<const D> radii, const std::vector<Wanted>& some) {
    if (radii.size() == 1) return std::vector<D>(radii.begin(), radii.end());
    std::vector<D> theirs;
    for (const Wanted& each : some) theirs.push_back(radii[static_cast<std::size_t>(each.query)]);
    return theirs;
  }

  // Calls found(query, hit) for those that are allowed of lists of rows, which are numbers of `copies` where there are
  // some.
  template <class Found>
  void for_hits(const SnapshotPart<T>& part, const RadiusNeighbors<D>& lists, std::span<const Wanted> some,
                std::span<const std::int64_t> copies, const Found& found) const {
    for (std::size_t q = 0; q < some.size(); ++q) {
      const auto ids = lists.ids_of(static_cast<std::int64_t>(q));
      const auto distances = lists.distances_of(static_cast<std::int64_t>(q));
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::int64_t row = copies.empty() ? ids[i] : copies[static_cast<std::size_t>(ids[i])];
        if (some[q].allowed->has(row)) found(some[q].query, hit(part, row, distances[i]));
      }
    }
  }

  // Counts what search(queries, radii, output) finds.
  template <class Search>
  void count_hits(const SnapshotPart<T>& part, std::span<const D> radii, const Search& search,
                  const std::vector<Wanted>& some, std::span<const std::int64_t> copies,
                  std::span<const std::int64_t> self, std::vector<std::int64_t>& counts) {
    const Asked asked_for = asked(some);
    const RadiusNeighbors<D> all = search(asked_for.view, radii_of(radii, some), RadiusOutput::count_only);
    note(all.report);
    std::vector<Wanted> looked_at;
    std::vector<std::int64_t> places;  // how many hits each of these has
    for (std::size_t q = 0; q < some.size(); ++q) {
      const std::int64_t found = all.count_of(static_cast<std::int64_t>(q));
      const auto query = static_cast<std::size_t>(some[q].query);
      const bool may_be_left_out = copies.empty() && some[q].allowed->rows != nullptr;
      if (found > 0 && (may_be_left_out || (!self.empty() && part.segment->labels.find(self[query]) >= 0))) {
        looked_at.push_back(some[q]);
        places.push_back(found);
      } else {
        counts[query] += found;
      }
    }
    const std::int64_t limit = held_bytes(options_, kHitBytes) / kPlaceBytes;
    for (std::size_t first = 0; first < looked_at.size();) {
      std::size_t last = first + 1;
      for (std::int64_t held = places[first]; last < looked_at.size() && held + places[last] <= limit; ++last)
        held += places[last];
      const std::vector<Wanted> block(looked_at.begin() + static_cast<std::ptrdiff_t>(first),
                                      looked_at.begin() + static_cast<std::ptrdiff_t>(last));
      const Asked queries = asked(block);
      for_hits(part, search(queries.view, radii_of(radii, block), RadiusOutput::neighbors), block, copies,
               [&](std::int64_t query, const Hit<D>& found) {
                 const auto at = static_cast<std::size_t>(query);
                 counts[at] += self.empty() || found.id != self[at] ? 1 : 0;
               });
      first = last;
    }
  }

  // Calls take(search, wanted, copies) for the queries that are to search the whole segment, and for those that search
  // copies of some rows: search(queries, radii, output) does.
  template <class Take>
  void within_in(const SnapshotPart<T>& part, const std::vector<Wanted>& wanted, Take take) {
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
    if (!tested.empty())
      take([&](const MatrixView<T>& some, const std::vector<D>& theirs,
               RadiusOutput output) { return part.segment->index->search_radius(some, theirs, output); },
           tested, {});
    for (const auto& [allowed, list] : copied) {
      report_.filter->gathered += static_cast<std::int64_t>(list.size());
      for_copies(part, *allowed,
                 [&, &some = list](const MatrixView<T>& copy, void* stream, std::span<const std::int64_t> from) {
                   const Options options = copy_options(copy);
                   take(
                       [&](const MatrixView<T>& asked_for, const std::vector<D>& theirs, RadiusOutput output) {
                         return kith::search_radius(copy, asked_for, std::span<const D>(theirs), output, options,
                                                    stream);
                       },
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

std::int64_t held_bytes(const Options& options, std::int64_t bytes) {
  return options.memory_budget > 0 ? std::min(bytes, options.memory_budget / 4) : bytes;
}

template <Element T>
SearchReport find_nearest(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries,
                          std::int64_t k, const FilterRows& filter, const NeighborsView<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  SearchReport report;
  std::vector<std::vector<Hit<D>>> hits(static_cast<std::size_t>(queries.rows));
  const auto most = 2 * static_cast<std::size_t>(k);
  const auto found = [&](std::int64_t query, const Hit<D>& hit) {
    std::vector<Hit<D>>& mine = hits[static_cast<std::size_t>(query)];
    if (mine.empty()) mine.reserve(static_cast<std::size_t>(std::min<std::int64_t>(k, kFirstRoom)));
    mine.push_back(hit);
    if (mine.size() < most) return;
    std::nth_element(mine.begin(), mine.begin() + k - 1, mine.end());
    mine.resize(static_cast<std::size_t>(k));
  };
  Finder<T>(snapshot, options, queries, report).nearest(k, filter, found, [&](std::int64_t query) {
    std::vector<Hit<D>> mine = std::move(hits[static_cast<std::size_t>(query)]);
    write_best(options.metric, mine, k, out.ids + query * k, out.distances + query * k);
  });
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

template <Element T>
SearchReport count_within(const Snapshot<T>& snapshot, const Options& options, const MatrixView<T>& queries,
                          std::span<const DistanceOf<T>> radii, const FilterRows& filter,
                          std::span<const std::int64_t> self, std::vector<std::int64_t>& counts) {
  SearchReport report;
  counts.resize(static_cast<std::size_t>(queries.rows));
  Finder<T>(snapshot, options, queries, report).count(radii, filter, self, counts);
  return report;
}

#define KITH_INSTANTIATE(T)                                                                                            \
  template SearchReport find_nearest(const Snapshot<T>&, const Options&, const MatrixView<T>&, std::int64_t,           \
                                     const FilterRows&, const NeighborsView<DistanceOf<T>>&);                          \
  template SearchReport find_within(const Snapshot<T>&, const Options&, const MatrixView<T>&,                          \
                                    std::span<const DistanceOf<T>>, const FilterRows&,                                 \
                                    std::vector<std::vector<Hit<DistanceOf<T>>>>&);                                    \
  template SearchReport count_within(const Snapshot<T>&, const Options&, const MatrixView<T>&,                         \
                                     std::span<const DistanceOf<T>>, const FilterRows&, std::span<const std::int64_t>, \
                                     std::vector<std::int64_t>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::api
