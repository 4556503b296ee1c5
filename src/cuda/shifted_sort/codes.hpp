// codes.hpp: from points to their order along the curve, and from queries to their places in such an order.
// Codes are words of 64 bits, as many a point as core::code_shape(dims) says.
#pragma once

#include "core/curve.hpp"
#include "cuda/distance/scores.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

// The codes of rows under a shift, and as ids the rows' numbers from first_id on.
template <class F>
void curve_codes(const PointRows<F>& rows, const core::CurveFrame* frame, int dims, int shift, unsigned first_id,
                 std::uint64_t* codes, unsigned* ids, cudaStream_t stream);

// Sorts such codes with their ids, ascending; equal ones keep their order.
void sort_codes(std::uint64_t* codes, unsigned* ids, std::int64_t count, int dims, Workspace& workspace);

// The codes of rows under a shift, ascending, and the rows' numbers in that order.
template <class F>
void order_points(const PointRows<F>& rows, const core::CurveFrame* frame, int dims, int shift, std::uint64_t* codes,
                  unsigned* ids, Workspace& workspace);

// Rows ids[i] become CurvePoints i, curve_width(dims) values each.
template <class F>
void gather_points(const PointRows<F>& rows, int dims, const unsigned* ids, F* points, cudaStream_t stream);

// A set of orders of one base: sorted codes, and the points in the same order, one shift after the other. Both are null
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

// places[j · queries + i]: how many codes of order j are less than that of query i, a CurvePoint.
template <class F>
void find_places(const CurveOrders<F>& orders, const F* queries, std::int64_t count, unsigned* places,
                 cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::shifted_sort
