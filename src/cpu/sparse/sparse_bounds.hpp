// sparse_bounds.hpp: how far scores of sparse rows may be from the truth (core/score_bounds.hpp has the words).
// Scores  ‖y‖² − 2⟨x,y⟩; −⟨x,y⟩, under cosine of unit vectors; Σ|y| − 2Σmin(|x|,|y|) over coordinates of one sign,
// which is
//         Σ|x−y| − Σ|x|; under jaccard the key itself, of counts, which are exact.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/bounds.hpp"
#include "core/score_bounds.hpp"
#include "cpu/sparse/csr_rows.hpp"

namespace kith::cpu {

// Of one query and all rows of the base.
template <SparseElement F>
class SparseBounds {
 public:
  // `entries`: of the query and of a base row together, at most. `is_integral`: coordinates of both are integers.
  SparseBounds(SparseMetric metric, std::int64_t entries, double query_size, double largest_size, bool is_integral,
               double scale)
      : metric_(metric),
        query_size_(query_size),
        entries_(entries),
        exact_(metric == SparseMetric::jaccard || (is_integral && sums_fit(largest_size))),
        products_(dense_metric(metric), entries, is_squared(), exact_ ? range_of(entries) : 0, scale) {}

  bool is_exact() const { return exact_; }

  // E, for base rows of at most that size.
  double error(double base_size) const {
    if (exact_) return 0;
    if (metric_ != SparseMetric::manhattan) return products_.error(query_size_, base_size);
    const double sizes = query_size_ + base_size;
    if (!(2 * sizes < static_cast<double>(std::numeric_limits<F>::max()) / 2))
      return std::numeric_limits<double>::infinity();
    return 1.01 * sizes * (2 * core::gamma<F>(entries_ + 8) + 4 * core::gamma<double>(entries_ + 16));
  }

  // An upper bound of the key of a candidate whose score plus its E is `raised`.
  F key_above(F raised) const {
    if (metric_ == SparseMetric::jaccard) return raised;
    if (metric_ != SparseMetric::manhattan) return products_.key_above(raised, query_size_);
    const double raw = static_cast<double>(raised) + query_size_;
    return static_cast<F>(raw < 0 ? 0.0 : raw);
  }

  // True scores above this have keys strictly above `key`.
  double true_limit(F key) const {
    if (metric_ == SparseMetric::jaccard) return static_cast<double>(key);
    if (metric_ != SparseMetric::manhattan) return products_.true_limit(key, query_size_);
    return core::raw_ceiling(dense_metric(metric_), key, 1) - query_size_;
  }

  // Computed scores above this belong to true scores above `limit`.
  F computed_limit(double limit, double error) const {
    return std::isinf(error) ? std::numeric_limits<F>::infinity() : core::round_up<F>(limit + error);
  }

 private:
  bool is_squared() const { return metric_ == SparseMetric::euclidean || metric_ == SparseMetric::sqeuclidean; }

  // Whether all sums of integers, and their parts, are integers that F represents.
  bool sums_fit(double largest_size) const {
    switch (metric_) {
      case SparseMetric::euclidean:
      case SparseMetric::sqeuclidean:
      case SparseMetric::manhattan: return 2 * (query_size_ + largest_size) < kIntegers;
      case SparseMetric::inner_product: return std::sqrt(query_size_) * std::sqrt(largest_size) < kIntegers / 2;
      case SparseMetric::cosine:
      case SparseMetric::jaccard: break;
    }
    return false;
  }

  // A range of coordinates for which core::ScoreBounds finds scores exact, as they are here.
  static double range_of(std::int64_t entries) {
    return std::sqrt(kIntegers / 4 / static_cast<double>(entries > 0 ? entries : 1));
  }

  static constexpr double kIntegers = 2 / static_cast<double>(std::numeric_limits<F>::epsilon());

  SparseMetric metric_;
  double query_size_;
  std::int64_t entries_;
  bool exact_;
  core::ScoreBounds<F> products_;
};

}  // namespace kith::cpu
