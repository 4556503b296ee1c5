// nearest.hpp: the k nearest points of one query, by a walk through a tree.
// Idea    points within the limit are collected; once there are k, and when there are many more, the k-th smallest
//         score lowers the limit and what lies beyond goes. The exact keys of what is left decide. Where ever more
//         points stay, because scores cannot tell them apart, their keys are computed early, and the k best are kept.
// Memory  a few times k scores and positions; reused from query to query.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/order.hpp"
#include "core/score_bounds.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/tree/tree.hpp"

namespace kith::cpu {

template <Element T>
class Nearest {
 public:
  using F = DistanceOf<T>;

  Nearest(const PreparedRows<T>& base, const Tree<F>& tree);
  Nearest(const Nearest&) = delete;
  Nearest& operator=(const Nearest&) = delete;

  // How many neighbors the queries that follow have.
  void set_neighbors(std::int64_t k);

  // The k nearest of a query, sorted; valid until the next call. `seed` is the leaf to begin with, or −1.
  const std::vector<core::Hit<F>>& run(const PreparedRows<T>& queries, std::int64_t query, std::int64_t seed);

  // Exact keys since set_neighbors().
  std::int64_t finalists() const { return finalists_; }

 private:
  static void tighten(NearPoints<F>& near) { static_cast<Nearest*>(near.owner)->tighten(); }
  void tighten();
  void thin_out();
  void lower_limit(F key);
  void rank_by_keys();
  void add_infinite();
  void rank_everything();

  const PreparedRows<T>& base_;
  const Tree<F>& tree_;
  core::ScoreBounds<F> bounds_;
  core::Form form_;
  F finite_limit_;  // what the limit begins with
  std::int64_t k_ = 0;
  std::int64_t finalists_ = 0;

  const PreparedRows<T>* queries_ = nullptr;
  std::int64_t query_ = 0;
  NearPoints<F> near_{};
  std::vector<F> scores_;
  std::vector<OffsetOf<F>> points_;
  std::vector<core::Hit<F>> hits_;
  std::vector<F> row_;
  std::vector<double> exact_row_;
  std::vector<std::int64_t> ids_;
  std::vector<double> raw_;
  std::vector<F> keys_;
};

// Searches that wait for the next query, so that one query alone makes no buffers. Thread-safe.
template <Element T>
class NearestPool {
 public:
  // For k neighbors.
  std::unique_ptr<Nearest<T>> take(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree, std::int64_t k);
  void give_back(std::unique_ptr<Nearest<T>> nearest, std::int64_t k);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Nearest<T>>> idle_;
};

}  // namespace kith::cpu
