#include "custom/mapped_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "cpu/facts.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/sort_hits.hpp"
#include "custom/listed_distances.hpp"
#include "kith/error.hpp"

namespace kith::custom {
namespace {

// Queries between two looks at the progress, and so many where nobody looks.
constexpr std::int64_t kWatchedBlock = 2048;
constexpr std::int64_t kUnwatchedBlock = 16384;
// Candidates of a query that has no proof grow by this, to as many.
constexpr std::int64_t kGrowth = 4;
constexpr std::int64_t kMostCandidates = 1024;
// Candidates of a block of a radius search.
constexpr std::int64_t kMostListed = std::int64_t{1} << 22;
constexpr std::int64_t kFirstListed = 64;
// Queries whose distances are computed by one task.
constexpr std::int64_t kTaskQueries = 16;

template <Element T>
RowReader reader_of(const PairMetric& metric, const MatrixView<T>& points, const char* role) {
  return [&metric, &points, role](std::int64_t row, double* out) { read_row(metric, points, row, role, out); };
}

const char* role_of_queries(bool exclude_self) {
  return exclude_self ? "base" : "queries";
}

// What both searches have at hand.
template <Element T>
class MappedWork {
 public:
  using D = DistanceOf<T>;
  using Hits = std::vector<core::Hit<D>>;

  MappedWork(const PairProblem<T>& problem, const ImageIndex& images, const Options& options)
      : problem_(problem),
        images_(images),
        options_(options),
        threads_(cpu::threads_for(
            options.threads, static_cast<double>(problem.queries.rows) *
                                 (kQuerySeconds + kUsualCandidates * problem.metric.pair_seconds(problem.base.cols)))),
        progress_(options.progress, problem.queries.rows * problem.base.rows) {
    for (int worker = 0; worker < threads_; ++worker)
      workers_.push_back(std::make_unique<ListedDistances<T>>(problem.metric, problem.base));
    report_.threads = threads_;
  }

  QueryImages map(std::int64_t first, std::int64_t count) const {
    const RowReader reader = reader_of(problem_.metric, problem_.queries, role_of_queries(problem_.exclude_self));
    return images_.map(reader, first, count, threads_);
  }

  // Calls take(i, hits) with the candidates of each image, in their order, by any thread.
  template <class Take>
  void compute(const QueryImages& images, const Candidates& found, const Take& take) {
    const auto count = std::ssize(images.queries);
    cpu::parallel_for(threads_, (count + kTaskQueries - 1) / kTaskQueries, [&](std::int64_t task, int worker) {
      Hits hits;
      for (std::int64_t i = task * kTaskQueries; i < std::min<std::int64_t>(count, (task + 1) * kTaskQueries); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t query = images.queries[at];
        const auto first = static_cast<std::size_t>(found.offsets[at]);
        const auto ids = std::span(found.ids).subspan(first, static_cast<std::size_t>(found.offsets[at + 1]) - first);
        workers_[static_cast<std::size_t>(worker)]->compute(problem_.queries, query, ids, hits);
        if (problem_.exclude_self) std::erase_if(hits, [query](const auto& hit) { return hit.id == query; });
        take(i, hits);
      }
      progress_.check(worker);
    });
    report_.distances += std::ssize(found.ids);
  }

  // Calls take(query, hits) for queries that have no proof: their neighbors by all distances.
  template <class Take>
  void compute_nearest(const std::vector<std::int64_t>& which, std::int64_t k, const Take& take) {
    if (which.empty()) return;
    const std::int64_t asked = std::min(problem_.base.rows, k + (problem_.exclude_self ? 1 : 0));
    const Matrix<T> rows = gathered(which);
    const MatrixView<T> queries = rows.view();
    const PairProblem<T> part{problem_.metric, problem_.base, queries, problem_.panels, false};
    std::vector<std::int64_t> ids(which.size() * static_cast<std::size_t>(asked));
    std::vector<D> distances(ids.size());
    nearest_pairs(part, plan_pairs(part, asked, quiet()), asked, quiet(), {ids.data(), distances.data()});
    for (std::size_t i = 0; i < which.size(); ++i) {
      const std::size_t first = i * static_cast<std::size_t>(asked);
      Hits hits = others(which[i], ids, distances, first, first + static_cast<std::size_t>(asked));
      hits.resize(std::min(hits.size(), static_cast<std::size_t>(k)));
      take(which[i], hits);
    }
    count_unproven(std::ssize(which));
  }

