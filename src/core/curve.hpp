// curve.hpp: the position of a point along a space-filling curve, as an integer code (Li et al., 3.1).
//
// A frame scales a set to the cube [0, extent]^d, by the same factor in all axes so that cells stay cubes; shift j
// moves it by j · shift along the diagonal, and the extent is such that all shifts stay within [0, 1]^d. Coordinates
// become integers, whose bits are interleaved (Morton); for Hilbert's curve, Skilling's transposition exchanges and
// inverts them first. Points outside the frame are moved to the nearest point of its box, NaN to the box's first
// corner.
//
// A code has 64 bits, or 128 where 64 would leave fewer than 16 for a coordinate:
//   d      1   2   3   4 |  5   6   7   8   9  10  11  12  13  14  15  16
//   bits  32  32  21  16 | 25  21  18  16  14  12  11  10   9   9   8   8
//   words  1   1   1   1 |  2   2   2   2   2   2   2   2   2   2   2   2
//
// Host and device compute the same bits: sums and products of double, never fused.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "kith/options.hpp"

namespace kith::core {

inline constexpr int kMaxCurveDims = 16;

struct CodeShape {
  int words;  // of 64 bits
  int bits;   // of a coordinate
};

KITH_HOST_DEVICE constexpr CodeShape code_shape(int dims) {
  constexpr int kMinBits = 16;
  constexpr int kMaxBits = 32;
  const int words = 64 / dims < kMinBits ? 2 : 1;
  const int bits = words * 64 / dims;
  return {words, bits < kMaxBits ? bits : kMaxBits};
}

struct Code128 {
  std::uint64_t high;
  std::uint64_t low;

