// curve_base.cpp: the bounding box and frame of a base, and its points sorted along the curve for every shift.
#include "cpu/shifted_sort/curve_base.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/instantiate.hpp"
#include "cpu/parallel.hpp"

namespace kith::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct CurveBox {
  std::array<double, core::kMaxCurveDims> least;
  std::array<double, core::kMaxCurveDims> greatest;

  CurveBox() {
    least.fill(kInfinity);
    greatest.fill(-kInfinity);
  }
  void add(std::size_t c, double x) { add(c, x, x); }
  void add(std::size_t c, double from, double to) {
    least[c] = std::min(least[c], from);
    greatest[c] = std::max(greatest[c], to);
  }
};

template <Element T>
CurveBox bounding_box(const MatrixView<T>& rows, int threads) {
  const std::int64_t part_rows = (rows.rows + threads - 1) / threads;
  std::vector<CurveBox> boxes(static_cast<std::size_t>(threads));
  parallel_for(threads, threads, [&](std::int64_t part, int) {
    CurveBox box;
    for (std::int64_t r = part * part_rows; r < std::min(rows.rows, (part + 1) * part_rows); ++r)
      for (std::int64_t c = 0; c < rows.cols; ++c)
        box.add(static_cast<std::size_t>(c), static_cast<double>(rows(r, c)));
    boxes[static_cast<std::size_t>(part)] = box;
  });
  CurveBox all;
  for (const CurveBox& box : boxes)
    for (std::size_t c = 0; c < static_cast<std::size_t>(rows.cols); ++c) all.add(c, box.least[c], box.greatest[c]);
  return all;
}

template <Element T, class Code>
void make_order(const MatrixView<T>& base, const core::CurveFrame& frame, int shift,
                CurveOrder<DistanceOf<T>, Code>& order) {
  curve_codes(base, frame, shift, 0, base.rows, order.sorted);
  CodesWithIds<Code> scratch;
  radix_sort(order.sorted, scratch, core::code_shape(frame.dims).bits * frame.dims);
  order.points.resize(static_cast<std::size_t>(base.rows * base.cols));
  for (std::int64_t i = 0; i < base.rows; ++i) {
    const T* row = base.row(order.sorted.ids[static_cast<std::size_t>(i)]);
    for (std::int64_t c = 0; c < base.cols; ++c)
      order.points[static_cast<std::size_t>(c * base.rows + i)] = static_cast<DistanceOf<T>>(row[c * base.col_stride]);
  }
}

}  // namespace

template <Element T>
CurveBase<T> make_curve_base(const MatrixView<T>& base, const core::CurveShifts& shifts, Curve curve, int threads) {
  const auto dims = static_cast<int>(base.cols);
  const CurveBox box = bounding_box(base, threads);
  CurveBase<T> made;
  made.frame = core::make_frame(box.least.data(), box.greatest.data(), dims, shifts, curve);
  const auto make_all = [&](auto& orders) {
    orders.resize(static_cast<std::size_t>(shifts.count));
    parallel_for(threads, shifts.count, [&](std::int64_t shift, int) {
      make_order(base, made.frame, static_cast<int>(shift), orders[static_cast<std::size_t>(shift)]);
    });
  };
  if (core::code_shape(dims).words == 1) {
    make_all(made.narrow);
  } else {
    make_all(made.wide);
  }
  return made;
}

#define KITH_INSTANTIATE(T) \
  template CurveBase<T> make_curve_base(const MatrixView<T>&, const core::CurveShifts&, Curve, int);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
