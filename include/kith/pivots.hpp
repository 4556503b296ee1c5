// Exact search among objects of any type, where one distance takes microseconds: edit distances, alignments, transport.
//
// Under the triangle inequality distances of all objects to a few of them, the pivots, are computed once. A query's
// distances to pivots then bound its distances to all objects from below: |d(q, p) − d(x, p)| ≤ d(q, x). Objects are
// evaluated in the order of their bounds, until no bound is left that is as small as the k-th distance (LAESA: Micó,
// Oncina and Vidal 1994; Moreno-Seco, Micó and Oncina 2002). Answers are those of brute force, id for id.
//
// A distance without the triangle inequality is computed for all objects, but for those that a lower bound of the
// user's rules out. Reports count evaluations: where one is cheap, the counting of what they save is not worth it, and
// kith::search, for points under the usual metrics, is what is fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kith/export.hpp"
#include "kith/options.hpp"

namespace kith {

// What a user promises of a distance. Promises are looked into where that costs nothing: values of the wrong kind and
// pivots that break the triangle inequality or symmetry are Error(bad_data).
struct DistanceProperties {
  bool symmetric = true;  // without it pivots bound one way only: d(q, p) − d(x, p) ≤ d(q, x)
  bool triangle_inequality = true;
  bool integer_valued = false;  // whole numbers from 0 to 2^53, computed without an error
  // What computed distances d̂ may be off by: |d̂ − d| ≤ relative_error · d + absolute_error. Bounds give way by it, so
  // that rounding cannot rule a neighbor out. Sums of a million terms in double stay below 1e-9; a distance that is
  // computed in float needs about 1e-5. From 0 to 0.1; integer_valued has no use for them.
  double relative_error = 1e-9;
  double absolute_error = 0;
};

enum class PivotChoice {
  farthest_first,  // each next pivot is the object farthest from those before it
  best_bounds,     // each is that of some which most raises the bounds of a sample of pairs
};

struct PivotOptions {
  // Each costs an evaluation per object to prepare and at most one per query; 0 = 32, fewer of fewer than 1,024
  // objects. Queries compute as many of the distances to them as save more than they cost.
  std::int64_t pivots = 0;
  PivotChoice choice = PivotChoice::best_bounds;
  int threads = 0;  // 0 = as many as the work is worth at a microsecond an evaluation; queries are shared among them
  // Distances that are done, or need not be computed any more, of all that there are.
  ProgressCallback progress;
};

// What was evaluated. Distances between two objects of the base that are known from its pivots are not counted again.
struct PivotReport {
  std::int64_t objects = 0;
  std::int64_t queries = 0;
  std::int64_t pairs = 0;              // of a query and an object: the evaluations of brute force
  std::int64_t pivots = 0;             // that the index has
  std::int64_t build_evaluations = 0;  // that prepared them, once
  std::int64_t evaluations = 0;        // calls of the distance by this search
  std::int64_t pivot_evaluations = 0;  // of these, with a pivot for the sake of its bounds
  std::int64_t lower_bounds = 0;       // of the user's own lower bound
  int threads = 1;
  double seconds = 0;

  // The share of evaluations that brute force would have made and this search did not.
  double saved() const { return pairs > 0 ? 1 - static_cast<double>(evaluations) / static_cast<double>(pairs) : 0; }
};

// queries × k neighbors, each row sorted by (distance, id).
struct PivotNeighbors {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::vector<std::int64_t> ids;  // row-major
  std::vector<double> distances;  // row-major, as the distance returned them
  PivotReport report;

  std::span<const std::int64_t> ids_of(std::int64_t query) const {
    return {ids.data() + query * k, static_cast<std::size_t>(k)};
  }
  std::span<const double> distances_of(std::int64_t query) const {
    return {distances.data() + query * k, static_cast<std::size_t>(k)};
  }
};

// Query q has ids[offsets[q]] … ids[offsets[q + 1] − 1], sorted by (distance, id).
struct PivotRadiusNeighbors {
  std::int64_t queries = 0;
  std::vector<std::int64_t> offsets;  // queries + 1
  std::vector<std::int64_t> ids;
  std::vector<double> distances;
  PivotReport report;

  std::int64_t count_of(std::int64_t query) const {
    const auto at = static_cast<std::size_t>(query);
    return offsets[at + 1] - offsets[at];
  }
  std::span<const std::int64_t> ids_of(std::int64_t query) const {
    return {ids.data() + offsets[static_cast<std::size_t>(query)], static_cast<std::size_t>(count_of(query))};
  }
  std::span<const double> distances_of(std::int64_t query) const {
    return {distances.data() + offsets[static_cast<std::size_t>(query)], static_cast<std::size_t>(count_of(query))};
  }
};

// Objects of unknown type, by their numbers, as the compiled side sees them. Its functions are called by several
// threads at once.
class PairSource {
 public:
  PairSource() = default;
  PairSource(const PairSource&) = delete;
  PairSource& operator=(const PairSource&) = delete;
  virtual ~PairSource() = default;

  // Anything above `bound` where the distance is above it.
  virtual double distance(std::int64_t query, std::int64_t object, double bound) const = 0;
  virtual bool has_lower_bounds() const = 0;
  // Of the distances of a query to `count` objects.
  virtual void lower_bounds(std::int64_t query, std::int64_t first, std::int64_t count, double* out) const = 0;
};

// The compiled side of PivotIndex: what is known of objects by their numbers alone. `base` has the objects as queries
// too; it is not kept.
class KITH_API PivotTable {
 public:
  PivotTable(const PairSource& base, std::int64_t objects, const DistanceProperties& properties,
             const PivotOptions& options);
  ~PivotTable();
  PivotTable(PivotTable&& other) noexcept;
  PivotTable& operator=(PivotTable&& other) noexcept;