  // The same of all base rows within the radii.
  template <class Radius, class Take>
  void compute_within(const std::vector<std::int64_t>& which, const Radius& radius_of, std::int64_t most,
                      const Take& take) {
    if (which.empty()) return;
    const Matrix<T> rows = gathered(which);
    const MatrixView<T> queries = rows.view();
    const PairProblem<T> part{problem_.metric, problem_.base, queries, problem_.panels, false};
    std::vector<D> radii;
    for (const std::int64_t query : which) radii.push_back(radius_of(query));
    std::vector<std::int64_t> offsets(which.size() + 1);
    std::vector<std::int64_t> ids;
    std::vector<D> distances;
    RadiusLists<D> lists{offsets.data(), {}, Memory::host};
    lists.allocate = [&](std::int64_t count) {
      ids.resize(static_cast<std::size_t>(count));
      distances.resize(ids.size());
      return NeighborsView<D>{ids.data(), distances.data()};
    };
    pairs_within(part, plan_pairs(part, 0, quiet()), std::span<const D>(radii), most, quiet(), lists);
    for (std::size_t i = 0; i < which.size(); ++i)
      take(which[i], others(which[i], ids, distances, static_cast<std::size_t>(offsets[i]),
                            static_cast<std::size_t>(offsets[i + 1])));
    count_unproven(std::ssize(which));
  }

  void done(std::int64_t queries) { progress_.add(queries * problem_.base.rows, 0); }
  void keep_report(SearchReport&& report) {
    if (!has_report_) report_.images = std::move(report);
    has_report_ = true;
  }
  MappedReport finish() {
    progress_.finish();
    return std::move(report_);
  }

 private:
  static constexpr double kQuerySeconds = 2e-6;
  static constexpr double kUsualCandidates = 32;

  // What is a part of a search reports no progress of its own, and leaves nothing out.
  Options quiet() const {
    Options options;
    options.threads = options_.threads;
    options.memory_budget = options_.memory_budget;
    return options;
  }
  void count_unproven(std::int64_t queries) {
    report_.unproven += queries;
    report_.distances += queries * problem_.base.rows;
    progress_.check(0);
  }

  Matrix<T> gathered(const std::vector<std::int64_t>& which) const {
    Matrix<T> rows(std::ssize(which), problem_.queries.cols);
    T* to = rows.data();
    for (const std::int64_t query : which)
      for (std::int64_t c = 0; c < rows.cols(); ++c) *to++ = problem_.queries(query, c);
    return rows;
  }

  // Places [first, last) without the query itself.
  Hits others(std::int64_t query, const std::vector<std::int64_t>& ids, const std::vector<D>& distances,
              std::size_t first, std::size_t last) const {
    Hits hits;
    for (std::size_t i = first; i < last; ++i)
      if (!problem_.exclude_self || ids[i] != query) hits.push_back({distances[i], ids[i]});
    return hits;
  }

