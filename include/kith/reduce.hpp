// Reductions over neighbors: what is wanted of each query's k nearest, without their lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/search.hpp"

namespace kith {

enum class ReduceOp {
  mean,           // of each column of the values of the k nearest
  weighted_mean,  // the same with weights 1 / distance; where neighbors lie at distance 0, the mean of those
  sum,
  min,
  max,
  kth_distance,  // of the k-th neighbor
  density,       // k over the volume of the ball that reaches to the k-th neighbor
  covariance,    // of the neighbors' coordinates: rows of the upper triangle, dims · (dims + 1) / 2 columns
};

KITH_API const char* to_string(ReduceOp op) noexcept;  // "mean", "weighted-mean", "sum", "min", "max", ...
KITH_API ReduceOp parse_reduce_op(std::string_view name);
KITH_API std::vector<std::string> reduce_op_names();
// Whether it is of values that come with the base points.
KITH_API bool uses_values(ReduceOp op) noexcept;
// Columns of the answer, of values with `value_columns` of them and of points with so many dimensions.
KITH_API std::int64_t reduced_columns(ReduceOp op, std::int64_t value_columns, std::int64_t dims) noexcept;

// A row for each query. Sums are accumulated in double in a fixed order and rounded once, so that all backends and
// methods that find the same neighbors return the same bits.
template <class D>
struct Reduced {
  Matrix<D> values;
  SearchReport report;  // of the last batch of queries, the seconds of all
};

// Where the answer goes: reduced_columns() values a query, packed, in the caller's memory.
template <class D>
struct ReducedView {
  D* values = nullptr;
  Memory memory = Memory::host;
};

// Of the k nearest base points of each query, found as the options say: 1 ≤ k ≤ base.rows. `values` has a row for each
// base point, and is not looked at by the last three operations. Queries are taken in batches, so that no more than a
// batch's neighbors are ever in memory; method shifted-sort on a device reduces where it finds them. Weights need
// distances that are not negative, densities euclidean, sqeuclidean, manhattan or chebyshev.
template <Element T>
KITH_API Reduced<DistanceOf<T>> reduce(MatrixView<T> base, MatrixView<T> queries, std::int64_t k,
                                       MatrixView<DistanceOf<T>> values, ReduceOp op, const Options& options = {},
                                       void* stream = nullptr);

// The unit vectors along which neighborhoods extend least, from covariances of `dims` dimensions: normals of a
// surface. The first coordinate that is not 0 is positive.
template <class D>
KITH_API Matrix<D> normals(const Matrix<D>& covariances, std::int64_t dims);

}  // namespace kith
