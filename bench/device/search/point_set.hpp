// point_set.hpp: base and queries of a problem, as floats, by which answers are checked, and in the elements that are
// searched.
#pragma once

#include <concepts>

#include "device/search/problem.hpp"

namespace kith::bench::device::search {

class PointSet {
 public:
  // Queries are the base's first rows where the problem says so. A file says itself how many points it has.
  PointSet(const Problem& problem, cudaStream_t stream)
      : of_base_(problem.self || problem.queries_are_base),
        base_(problem.data == Data::file ? Points(problem.file, stream)
                                         : Points(problem.base_rows, problem.dims, problem.data, kBaseSeed, stream)) {
    if (!of_base_) queries_ = Points(problem.queries, problem.dims, problem.data, kQuerySeed, stream);
    if (problem.data != Data::bytes) return;
    byte_base_ = BytePoints(base_.view(), stream);
    if (!of_base_) byte_queries_ = BytePoints(queries_.view(), stream);
  }

  template <class T = float>
  MatrixView<T> base() const {
    if constexpr (std::same_as<T, float>)
      return base_.view();
    else
      return byte_base_.view();
  }
  // The first so many.
  template <class T = float>
  MatrixView<T> queries(std::int64_t count) const {
    if (of_base_) return base<T>().rows_from(0, count);
    if constexpr (std::same_as<T, float>)
      return queries_.view().rows_from(0, count);
    else
      return byte_queries_.view().rows_from(0, count);
  }

 private:
  static constexpr unsigned kBaseSeed = 1;
  static constexpr unsigned kQuerySeed = 2;

  bool of_base_;
  Points base_;
  Points queries_;
  BytePoints byte_base_;
  BytePoints byte_queries_;
};

}  // namespace kith::bench::device::search