  const PairProblem<T>& problem_;
  const ImageIndex& images_;
  const Options& options_;
  int threads_;
  cpu::ProgressMeter progress_;
  std::vector<std::unique_ptr<ListedDistances<T>>> workers_;
  MappedReport report_;
  bool has_report_ = false;
};

// Those of the images that are listed.
QueryImages selected(const QueryImages& images, const std::vector<std::int64_t>& which) {
  const std::size_t dims = images.queries.empty() ? 0 : images.values.size() / images.queries.size();
  QueryImages made;
  for (const std::int64_t i : which) {
    const auto at = static_cast<std::size_t>(i);
    const auto from = images.values.begin() + static_cast<std::ptrdiff_t>(at * dims);
    made.values.insert(made.values.end(), from, from + static_cast<std::ptrdiff_t>(dims));
    made.queries.push_back(images.queries[at]);
    made.errors.push_back(images.errors[at]);
  }
  return made;
}

// Numbers of [first, first + count) that are not among the sorted ones.
std::vector<std::int64_t> missing(const std::vector<std::int64_t>& there, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> made;
  auto next = there.begin();
  for (std::int64_t i = first; i < first + count; ++i) {
    if (next != there.end() && *next == i) {
      ++next;
    } else {
      made.push_back(i);
    }
  }
  return made;
}

// What is missing of k places becomes −1 and infinity, and so does what is beyond the largest distance.
template <class D>
void write_row(const std::vector<core::Hit<D>>& hits, std::int64_t k, D largest, std::int64_t* ids, D* distances) {
  for (std::int64_t i = 0; i < k; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool there = at < hits.size() && (std::isinf(largest) || hits[at].key <= largest);
    ids[i] = there ? hits[at].id : core::kNoNeighbor;
    distances[i] = there ? hits[at].key : std::numeric_limits<D>::infinity();
  }
}

// The k nearest of queries [first, first + count).
template <Element T>
void nearest_of_block(const ImageIndex& index, MappedWork<T>& work, std::int64_t first, std::int64_t count,
                      std::int64_t k, std::int64_t found, const NeighborsView<DistanceOf<T>>& out,
                      DistanceOf<T> largest) {
  using D = DistanceOf<T>;
  QueryImages images = work.map(first, count);
  std::vector<std::int64_t> left = missing(images.queries, first, count);
  for (std::int64_t many = first_candidates(k); !images.queries.empty(); many *= kGrowth) {
    if (many > index.rows() / 2 || many > std::max(kMostCandidates, first_candidates(k))) break;
    Candidates candidates = index.nearest(images, many);
    std::vector<std::int64_t> unproven;
    std::mutex mutex;
    work.compute(images, candidates, [&](std::int64_t i, std::vector<core::Hit<D>>& hits) {
      const auto at = static_cast<std::size_t>(i);
      cpu::sort_hits(hits);
      // Distances that round to the k-th tie with it.
      const D last = hits[static_cast<std::size_t>(found) - 1].key;
      const D bound = core::next_above(std::isnan(last) ? last : std::min(last, largest));
      const bool is_proven = index.reach(static_cast<double>(bound), images.errors[at]) < candidates.farthest[at];
      if (is_proven) {
        const std::int64_t query = images.queries[at];
        hits.resize(static_cast<std::size_t>(found));
        return write_row(hits, k, largest, out.ids + query * k, out.distances + query * k);
      }
      const std::lock_guard lock(mutex);
      unproven.push_back(i);
    });
    work.keep_report(std::move(candidates.report));
    std::sort(unproven.begin(), unproven.end());
    images = selected(images, unproven);
  }
  left.insert(left.end(), images.queries.begin(), images.queries.end());
  work.compute_nearest(left, found, [&](std::int64_t query, const std::vector<core::Hit<D>>& hits) {
    write_row(hits, k, largest, out.ids + query * k, out.distances + query * k);
  });
}

// Base rows within the radii of queries [first, first + count), to a list for each. Returns how many candidates there
// were.
template <Element T, class Radius>
std::int64_t within_of_block(const ImageIndex& index, MappedWork<T>& work, std::int64_t first, std::int64_t count,
                             const Radius& radius_of, std::int64_t most,
                             std::vector<std::vector<core::Hit<DistanceOf<T>>>>& found) {
  using Hits = std::vector<core::Hit<DistanceOf<T>>>;
  QueryImages images = work.map(first, count);
  std::vector<double> reaches;
  std::vector<std::int64_t> usable;
  for (std::size_t i = 0; i < images.queries.size(); ++i) {
    const auto radius = static_cast<double>(core::next_above(radius_of(images.queries[i])));
    const double reach = index.reach(std::max(radius, 0.0), images.errors[i]);
    if (!(reach < static_cast<double>(std::numeric_limits<float>::max()))) continue;
    usable.push_back(static_cast<std::int64_t>(i));
    reaches.push_back(reach);
  }
  images = selected(images, usable);
  work.compute_within(missing(images.queries, first, count), radius_of, most, [&](std::int64_t query, Hits hits) {
    found[static_cast<std::size_t>(query - first)] = std::move(hits);
  });
  if (images.queries.empty()) return 0;
  Candidates candidates = index.within(images, reaches);
  work.compute(images, candidates, [&](std::int64_t i, Hits& hits) {
    const std::int64_t query = images.queries[static_cast<std::size_t>(i)];
    std::erase_if(hits, [&](const auto& hit) { return !(hit.key <= radius_of(query)); });
    cpu::sort_hits(hits);
    found[static_cast<std::size_t>(query - first)] = hits;
  });
  work.keep_report(std::move(candidates.report));
  return std::ssize(candidates.ids);
}

}  // namespace

std::int64_t first_candidates(std::int64_t k) {
  constexpr std::int64_t kMore = 4;  // panels are filled anyway
  return padded_rows(k + k / 8 + kMore);
}

template <Element T>
std::unique_ptr<const ImageIndex> make_images(const PairProblem<T>& problem, std::shared_ptr<const RowMapping> mapping,
                                              const Options& options) {
  constexpr double kValueSeconds = 2e-8;
  const double values = static_cast<double>(problem.base.rows) * static_cast<double>(problem.base.cols);
  return ImageIndex::make(std::move(mapping), reader_of(problem.metric, problem.base, "base"), problem.base.rows,
                          problem.base.cols, !std::is_same_v<T, double>,
                          cpu::threads_for(options.threads, values * kValueSeconds), options);
}

template <Element T>
MappedReport nearest_mapped(const PairProblem<T>& problem, const ImageIndex& images, std::int64_t k,
                            const Options& options, const NeighborsView<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  const D largest = core::largest_within<D>(options.max_distance);
  const std::int64_t found = std::min(k, problem.base.rows - (problem.exclude_self ? 1 : 0));
  const std::int64_t block = options.progress ? kWatchedBlock : kUnwatchedBlock;
  MappedWork<T> work(problem, images, options);
  for (std::int64_t first = 0; first < problem.queries.rows; first += block) {
    const std::int64_t count = std::min(block, problem.queries.rows - first);
    nearest_of_block(images, work, first, count, k, found, out, largest);
    work.done(count);
  }
  return work.finish();
}

template <Element T>
MappedReport within_mapped(const PairProblem<T>& problem, const ImageIndex& index, std::span<const DistanceOf<T>> radii,
                           std::int64_t most, const Options& options, const RadiusLists<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  const auto radius_of = [&](std::int64_t query) {
    return radii[radii.size() == 1 ? 0 : static_cast<std::size_t>(query)];
  };
  const bool lists = static_cast<bool>(out.allocate);
  const std::int64_t room = lists ? most : std::numeric_limits<std::int64_t>::max();
  const std::int64_t queries = problem.queries.rows;
  MappedWork<T> work(problem, index, options);
  std::vector<std::int64_t> ids;
  std::vector<D> distances;
  out.offsets[0] = 0;
  std::int64_t block = kFirstListed;
  for (std::int64_t first = 0; first < queries;) {
    const std::int64_t count = std::min(block, queries - first);
    std::vector<std::vector<core::Hit<D>>> found(static_cast<std::size_t>(count));
    const std::int64_t listed = within_of_block(index, work, first, count, radius_of, room, found);
    for (std::int64_t q = 0; q < count; ++q) {
      const auto& hits = found[static_cast<std::size_t>(q)];
      out.offsets[first + q + 1] = out.offsets[first + q] + std::ssize(hits);
      for (std::size_t i = 0; lists && i < hits.size(); ++i) {
        ids.push_back(hits[i].id);
        distances.push_back(hits[i].key);
      }
    }
    if (std::ssize(ids) > room)
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("more than {} neighbors lie within the radius; free memory holds no more of them", most));
    work.done(count);
    first += count;
    // As many as will have about so many candidates, if they are like these.
    block = std::clamp(std::min(kMostListed / std::max<std::int64_t>(listed / count, 1), block * kGrowth),
                       std::int64_t{1}, options.progress ? kWatchedBlock : kUnwatchedBlock);
  }
  if (lists) {
    const NeighborsView<D> to = out.allocate(out.offsets[queries]);
    std::copy(ids.begin(), ids.end(), to.ids);
    std::copy(distances.begin(), distances.end(), to.distances);
  }
  return work.finish();
}

#define KITH_INSTANTIATE(T)                                                                                        \
  template std::unique_ptr<const ImageIndex> make_images(const PairProblem<T>&, std::shared_ptr<const RowMapping>, \
                                                         const Options&);                                          \
  template MappedReport nearest_mapped(const PairProblem<T>&, const ImageIndex&, std::int64_t, const Options&,     \
                                       const NeighborsView<DistanceOf<T>>&);                                       \
  template MappedReport within_mapped(const PairProblem<T>&, const ImageIndex&, std::span<const DistanceOf<T>>,    \
                                      std::int64_t, const Options&, const RadiusLists<DistanceOf<T>>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::custom
