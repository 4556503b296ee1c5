// validate.hpp: every argument is checked here, before anything is planned or computed.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "kith/error.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "kith/topk.hpp"

namespace kith::api {

// A view with at least one element whose extent can be addressed.
template <Element T>
void check_view(const MatrixView<T>& view, const char* role) {
  if (view.rows < 1 || view.cols < 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {} × {}; at least one row and one column are needed", role, view.rows, view.cols));
  if (view.data == nullptr)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} has no data (null pointer)", role));
  if (view.row_stride < 0 || view.col_stride < 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} has strides {} and {}; they must not be negative", role,
                                                         view.row_stride, view.col_stride));
  std::int64_t rows_extent = 0;
  std::int64_t cols_extent = 0;
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(view.rows - 1, view.row_stride, &rows_extent) ||
      __builtin_mul_overflow(view.cols - 1, view.col_stride, &cols_extent) ||
      __builtin_add_overflow(rows_extent, cols_extent, &extent) ||
      extent >= std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(T)))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} of {} × {} with strides {} and {} exceeds the address space", role, view.rows,
                            view.cols, view.row_stride, view.col_stride));
}

// Metric, names, threads and budget; resolves `automatic` to a backend this machine has. `memory`: device where
// something that is worked on lies there, which only backends for devices can reach.
Backend check_options(const Options& options, Memory memory = Memory::host);
Backend check_options(const TopkOptions& options, Memory memory = Memory::host);

// For calls that work on the current device alone; `what` names them.
void refuse_devices(const Options& options, const char* what);
// Of something of a search on several devices, each of which reads what it needs from the host.
[[noreturn]] void refuse_device_memory(const Options& options, const char* role);

// The same of a plan for a device that need not be here.
void check_device_options(const Options& options);

// A distance and an epsilon that searches by this metric may have.
void check_limits(const SearchLimits& limits, const Metric& metric);

// One period for each of so many dimensions, or none at all.
void check_period(const std::vector<double>& period, std::int64_t dims);

// 1 ≤ k ≤ limit; `why` says where the limit comes from.
void check_k(std::int64_t k, std::int64_t limit, const char* why);

// A row of that many values can be numbered on a device.
void check_device_row(std::int64_t cols);

inline void check_outputs(const void* ids, const void* distances) {
  if (ids == nullptr || distances == nullptr)
    throw Error(ErrorCode::invalid_argument, "ids and distances must point to queries × k elements (null pointer)");
}

// Whether searches say which of their rows are proven to be exact.
inline bool certifies(const Options& options) {
  return options.method == Method::shifted_sort && options.shifted_sort.certify;
}

// Flags of certified rows are given room for where they are asked for, and only there.
void check_certified(const Options& options, const std::uint8_t* certified);
// For what is made of neighbors, which has no rows to certify; `what` names it.
void refuse_certify(const Options& options, const char* what);

// q · n and q · k must be countable.
void check_sizes(std::int64_t queries, std::int64_t rows, std::int64_t k);

// A result of rows × cols elements of `element_bytes` must fit into the machine's memory.
void check_output(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes);

// The shape of a search that need not be there.
void check_problem(const Problem& problem);

void check_dims(std::int64_t dims);

void check_same_dims(std::int64_t base_cols, std::int64_t query_cols);

// Queries and k, of a base that was checked.
template <Element T>
void check_search(const MatrixView<T>& base, const MatrixView<T>& queries, std::int64_t k) {
  check_view(queries, "queries");
  check_same_dims(base.cols, queries.cols);
  check_k(k, base.rows, "the number of base points is");
  check_sizes(queries.rows, base.rows, k);
}

}  // namespace kith::api
