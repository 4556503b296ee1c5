// Metrics that are computed for every pair by their definition, in double: what the engine of such searches asks of
// one, and the searches. kith/custom_metric.hpp makes one of a functor or a function of yours, kith/named_metric.hpp of
// a name or of a formula.
//
// Every distance is computed (method brute), on the CPU or, of formulas and functors for nvcc, on a device, and rounded
// once to the returned type; neighbors are ordered by (that value, id), NaN last. Nothing is asked of a metric: it need
// not be symmetric, positive, or keep the triangle inequality. Of haversine, mahalanobis, seuclidean, weighted
// minkowski and cosine with a distance for zero vectors other points than the neighbors are ruled out first, by images
// of rows that any method and backend searches (docs/metrics.md): the answers are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/metric.hpp"
#include "kith/options.hpp"
#include "kith/radius.hpp"
#include "kith/search.hpp"

namespace kith {

// Rows of a panel, and what the number of queries of a tile is a multiple of.
inline constexpr std::int64_t kPanelRows = 16;
inline constexpr std::int64_t kTileQueries = 4;

// Some queries × some panels of base rows, in double. A panel holds kPanelRows rows by coordinates: coordinate c of its
// row r is at [c * kPanelRows + r]. What is missing of the last panel, and of the queries, repeats the last of them.
struct PanelTile {
  const double* queries = nullptr;  // query q at queries + q * dims
  std::int64_t query_count = 0;     // a multiple of kTileQueries
  const double* panels = nullptr;   // panel p at panels + p * dims * kPanelRows
  std::int64_t panel_count = 0;
  std::int64_t dims = 0;
  double* out = nullptr;  // row r of panel p to out[q * out_stride + p * kPanelRows + r]
  std::int64_t out_stride = 0;
};

// Some queries × some base rows, each contiguous. Strides count elements.
struct RowTile {
  const void* queries = nullptr;
  std::int64_t query_count = 0;
  std::int64_t query_stride = 0;
  const void* rows = nullptr;
  std::int64_t row_count = 0;
  std::int64_t row_stride = 0;
  std::int64_t dims = 0;
  double* out = nullptr;  // row r to out[q * out_stride + r]
  std::int64_t out_stride = 0;
};

// All functions may be called by several threads at once, fill() by no more than most_threads().
class KITH_API PairMetric {
 public:
  // What fill() is given: panels of doubles, rows of doubles, or rows as the caller has them, in their type.
  enum class Input { panels, rows, elements };

  virtual ~PairMetric();

  // For reports and errors.
  virtual std::string name() const = 0;
  virtual Input input() const { return Input::panels; }
  // Throws where it does not apply to points of so many dimensions.
  virtual void check(std::int64_t dims) const;
  // Whether NaN is a value like others: a coordinate that is missing.
  virtual bool takes_nan() const { return false; }
  // Makes of a row, in double, what fill() is given; `role` and `number` say which it is, for errors. Not where input()
  // is elements.
  virtual void prepare(double* row, std::int64_t dims, const char* role, std::int64_t number) const;
  // One of the two, by input().
  virtual void fill(const PanelTile& tile) const;
  virtual void fill(const RowTile& tile) const;
  // 1 for what must stay on the calling thread.
  virtual int most_threads() const { return 1 << 20; }
  // What a pair takes, roughly: whether another thread pays.
  virtual double pair_seconds(std::int64_t dims) const;
  // The metric of kith/metric.hpp that it is: then that one searches.
  virtual std::optional<Metric> built_in() const { return std::nullopt; }

 protected:
  PairMetric() = default;
  PairMetric(const PairMetric&) = default;
  PairMetric& operator=(const PairMetric&) = default;
};

// A metric that can be computed on a device too: PairMetrics that are also this are searched there where the options
// ask for it. kith/cuda_custom_metric.cuh makes one of a functor for nvcc, kith/cuda_pair_kernel.cuh has the types.
struct PairTile;
enum class PairWork : int;

class KITH_API DevicePairs {
 public:
  virtual ~DevicePairs() = default;
  // Enqueues the work on a cudaStream_t of the current device. `bytes`: of a coordinate and of a distance, 4 or 8.
  virtual void launch(PairWork work, int bytes, const PairTile& tile, void* stream) const = 0;

 protected:
  DevicePairs() = default;
  DevicePairs(const DevicePairs&) = default;
  DevicePairs& operator=(const DevicePairs&) = default;
};

// A base prepared for searches by such a metric, as kith::Index is for the others. All functions are thread-safe as far
// as the metric is. Of the options these count: threads, memory_budget, max_distance, pad_missing, check_finite and
// progress; backend, method, distance and select may be automatic, cpu, brute and exact, for metrics with images of
// rows any backend, tree and triangle, for formulas any backend and for functors for nvcc cuda; the metric stays its
// default. Others are refused, but where the metric is a built_in() one.
template <Element T>
class KITH_API PairIndex {
 public:
  using D = DistanceOf<T>;

  // How the base is kept: in panels, made now, where a quarter of what is free has room for them (or the budget, if one
  // is given); or only viewed, which is best for one call. In either case the base must outlive the index.
  enum class Keep { panels, view };

  PairIndex(std::shared_ptr<const PairMetric> metric, MatrixView<T> base, Options options = {},
            Keep keep = Keep::panels);
  // An index that was moved from can only be assigned to or destroyed.
  PairIndex(PairIndex&&) noexcept;
  PairIndex& operator=(PairIndex&&) noexcept;
  ~PairIndex();

  std::int64_t rows() const;
  std::int64_t dims() const;
  const PairMetric& metric() const;

  // The k nearest of each query: 1 ≤ k ≤ rows, unless Options::pad_missing is set.
  Neighbors<D> search(MatrixView<T> queries, std::int64_t k) const;
  // The k nearest of each base point, itself left out by its id. k ≤ rows − 1, unless Options::pad_missing is set.
  Neighbors<D> search_self(std::int64_t k) const;
  // All base points at most a radius away: one for all queries, or one for each. Any numbers but NaN.
  RadiusNeighbors<D> search_radius(MatrixView<T> queries, std::span<const D> radii,
                                   RadiusOutput output = RadiusOutput::neighbors) const;
  // The same of each base point, itself left out by its id.
  RadiusNeighbors<D> search_radius_self(std::span<const D> radii, RadiusOutput output = RadiusOutput::neighbors) const;
  // All distances, queries.rows × rows.
  Matrix<D> distances(MatrixView<T> queries) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kith
