// csr_rows.hpp: sparse rows that were checked: columns ascend in every row, none comes twice.
#pragma once

#include <cstdint>
#include <vector>

#include "core/key.hpp"
#include "cpu/progress.hpp"
#include "kith/sparse.hpp"

namespace kith::cpu {

template <class T>
struct CsrRow {
  const std::int32_t* columns;
  const T* values;
  std::int64_t count;
};

template <SparseElement T>
struct CsrRows {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const std::int64_t* indptr = nullptr;
  const std::int32_t* columns = nullptr;
  const T* values = nullptr;
  // Of each row what its metric knows it by: ‖x‖², as core::row_facts() has it, Σ|x|, or how many are not 0.
  std::vector<double> sizes;
  double largest_size = 0;
  std::int64_t most_entries = 0;  // of a row
  double largest_value = 0;       // magnitudes; NaN is none
  bool is_integral = true;        // all values are integers

  // Where the rows are not those of the caller.
  std::vector<std::int64_t> own_indptr;
  std::vector<std::int32_t> own_columns;
  std::vector<T> own_values;

  CsrRow<T> row(std::int64_t at) const {
    const std::int64_t first = indptr[at];
    return {columns + first, values + first, indptr[at + 1] - first};
  }
  double size(std::int64_t at) const { return sizes[static_cast<std::size_t>(at)]; }
  std::int64_t entries(std::int64_t first, std::int64_t count) const { return indptr[first + count] - indptr[first]; }
  // Beside the caller's matrix.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(8 * (sizes.size() + own_indptr.size()) + 4 * own_columns.size() +
                                     sizeof(T) * own_values.size());
  }
};

// How rows are checked, and called in errors.
struct CsrPreparation {
  const char* role;
  SparseMetric metric;
  bool check_finite;
  int threads;
};

// The metric of dense points that a metric of sparse ones is; not of jaccard.
Metric dense_metric(SparseMetric metric);

// Throws Error(invalid_argument) for what is no matrix, Error(bad_data) for values that the metric cannot take. The
// rows are those of the view, unless they have to be sorted, added up or narrowed.
template <SparseElement T>
CsrRows<T> prepare_csr(const CsrView<T>& view, const CsrPreparation& how, ProgressMeter& progress);

}  // namespace kith::cpu