  KITH_HOST_DEVICE friend bool operator<(const Code128& a, const Code128& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
  KITH_HOST_DEVICE friend bool operator==(const Code128& a, const Code128& b) {
    return a.high == b.high && a.low == b.low;
  }
};

// The shifts of a set, as parts of the cube's side, which is 1.
struct CurveShifts {
  int count = 5;
  double size = 0.05;    // from one shift to the next
  double extent = 0.75;  // the set's longest side
};

struct CurveFrame {
  double origin[kMaxCurveDims];
  double scale;
  double extent;
  double shift;
  int dims;
  Curve curve;
};

// Makes the frame of a set from its bounding box. A set without extent, or without bounds, becomes one point.
KITH_HOST_DEVICE inline CurveFrame make_frame(const double* least, const double* greatest, int dims,
                                              const CurveShifts& shifts, Curve curve) {
  CurveFrame frame{};
  double longest_side = 0;
  for (int c = 0; c < dims; ++c) {
    frame.origin[c] = least[c];
    const double side = greatest[c] - least[c];
    if (side > longest_side) longest_side = side;
  }
  constexpr double kMaxSide = 1e300;
  frame.scale = longest_side > 0 && longest_side < kMaxSide ? shifts.extent / longest_side : 0;
  frame.extent = shifts.extent;
  frame.shift = shifts.size;
  frame.dims = dims;
  frame.curve = curve;
  return frame;
}

// Returns a coordinate in the frame, from 0 to its extent. Never falls as x grows: no step of it does.
KITH_HOST_DEVICE inline double frame_coordinate(const CurveFrame& frame, int c, double x) {
  double u = (x - frame.origin[c]) * frame.scale;
  if (!(u > 0)) u = 0;
  return u > frame.extent ? frame.extent : u;
}

// Returns a coordinate in the frame as an integer of `bits` bits, under a shift. Never falls as u grows.
KITH_HOST_DEVICE inline std::uint32_t shifted_cell(const CurveFrame& frame, double u, int shift, int bits) {
  const double cells = static_cast<double>(std::uint64_t{1} << static_cast<unsigned>(bits));
  const double cell = (u + static_cast<double>(shift) * frame.shift) * cells;
  return cell < cells ? static_cast<std::uint32_t>(cell) : static_cast<std::uint32_t>(cells - 1);
}

KITH_HOST_DEVICE inline std::uint32_t curve_cell(const CurveFrame& frame, int c, double x, int shift, int bits) {
  return shifted_cell(frame, frame_coordinate(frame, c, x), shift, bits);
}

// Applies Skilling's transposition: the interleaved integers then count along Hilbert's curve.
template <class Cells>
KITH_HOST_DEVICE inline void to_hilbert(Cells& cells, int dims, int bits) {
  const std::uint32_t top = std::uint32_t{1} << static_cast<unsigned>(bits - 1);
  for (std::uint32_t bit = top; bit > 1; bit >>= 1U) {
    const std::uint32_t below = bit - 1;
    for (int c = 0; c < dims; ++c) {
      if ((cells[c] & bit) != 0) {
        cells[0] ^= below;
      } else {
        const std::uint32_t exchanged = (cells[0] ^ cells[c]) & below;
        cells[0] ^= exchanged;
        cells[c] ^= exchanged;
      }
    }
  }
  for (int c = 1; c < dims; ++c) cells[c] ^= cells[c - 1];
  std::uint32_t inverted = 0;
  for (std::uint32_t bit = top; bit > 1; bit >>= 1U)
    if ((cells[dims - 1] & bit) != 0) inverted ^= bit - 1;
  for (int c = 0; c < dims; ++c) cells[c] ^= inverted;
}

// Moves bit i of 32 to bit 2i.
KITH_HOST_DEVICE inline std::uint64_t spread_by_2(std::uint32_t cell) {
  std::uint64_t x = cell;
  x = (x | x << 16U) & 0x0000FFFF0000FFFFULL;
  x = (x | x << 8U) & 0x00FF00FF00FF00FFULL;
  x = (x | x << 4U) & 0x0F0F0F0F0F0F0F0FULL;
  x = (x | x << 2U) & 0x3333333333333333ULL;
  return (x | x << 1U) & 0x5555555555555555ULL;
}

// Moves bit i of 21 to bit 3i.
KITH_HOST_DEVICE inline std::uint64_t spread_by_3(std::uint32_t cell) {
  std::uint64_t x = cell & 0x1FFFFFU;
  x = (x | x << 32U) & 0x001F00000000FFFFULL;
  x = (x | x << 16U) & 0x001F0000FF0000FFULL;
  x = (x | x << 8U) & 0x100F00F00F00F00FULL;
  x = (x | x << 4U) & 0x10C30C30C30C30C3ULL;
  return (x | x << 2U) & 0x1249249249249249ULL;
}

template <class Cells>
KITH_HOST_DEVICE inline void interleave(const Cells& cells, int dims, int bits, std::uint64_t& code) {
  if (dims == 3) {
    code = spread_by_3(cells[0]) << 2U | spread_by_3(cells[1]) << 1U | spread_by_3(cells[2]);
    return;
  }
  if (dims == 2) {
    code = spread_by_2(cells[0]) << 1U | spread_by_2(cells[1]);
    return;
  }
  code = 0;
  for (int bit = bits - 1; bit >= 0; --bit)
    for (int c = 0; c < dims; ++c) code = code << 1U | (cells[c] >> static_cast<unsigned>(bit) & 1U);
}

template <class Cells>
KITH_HOST_DEVICE inline void interleave(const Cells& cells, int dims, int bits, Code128& code) {
  code = {0, 0};
  for (int bit = bits - 1; bit >= 0; --bit)
    for (int c = 0; c < dims; ++c) {
      code.high = code.high << 1U | code.low >> 63U;
      code.low = code.low << 1U | (cells[c] >> static_cast<unsigned>(bit) & 1U);
    }
}

// The code of the point with coordinates coordinate(c), under a shift. kDims is the number of dimensions, or 0 where it
// is known at run time only.
template <class Code, int kDims, class Coordinate>
KITH_HOST_DEVICE inline Code curve_code(const CurveFrame& frame, int shift, Coordinate coordinate) {
  const int dims = kDims > 0 ? kDims : frame.dims;
  const int bits = code_shape(dims).bits;
  std::uint32_t cells[kDims > 0 ? kDims : kMaxCurveDims];
  for (int c = 0; c < dims; ++c) cells[c] = curve_cell(frame, c, coordinate(c), shift, bits);
  if (frame.curve == Curve::hilbert) to_hilbert(cells, dims, bits);
  Code code;
  interleave(cells, dims, bits, code);
  return code;
}

}  // namespace kith::core
