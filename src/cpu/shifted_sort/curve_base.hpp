// curve_base.hpp: the orders of a base along a space-filling curve, one a shift (Li et al., 3.1).
// Cost    a radix sort of the base a shift; threads share the shifts.
// Memory  a code, an id and a point for every point and shift.
#pragma once

#include <cstdint>
#include <vector>

#include "core/curve.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/shifted_sort/radix_sort.hpp"

namespace kith::cpu {

// The base in one order. Coordinate c of the i-th point is points[c · rows + i].
template <class F, class Code>
struct CurveOrder {
  CodesWithIds<Code> sorted;
  std::vector<F> points;
};

template <Element T>
struct CurveBase {
  core::CurveFrame frame;
  // Codes have 64 bits or 128: one of the two is empty.
  std::vector<CurveOrder<DistanceOf<T>, std::uint64_t>> narrow;
  std::vector<CurveOrder<DistanceOf<T>, core::Code128>> wide;

  int shifts() const { return static_cast<int>(narrow.empty() ? wide.size() : narrow.size()); }
};

// Computes the codes of rows first … first + count − 1 of a view under a shift; ids count from `first`.
template <Element T, class Code>
void curve_codes(const MatrixView<T>& rows, const core::CurveFrame& frame, int shift, std::int64_t first,
                 std::int64_t count, CodesWithIds<Code>& out) {
  out.resize(static_cast<std::size_t>(count));
  const auto fill = [&]<int kDims>(std::integral_constant<int, kDims>) {
    for (std::int64_t i = 0; i < count; ++i) {
      const T* row = rows.row(first + i);
      out.codes[static_cast<std::size_t>(i)] = core::curve_code<Code, kDims>(
          frame, shift, [&](int c) { return static_cast<double>(row[c * rows.col_stride]); });
      out.ids[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(first + i);
    }
  };
  if (rows.cols == 3) return fill(std::integral_constant<int, 3>{});
  fill(std::integral_constant<int, 0>{});
}

template <Element T>
CurveBase<T> make_curve_base(const MatrixView<T>& base, const core::CurveShifts& shifts, Curve curve, int threads);

}  // namespace kith::cpu
