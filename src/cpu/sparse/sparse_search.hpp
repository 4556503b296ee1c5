// sparse_search.hpp: the k nearest sparse rows, or all within a radius, while parts of the base pass.
// Tasks   a block of queries and some consecutive blocks of a part: all of them, or where there are fewer blocks of
//         queries than threads, a share. Which task finds a neighbor changes nothing: lists are in the order of keys.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/order.hpp"
#include "core/radius_query.hpp"
#include "cpu/progress.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/sparse/postings.hpp"
#include "cpu/sparse/sparse_layout.hpp"
#include "cpu/sparse/sparse_scores.hpp"

namespace kith::cpu {

// What is searched.
template <SparseElement T>
struct SparseProblem {
  const CsrRows<T>& base;
  const CsrRows<T>& queries;
  SparseMetric metric;
  double scale;
  bool self;  // queries are the base: a point is no neighbor of itself
};

// Queries first_query to first_query + queries − 1, and blocks first_block to last_block − 1 of a part, its share.
struct SparseTask {
  std::int64_t first_query;
  std::int64_t queries;
  std::int64_t first_block;
  std::int64_t last_block;
  std::int64_t share;
  int worker;
};

template <SparseElement T>
class NearestSparse {
 public:
  // Writes lists to `out`, of keys until finish().
  NearestSparse(const SparseProblem<T>& problem, const SparseLayout& layout, std::int64_t k, double max_distance,
                const NeighborsView<T>& out);

  // Parts of the base, in order.
  void add(const std::vector<Postings<T>>& blocks, ProgressMeter& progress);
  void finish();
  std::int64_t finalists() const { return finalists_; }

 private:
  using Hits = std::vector<core::Hit<T>>;
  struct Scratch {
    ScoreScratch<T> scores;
    std::vector<T> candidate_scores;
    std::vector<OffsetOf<T>> candidate_offsets;
    Hits merged;
  };

  void run(const SparseTask& task, const std::vector<Postings<T>>& blocks, std::vector<Hits>& lists);
  void merge(std::int64_t query, const Hits& found, Scratch& scratch);

  SparseProblem<T> problem_;
  SparseLayout layout_;
  std::int64_t k_;
  T largest_;  // distance
  NeighborsView<T> out_;
  std::vector<Scratch> scratch_;
  std::int64_t rows_done_ = 0;  // of the base
  std::atomic<std::int64_t> finalists_{0};
};

template <SparseElement T>
class WithinSparse {
 public:
  WithinSparse(const SparseProblem<T>& problem, const SparseLayout& layout, const core::RadiusQuery<T>& query);

  void add(const std::vector<Postings<T>>& blocks, ProgressMeter& progress);
  void finish(const RadiusLists<T>& out);
  std::int64_t finalists() const { return finalists_; }

 private:
  using Hits = std::vector<core::Hit<T>>;
  struct Scratch {
    ScoreScratch<T> scores;
    std::vector<T> kept_scores;
    std::vector<OffsetOf<T>> kept_offsets;
  };
  struct Found {
    std::int64_t count = 0;
    Hits hits;
  };

  void run(const SparseTask& task, const std::vector<Postings<T>>& blocks, std::vector<Found>& found);

  SparseProblem<T> problem_;
  SparseLayout layout_;
  const core::RadiusQuery<T>& query_;
  std::vector<Scratch> scratch_;
  std::vector<Found> found_;  // of each query
  std::atomic<std::int64_t> hits_{0};
  std::atomic<std::int64_t> finalists_{0};
};

}  // namespace kith::cpu
