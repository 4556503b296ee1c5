// k-nearest-neighbor search: exact, but for method shifted-sort, and for method tree where Options::epsilon allows it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "kith/quality.hpp"

namespace kith {

// A pass of the plan's fallback chain and the queries that took it, if only on trial.
struct SearchStep {
  Plan::Pass pass;
  std::int64_t queries = 0;
};

// What method triangle did, where Options::statistics asked for it.
struct TriangleStatistics {
  struct Step {
    std::string name;
    double seconds = 0;
  };

  std::int64_t query_clusters = 0;
  std::int64_t base_clusters = 0;       // on a device some may be empty
  std::int64_t pairs = 0;               // of a query and a base point: all distances there are
  std::int64_t pairs_level_1 = 0;       // of them left when whole clusters have been ruled out for whole clusters
  std::int64_t cluster_pairs_left = 0;  // of query_clusters × base_clusters
  std::int64_t clusters_visited = 0;    // by queries: those whose points were looked at, if only at their bounds
  std::int64_t center_distances = 0;    // of queries and centers, beside those that made the clusters
  // Of queries and base points that were computed: twice where survivors are counted first and then stored.
  std::int64_t distances = 0;
  std::vector<Step> steps;  // in their order

  // The share of distances that was not computed, beside those that made the clusters; below 0 where there were more to
  // centers and points than to all points.
  double saved() const {
    return pairs > 0 ? 1 - static_cast<double>(distances + center_distances) / static_cast<double>(pairs) : 0;
  }
};

// How a collection found the points that a filter leaves, or that were not removed. Counts are of queries, each once
// for every segment that it searched.
struct FilterReport {
  std::int64_t segments = 0;  // that were searched
  std::int64_t tested = 0;    // looked for k neighbors or more among all points, and tested what they found
  std::int64_t narrowed = 0;  // of these, looked for k, by a search that leaves out most points that are not allowed
  std::int64_t repeated = 0;  // of these, had too few that are allowed: tested again, or gathered for
  std::int64_t gathered = 0;  // searched copies of the points that are left
  std::int64_t copied = 0;    // rows, for those
};

// What was done, beside the answer.
struct SearchReport {
  Plan plan;
  double seconds = 0;
  // Candidates whose distance was computed by the direct formula in double; method triangle on a device counts them for
  // Options::statistics only.
  std::int64_t finalists = 0;
  std::vector<SearchStep> steps;  // on a device: how many queries each pass was tried for
  std::optional<TriangleStatistics> triangle;
  std::optional<SearchQuality> quality;  // of an approximate plan, where Options::statistics asked for it
  // Queries whose rows are proven to be exact, where ShiftedSortTuning::certify asked for it; not of an answer that
  // lies on a device, for which the call does not wait.
  std::optional<std::int64_t> certified;
  std::optional<FilterReport> filter;  // of a search of a collection
};

// queries × k neighbors, each row sorted by (distance, id); inner products by (−product, id). Options::max_distance may
// leave the last places of a row without one: with id −1 and an infinite distance.
// Distances are sums accumulated in double, rounded once to D.
template <class D>
struct Neighbors {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::vector<std::int64_t> ids;  // queries × k, row-major
  std::vector<D> distances;       // queries × k, row-major
  // 1 for each query whose row is proven to be that of an exact search, else 0; empty unless method shifted-sort was
  // asked for it (ShiftedSortTuning::certify).
  std::vector<std::uint8_t> certified;
  SearchReport report;

  std::span<const std::int64_t> ids_of(std::int64_t query) const {
    return {ids.data() + query * k, static_cast<std::size_t>(k)};
  }
  std::span<const D> distances_of(std::int64_t query) const {
    return {distances.data() + query * k, static_cast<std::size_t>(k)};
  }
};

// Where queries × k neighbors go, packed rows each, whose memory is the caller's.
template <class D>
struct NeighborsView {
  std::int64_t* ids = nullptr;
  D* distances = nullptr;
  Memory memory = Memory::host;
  std::uint8_t* certified = nullptr;  // a flag for each query where ShiftedSortTuning::certify asks for it, else null
};

// The k nearest base points of each query: 1 ≤ k ≤ base.rows, equal cols. Where base, queries and answers may lie, and
// what `stream` is: kith/index.hpp, whose class does the same for a base that is kept.
template <Element T>
KITH_API Neighbors<DistanceOf<T>> search(MatrixView<T> base, MatrixView<T> queries, std::int64_t k,
                                         const Options& options = {}, void* stream = nullptr);

// The same into the caller's memory. On an error their contents are unspecified.
template <Element T>
KITH_API SearchReport search_into(MatrixView<T> base, MatrixView<T> queries, std::int64_t k,
                                  NeighborsView<DistanceOf<T>> out, const Options& options = {},
                                  void* stream = nullptr);

// The whole queries.rows × base.rows matrix of distances, each as search() would return it: always by the direct
// formula, so of the options only metric, backend, threads, check_finite and progress matter. There is none of periodic
// axes.
template <Element T>
KITH_API Matrix<DistanceOf<T>> distances(MatrixView<T> base, MatrixView<T> queries, const Options& options = {},
                                         void* stream = nullptr);

// The same into host memory of the caller, packed rows. On an error its contents are unspecified.
template <Element T>
KITH_API void distances_into(MatrixView<T> base, MatrixView<T> queries, DistanceOf<T>* out, const Options& options = {},
                             void* stream = nullptr);

}  // namespace kith
