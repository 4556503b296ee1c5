// codes.hpp: points sorted by their codes along the curve (core/curve.hpp), and positions of queries in such an order.
// Layout  a code has one or two words of 64 bits, as core::code_shape(dims) says.
#pragma once

#include "core/curve.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// Writes the codes of rows under a shift, and ids that count the rows from first_id on.
template <class F>
void curve_codes(const PointRows<F>& rows, const core::CurveFrame* frame, int dims, int shift, unsigned first_id,
                 std::uint64_t* codes, unsigned* ids, cudaStream_t stream);

// Sorts such codes with their ids, ascending; equal ones keep their order.
void sort_codes(std::uint64_t* codes, unsigned* ids, std::int64_t count, int dims, Workspace& workspace);

// Writes the codes of rows under a shift, ascending, and the numbers of the rows in that order.
template <class F>
void order_points(const PointRows<F>& rows, const core::CurveFrame* frame, int dims, int shift, std::uint64_t* codes,
                  unsigned* ids, Workspace& workspace);

// Copies rows ids[i] to CurvePoints i, curve_width(dims) values each.
template <class F>
void gather_points(const PointRows<F>& rows, int dims, const unsigned* ids, F* points, cudaStream_t stream);

// The orders of one base, one shift after the other: sorted codes, and the points in the same order. Both are null
// where the points are sorted together with each batch of queries.
template <class F>
struct CurveOrders {
  const core::CurveFrame* frame = nullptr;
  const std::uint64_t* codes = nullptr;
  const F* points = nullptr;
  std::int64_t count = 0;  // of points
  int dims = 0;
  int shifts = 0;
};

// positions[j · queries + i] becomes the number of codes of order j that are less than that of query i, a CurvePoint.
template <class F>
void find_positions(const CurveOrders<F>& orders, const F* queries, std::int64_t count, unsigned* positions,
                    cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::shifted_sort
