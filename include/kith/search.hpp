// k-nearest-neighbor search: exact, but for method shifted-sort.
#pragma once

#include <cstdint>
#include <memory>
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

// One pass of the ladder that a search on a device climbs: scores by a distance stage, then the proof that they were
// exact enough. Queries without it take the next one; the last, "exact", computes every distance in double.
struct SearchStep {
  std::string distance;
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

// What was done, beside the answer.
struct SearchReport {
  Plan plan;
  double seconds = 0;
  // Candidates whose distance was computed by the direct formula in double; method triangle on a device counts them for
  // Options::statistics only.
  std::int64_t finalists = 0;
  std::vector<SearchStep> steps;  // on a device: how many queries each pass was tried for
  std::optional<TriangleStatistics> triangle;
  std::optional<SearchQuality> quality;  // of method shifted-sort, where Options::statistics asked for it
};

// queries × k neighbors, each row sorted by (distance, id); inner products by (−product, id).
// Distances are sums accumulated in double, rounded once to D.
template <class D>
struct Neighbors {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::vector<std::int64_t> ids;  // queries × k, row-major
  std::vector<D> distances;       // queries × k, row-major
  SearchReport report;

  std::span<const std::int64_t> ids_of(std::int64_t query) const {
    return {ids.data() + query * k, static_cast<std::size_t>(k)};
  }
  std::span<const D> distances_of(std::int64_t query) const {
    return {distances.data() + query * k, static_cast<std::size_t>(k)};
  }
};

// kith/radius.hpp
enum class RadiusOutput;
template <class D>
struct RadiusNeighbors;

// A base prepared for many searches: checked for NaN and Inf once, its norms kept.
template <Element T>
class KITH_API Index {
 public:
  // Keeps a view: the base must outlive the index and not change. options.metric is fixed here.
  explicit Index(MatrixView<T> base, Options options = {});
  // Keeps the matrix.
  explicit Index(Matrix<T>&& base, Options options = {});
  Index(Index&&) noexcept;
  Index& operator=(Index&&) noexcept;
  ~Index();

  std::int64_t rows() const;
  std::int64_t dims() const;
  const Options& options() const;

  // The k nearest of each query. Thread-safe.
  Neighbors<DistanceOf<T>> search(MatrixView<T> queries, std::int64_t k) const;
  // The same into the caller's memory, queries × k each, row-major. On an error their contents are unspecified.
  SearchReport search_into(MatrixView<T> queries, std::int64_t k, std::int64_t* ids, DistanceOf<T>* distances) const;
  // The k nearest of each base point, itself left out by its id (so right under duplicates). k ≤ rows − 1.
  Neighbors<DistanceOf<T>> search_self(std::int64_t k) const;

  // All base points within the radii, as radius_search() finds them. Thread-safe.
  RadiusNeighbors<DistanceOf<T>> search_radius(MatrixView<T> queries, std::span<const DistanceOf<T>> radii,
                                               RadiusOutput output) const;
  // The same of each base point, itself left out by its id.
  RadiusNeighbors<DistanceOf<T>> search_radius_self(std::span<const DistanceOf<T>> radii, RadiusOutput output) const;

  Plan explain(std::int64_t queries, std::int64_t k) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The k nearest base points of each query: 1 ≤ k ≤ base.rows, equal cols.
template <Element T>
KITH_API Neighbors<DistanceOf<T>> search(MatrixView<T> base, MatrixView<T> queries, std::int64_t k,
                                         const Options& options = {});

// The same into the caller's memory, queries × k each, row-major. On an error their contents are unspecified.
template <Element T>
KITH_API SearchReport search_into(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, std::int64_t* ids,
                                  DistanceOf<T>* distances, const Options& options = {});

// The whole queries.rows × base.rows matrix of distances, each as search() would return it: always by the direct
// formula, so of the options only metric, backend, threads, check_finite and progress matter.
template <Element T>
KITH_API Matrix<DistanceOf<T>> distances(MatrixView<T> base, MatrixView<T> queries, const Options& options = {});

}  // namespace kith
