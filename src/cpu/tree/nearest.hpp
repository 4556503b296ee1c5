// nearest.hpp: the k nearest points of one query, by a walk through a tree.
// Idea    points within the limit are collected; once there are k, and when there are many more, the k-th smallest
//         score lowers the limit and what lies beyond goes. The exact keys of what is left decide. Where ever more
//         points stay, because scores cannot tell them apart, their keys are computed early, and the k best are kept.
// Proof   of epsilon: a box is passed over where k points are known whose keys are at most D, and no point of the box
//         has a key up to D / (1 + ε). The k-th key r of the answer is at most D, since those k points go only where
//         nearer ones take their places. Let the i-th place of the answer have a larger key than the true i-th, t. Then
//         one of the true first i was not collected. Either its score ruled it out, so that its key is above a bound of
//         the k-th, and no place has a larger key; or its box was passed over, so that t > D / (1 + ε) ≥ r / (1 + ε).
//         The quotient is rounded to the type of keys: by two roundings, and by nothing else, (1 + ε) t may be
//         exceeded.
// Memory  a few times k scores and positions; reused from query to query.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "core/order.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/tree/tree.hpp"
#include "cpu/tree/walk_query.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// What a plan wants of each query.
struct Wanted {
  explicit Wanted(const Plan& plan) : k(plan.problem.k), max_distance(plan.max_distance), epsilon(plan.epsilon) {}

  std::int64_t k;
  double max_distance;
  double epsilon;
};

template <Element T>
class Nearest {
 public:
  using F = DistanceOf<T>;

  Nearest(const PreparedRows<T>& base, const Tree<F>& tree);
  Nearest(const Nearest&) = delete;
  Nearest& operator=(const Nearest&) = delete;

  // What the queries that follow want.
  void set_wanted(const Wanted& wanted);

  // The k nearest of a query, sorted, or those of them that the largest distance and this query's `limit` leave; valid
  // until the next call. `seed` is the leaf to begin with, −1 where nobody has looked for one.
  const std::vector<core::Hit<F>>& run(const PreparedRows<T>& queries, std::int64_t query, std::int64_t seed,
                                       F limit = std::numeric_limits<F>::infinity());

  // Exact keys since set_wanted().
  std::int64_t finalists() const { return finalists_; }

 private:
  static void tighten(NearPoints<F>& near) { static_cast<Nearest*>(near.owner)->tighten(); }
  void tighten();
  void thin_out();
  void lower_limit(F key);
  void prefetch_ids() const;
  void rank_by_keys();
  bool has_max() const { return max_key_ < std::numeric_limits<F>::infinity(); }
  void add_infinite();
  void rank_everything();

  const PreparedRows<T>& base_;
  const Tree<F>& tree_;
  WalkQuery<T> query_;
  core::Form form_;
  F finite_limit_;  // scores above it belong to infinite keys
  std::int64_t k_ = 0;
  F max_wanted_ = 0;  // of all queries
  F max_key_ = 0;     // of the one at hand
  double epsilon_ = 0;
  std::int64_t finalists_ = 0;

  NearPoints<F> near_{};
  std::vector<F> scores_;
  std::vector<OffsetOf<F>> points_;
  std::vector<core::Hit<F>> hits_;
  std::vector<std::int64_t> ids_;
  std::vector<double> raw_;
  std::vector<F> keys_;
};

// Searches that wait for the next query, so that one query alone makes no buffers. Thread-safe.
template <Element T>
class NearestPool {
 public:
  NearestPool() = default;
  ~NearestPool() { delete latest_.load(); }
  NearestPool(const NearestPool&) = delete;
  NearestPool& operator=(const NearestPool&) = delete;

  std::unique_ptr<Nearest<T>> take(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, const Wanted& wanted);
  void give_back(std::unique_ptr<Nearest<T>> nearest, std::int64_t k);

 private:
  std::atomic<Nearest<T>*> latest_{nullptr};  // owned; serves one caller after another without a lock
  std::mutex mutex_;
  std::vector<std::unique_ptr<Nearest<T>>> idle_;  // the others
};

}  // namespace kith::cpu
