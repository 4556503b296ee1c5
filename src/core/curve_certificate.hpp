// curve_certificate.hpp: when the candidates of a query in orders along a curve prove that its neighbors are the k
// nearest.
//
// Given a query x, k neighbors found in any way, sorted by (key, id), the last of them L, and of every order along the
// curve a window: the positions that were looked at. Let B be the base points that do not come after L by (key, id):
// the k neighbors are among them.
//
// 1. A point y of B has a raw sum of at most raw_ceiling(key of L). No sum is less than one of its terms, since terms
//    are not negative and rounding is monotone. So |x_c − y_c| ≤ reach in every coordinate: curve_reach() adds what
//    the rounding of a difference, of a square and of its root can hide. y_c is a double, and so lies between the
//    rounded x_c − reach and the rounded x_c + reach.
// 2. Coordinates in the frame do not fall as coordinates grow, roundings and clamping included. So y lies in the box
//    from frame_coordinate(x − reach) to frame_coordinate(x + reach): no margin is needed for the rounding of the
//    frame. Sides of the ball beyond the base's box become those of the box, and queries outside are no other case.
//    Nor do cells of an order fall as coordinates in the frame grow: the box becomes one of cells.
// 3. All points of a box of cells are in an order's window if the codes of all its cells are greater than the code just
//    before the window and less than the code just after it (curve_range.hpp); where the order ends, nothing lies
//    beyond. Equal codes prove nothing: points outside may share them.
// 4. If a window has all points of one part of the box, cut off by a plane, only the rest is left to the other orders.
//    Back in the frame the rest is widened by more than roundings can hide (kCutRounding). When a window has all of
//    what is left, all of B is in the windows that took part.
// 5. If every point of B in these windows is one of the k neighbors, B has no others: ids, order and distances are as
//    of an exact search, ties included. That is looked at by exact keys, for candidates are ranked in working
//    precision, which may take the wrong one of two that are nearly as far.
#pragma once

#include <cmath>

#include "core/bounds.hpp"
#include "core/curve_range.hpp"

