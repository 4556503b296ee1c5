// curve_point.cuh: a point of an order along the curve: coordinates and id side by side, so that a lane reads a
// candidate with loads of 16 bytes. Coordinates beyond the dimensions are 0, and change no sum.
#pragma once

#include <type_traits>

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::shifted_sort {

// Has kWidth values in all, the last of them the id.
template <class F, unsigned kWidth>
struct alignas(16) CurvePoint {
  using Id = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;
  static constexpr unsigned kDims = kWidth - 1;
  F x[kDims];
  Id id;
};

// The width of points of so many dimensions.
constexpr unsigned curve_width(int dims) {
  return dims <= 3 ? 4 : dims <= 7 ? 8 : 20;
}

// Calls run(width) with the width as a constant.
template <class Run>
void with_curve_width(int dims, Run run) {
  if (dims <= 3) return run(std::integral_constant<unsigned, 4>{});
  if (dims <= 7) return run(std::integral_constant<unsigned, 8>{});
  run(std::integral_constant<unsigned, 20>{});
}

}  // namespace kith::KITH_BACKEND::shifted_sort