  PivotNeighbors search(const PairSource& source, std::int64_t queries, std::int64_t k) const;
  PivotNeighbors search_self(const PairSource& base, std::int64_t k) const;
  PivotRadiusNeighbors search_radius(const PairSource& source, std::int64_t queries,
                                     std::span<const double> radii) const;
  PivotRadiusNeighbors search_radius_self(const PairSource& base, std::span<const double> radii) const;

  std::int64_t objects() const;
  std::span<const std::int64_t> pivots() const;
  std::int64_t build_evaluations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Distance is a functor that threads may call at once:
//   double operator()(const Object& a, const Object& b) const;
// It may have two more functions:
//   double operator()(const Object& a, const Object& b, double bound) const;
//     which may return anything above `bound` where the distance is above it, and so stop early;
//   double lower_bound(const Object& a, const Object& b) const;
//     which is cheap and at most the distance, of any distance, a metric or not. In its place,
//   void lower_bounds(const Object& query, std::span<const Object> objects, double* out) const;
//     has those of many objects at once.
// What it throws reaches the caller.
template <class Object, class Distance>
class PivotIndex {
 public:
  // Keeps the objects.
  explicit PivotIndex(std::vector<Object> objects, Distance distance = {}, const DistanceProperties& properties = {},
                      const PivotOptions& options = {})
      : own_(std::move(objects)),
        objects_(own_),
        distance_(std::move(distance)),
        table_(Pairs(*this, objects_), size(), properties, options) {}
  // Refers to them: they must stay as they are.
  explicit PivotIndex(std::span<const Object> objects, Distance distance = {},
                      const DistanceProperties& properties = {}, const PivotOptions& options = {})
      : objects_(objects),
        distance_(std::move(distance)),
        table_(Pairs(*this, objects_), size(), properties, options) {}

  PivotIndex(const PivotIndex&) = delete;
  PivotIndex& operator=(const PivotIndex&) = delete;
  PivotIndex(PivotIndex&&) noexcept = default;
  PivotIndex& operator=(PivotIndex&&) noexcept = default;

  // The k nearest objects of each query: 1 ≤ k ≤ size(). Equal distances by the smaller id.
  PivotNeighbors search(std::span<const Object> queries, std::int64_t k) const {
    return table_.search(Pairs(*this, queries), count_of(queries), k);
  }
  // The k nearest others of each object: 1 ≤ k < size(). An object is left out by its id; its duplicates are not.
  PivotNeighbors search_self(std::int64_t k) const { return table_.search_self(Pairs(*this, objects_), k); }
  // All objects whose distance is at most the query's radius. One radius for all queries or one for each; not negative.
  PivotRadiusNeighbors search_radius(std::span<const Object> queries, std::span<const double> radii) const {
    return table_.search_radius(Pairs(*this, queries), count_of(queries), radii);
  }
  PivotRadiusNeighbors search_radius(std::span<const Object> queries, double radius) const {
    return search_radius(queries, std::span<const double>(&radius, 1));
  }
  PivotRadiusNeighbors search_radius_self(std::span<const double> radii) const {
    return table_.search_radius_self(Pairs(*this, objects_), radii);
  }
  PivotRadiusNeighbors search_radius_self(double radius) const {
    return search_radius_self(std::span<const double>(&radius, 1));
  }

  std::int64_t size() const { return count_of(objects_); }
  std::span<const Object> objects() const { return objects_; }
  std::span<const std::int64_t> pivots() const { return table_.pivots(); }
  std::int64_t build_evaluations() const { return table_.build_evaluations(); }

 private:
  static constexpr bool kStopsEarly =
      std::is_invocable_r_v<double, const Distance&, const Object&, const Object&, double>;
  static constexpr bool kBoundsMany =
      requires(const Distance& distance, const Object& query, std::span<const Object> objects, double* out) {
    distance.lower_bounds(query, objects, out);
  };
  static constexpr bool kBoundsOne = requires(const Distance& distance, const Object& a, const Object& b) {
    distance.lower_bound(a, b);
  };

  static std::int64_t count_of(std::span<const Object> objects) { return static_cast<std::int64_t>(objects.size()); }

  // Queries and the objects of an index.
  class Pairs final : public PairSource {
   public:
    Pairs(const PivotIndex& index, std::span<const Object> queries) : index_(index), queries_(queries) {}

    double distance(std::int64_t query, std::int64_t object, double bound) const override {
      const Object& a = queries_[static_cast<std::size_t>(query)];
      const Object& b = index_.objects_[static_cast<std::size_t>(object)];
      const Distance& between = index_.distance_;
      if constexpr (kStopsEarly)
        if (bound < std::numeric_limits<double>::infinity()) return static_cast<double>(between(a, b, bound));
      return static_cast<double>(between(a, b));
    }
    bool has_lower_bounds() const override { return kBoundsMany || kBoundsOne; }
    void lower_bounds(std::int64_t query, std::int64_t first, std::int64_t count, double* out) const override {
      const Object& asked = queries_[static_cast<std::size_t>(query)];
      [[maybe_unused]] const auto objects =
          index_.objects_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      if constexpr (kBoundsMany) {
        index_.distance_.lower_bounds(asked, objects, out);
      } else if constexpr (kBoundsOne) {
        for (const Object& object : objects) *out++ = static_cast<double>(index_.distance_.lower_bound(asked, object));
      }
    }

   private:
    const PivotIndex& index_;
    std::span<const Object> queries_;
  };

  std::vector<Object> own_;
  std::span<const Object> objects_;
  Distance distance_;
  PivotTable table_;
};

}  // namespace kith