namespace kith::core {

// No coordinate of a point whose key is at most `key` differs from the query's by more. Metrics of the forms squared,
// absolute and maximum.
template <class D>
KITH_HOST_DEVICE inline double curve_reach(const Metric& metric, D key, std::int64_t dims) {
  constexpr double kRounding = 1 + 1e-15;  // a difference, a square, its root and these two steps: less than 5 · 2⁻⁵³
  constexpr double kUnderflow = 1e-161;  // the root of 2⁻¹⁰⁷⁵, by which a square may be rounded down, and more
  const double raw = raw_ceiling(metric, key, dims);
  return form_of(metric) == Form::squared ? std::sqrt(raw) * kRounding + kUnderflow : raw * kRounding;
}

// A box of coordinates in a frame, both ends included.
struct FrameBox {
  double low[kMaxCurveDims];
  double high[kMaxCurveDims];
};

// Of all points whose coordinates lie within `reach` of coordinate(c).
template <class Coordinate>
KITH_HOST_DEVICE inline FrameBox reached_box(const CurveFrame& frame, double reach, Coordinate coordinate) {
  FrameBox box;
  for (int c = 0; c < frame.dims; ++c) {
    box.low[c] = frame_coordinate(frame, c, coordinate(c) - reach);
    box.high[c] = frame_coordinate(frame, c, coordinate(c) + reach);
  }
  return box;
}

// The positions of an order that were looked at.
struct CurveWindow {
  std::int64_t from;
  std::int64_t to;  // past the last
};

// Of a query at `position`, the number of codes less than its own.
KITH_HOST_DEVICE inline CurveWindow curve_window(std::int64_t position, std::int64_t window, std::int64_t count) {
  const std::int64_t from = position - window;
  const std::int64_t to = position + window;
  return {from > 0 ? from : 0, to < count ? to : count};
}

// The codes just outside a window; none where the order ends.
template <class Code>
struct WindowEnds {
  Code before;
  Code after;
  bool has_before;
  bool has_after;
};

// code_at(i) is the code at a position of an order of `count`.
template <class Code, class CodeAt>
KITH_HOST_DEVICE inline WindowEnds<Code> window_ends(const CurveWindow& window, std::int64_t count, CodeAt code_at) {
  WindowEnds<Code> ends{{}, {}, window.from > 0, window.to < count};
  if (ends.has_before) ends.before = code_at(window.from - 1);
  if (ends.has_after) ends.after = code_at(window.to);
  return ends;
}

// Whether all points of the box are in the window.
template <class Code>
KITH_HOST_DEVICE inline bool has_all_of(const WindowEnds<Code>& ends, const CellBox& box, Curve curve, int dims,
                                        int bits) {
  return (!ends.has_before || comes_after(box, curve, dims, bits, ends.before)) &&
         (!ends.has_after || comes_before(box, curve, dims, bits, ends.after));
}

// Cuts off a part of the box that the window has, at the plane along axis c where the curve's largest cells meet.
template <class Code>
KITH_HOST_DEVICE inline bool cut_along(const WindowEnds<Code>& ends, Curve curve, int dims, int bits, int c,
                                       CellBox& box) {
  std::uint32_t below = box.low[c] ^ box.high[c];
  if (below == 0) return false;
  for (unsigned step = 1; step < 32; step *= 2) below |= below >> step;
  const std::uint32_t plane = box.high[c] & ~(below >> 1U);
  CellBox part = box;
  part.low[c] = plane;
  if (has_all_of(ends, part, curve, dims, bits)) {
    box.high[c] = plane - 1;
    return true;
  }
  part.low[c] = box.low[c];
  part.high[c] = plane - 1;
  if (!has_all_of(ends, part, curve, dims, bits)) return false;
  box.low[c] = plane;
  return true;
}

enum class Covered { nothing, part, all };

// Takes from the box what the window of the order under `shift` has of it.
template <class Code>
KITH_HOST_DEVICE inline Covered take_covered(const CurveFrame& frame, int shift, const WindowEnds<Code>& ends,
                                             FrameBox& box) {
  constexpr double kCutRounding = 4.5e-16;  // 2⁻⁵¹: of a coordinate and a shift, their sum and its inverse
  const int dims = frame.dims;
  const int bits = code_shape(dims).bits;
  CellBox cells;
  for (int c = 0; c < dims; ++c) {
    cells.low[c] = shifted_cell(frame, box.low[c], shift, bits);
    cells.high[c] = shifted_cell(frame, box.high[c], shift, bits);
  }
  const CellBox all = cells;
  bool cut = true;
  while (cut) {
    if (has_all_of(ends, cells, frame.curve, dims, bits)) return Covered::all;
    cut = false;
    for (int c = 0; c < dims; ++c) cut = cut_along(ends, frame.curve, dims, bits, c, cells) || cut;
  }
  const double cell = 1 / static_cast<double>(std::uint64_t{1} << static_cast<unsigned>(bits));
  const double moved = static_cast<double>(shift) * frame.shift;
  Covered covered = Covered::nothing;
  for (int c = 0; c < dims; ++c) {
    if (cells.low[c] != all.low[c]) {
      box.low[c] = static_cast<double>(cells.low[c]) * cell - moved - kCutRounding;
      covered = Covered::part;
    }
    if (cells.high[c] != all.high[c]) {
      box.high[c] = (static_cast<double>(cells.high[c]) + 1) * cell - moved + kCutRounding;
      covered = Covered::part;
    }
  }
  return covered;
}

// Orders, as bits, whose windows together have all points of the box; 0 where that is not shown. ends_of(shift) is what
// lies outside a window. Up to 32 shifts.
template <class EndsOf>
KITH_HOST_DEVICE inline std::uint32_t covering_orders(const CurveFrame& frame, int shifts, FrameBox box,
                                                      EndsOf ends_of) {
  constexpr int kPasses = 3;  // what later orders cut off may leave a rest that an earlier one has
  std::uint32_t orders = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    bool progress = false;
    for (int shift = 0; shift < shifts; ++shift) {
      const Covered covered = take_covered(frame, shift, ends_of(shift), box);
      if (covered == Covered::nothing) continue;
      orders |= std::uint32_t{1} << static_cast<unsigned>(shift);
      if (covered == Covered::all) return orders;
      progress = true;
    }
    if (!progress) return 0;
  }
  return 0;
}

}  // namespace kith::core
