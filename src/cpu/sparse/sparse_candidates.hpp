// sparse_candidates.hpp: the candidates of one query while blocks of the base pass, and its k nearest at the end.
// Idea    that of brute/candidates.hpp: scores that may belong to one of the k nearest are appended to a buffer; when
// it
//         is full, the k-th best lowers the limit, and if too many remain their keys are computed and the k best stay.
// Zeros   most rows have no column in common with a query. Under products all of these have the same key, and a score
//         that shows it; once k rows are as near, later ones have lost the tie and need no key.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/order.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/sparse/sparse_bounds.hpp"

namespace kith::cpu {

// What candidates are of.
template <SparseElement T>
struct SparseQuery {
  const CsrRows<T>& base;
  const CsrRows<T>& queries;
  SparseMetric metric;
  std::int64_t query;
  std::int64_t k;
  std::int64_t first;   // base row that offsets count from
  double largest_size;  // of the base rows that come
  double scale;
};

template <SparseElement T>
class SparseCandidates {
 public:
  // Capacity in elements, kSlack included; at least k + 2 * kSlack. Keys above `limit` are not wanted.
  SparseCandidates(const SparseQuery<T>& query, T limit, T* scores, OffsetOf<T>* offsets, std::int64_t capacity);

  // Adds the scores of base rows `first` to first + count − 1, which lie in a block; `bias`, unless null, is added to
  // them first. `tells_zeros`: a score of −0 belongs to a row that has no column in common with the query. May write to
  // the scores.
  void add_block(std::int64_t first, T* scores, const T* bias, std::int64_t count, double block_size, bool tells_zeros);

  // Returns the k nearest, sorted. Must be the last call.
  std::vector<core::Hit<T>> finish();

  std::int64_t finalists() const { return finalists_; }

 private:
  static constexpr std::int64_t kRefreshFactor = 4;

  void set_block_threshold();
  void shrink();
  void tighten();
  void drop_beyond_limit();
  void drop_lost_ties();
  void rank_by_keys();
  void lower_limit(T key);
  bool zeros_have_lost() const;

  SparseQuery<T> query_;
  SparseBounds<T> bounds_;
  T* scores_;
  OffsetOf<T>* offsets_;
  std::int64_t capacity_;
  std::int64_t size_ = 0;
  T key_limit_ = std::numeric_limits<T>::infinity();              // no key of the k nearest is above
  double score_limit_ = std::numeric_limits<double>::infinity();  // the same for true scores
  T exact_limit_ = std::numeric_limits<T>::infinity();            // the k-th score, where scores are exact
  double block_error_ = 0;
  T threshold_ = std::numeric_limits<T>::infinity();  // for computed scores of this block
  std::int64_t refresh_at_ = 0;                       // size from which the next block starts by tightening
  std::vector<core::Hit<T>> hits_;                    // settled ones: keys known, sorted, at most k
  std::int64_t finalists_ = 0;
};

// Elements that a buffer for the k nearest of so many rows should have.
std::int64_t sparse_capacity(std::int64_t k, std::int64_t rows);

}  // namespace kith::cpu
