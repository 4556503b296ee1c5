// curve_range.hpp: whether all cells of a box come after a code along a space-filling curve, and before another.
//
// Morton's codes grow with every coordinate: the first and last of a box are those of its first and last corner.
// Hilbert's are found by descent: each digit of a code says in which half of its cell, along some axis, a point lies,
// so the first code of a box has at every digit a 0 if any of the box lies in the half of the 0, and goes on with that
// part of the box. Which axis and which half a digit stands for follows from the digits before it, as in to_hilbert().
// Cost  a step for each digit, of Hilbert's codes until one differs from that of the code it is compared with.
#pragma once

#include <cstdint>

#include "core/curve.hpp"

namespace kith::core {

// Cells from `low` to `high`, both included.
struct CellBox {
  std::uint32_t low[kMaxCurveDims];
  std::uint32_t high[kMaxCurveDims];
};

KITH_HOST_DEVICE inline std::uint32_t code_digit(std::uint64_t code, int place) {
  return static_cast<std::uint32_t>(code >> static_cast<unsigned>(place)) & 1U;
}

KITH_HOST_DEVICE inline std::uint32_t code_digit(const Code128& code, int place) {
  return place < 64 ? code_digit(code.low, place) : code_digit(code.high, place - 64);
}

// The coordinates of to_hilbert(), of which only one bit is looked at between two exchanges: coordinate c is that of
// axis(c), inverted where inverted(c) is 1.
class HilbertAxes {
 public:
  KITH_HOST_DEVICE explicit HilbertAxes(int dims) : dims_(dims) {
    for (int c = 0; c < dims; ++c) axes_[c] = static_cast<std::uint8_t>(c);
  }

  KITH_HOST_DEVICE int axis(int c) const { return axes_[c]; }
  KITH_HOST_DEVICE std::uint32_t inverted(int c) const { return inverted_ >> static_cast<unsigned>(c) & 1U; }

  // Goes to the next bit; bit c of `set` is that of coordinate c.
  KITH_HOST_DEVICE void next_bit(std::uint32_t set) {
    for (int c = 0; c < dims_; ++c) {
      if ((set >> static_cast<unsigned>(c) & 1U) != 0) {
        inverted_ ^= 1U;
        continue;
      }
      const std::uint8_t axis = axes_[0];
      axes_[0] = axes_[c];
      axes_[c] = axis;
      const std::uint32_t differs = inverted(0) ^ inverted(c);
      inverted_ ^= differs | differs << static_cast<unsigned>(c);
    }
  }

 private:
  int dims_;
  std::uint8_t axes_[kMaxCurveDims];
  std::uint32_t inverted_ = 0;
};

// Compares the first code of a box along Hilbert's curve, or the last where `last` is 1, with `other`: negative where
// it is less, 0 where it is equal.
template <class Code>
KITH_HOST_DEVICE inline int compare_hilbert(CellBox box, int dims, int bits, std::uint32_t last, const Code& other) {
  HilbertAxes axes(dims);
  int place = dims * bits;
  std::uint32_t flip = 0;  // to_hilbert() inverts digits by the last ones of the bits above
  for (int b = bits - 1; b >= 0; --b) {
    const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(b);
    std::uint32_t set = 0;
    std::uint32_t digit = 0;  // before it is inverted
    for (int c = 0; c < dims; ++c) {
      const int a = axes.axis(c);
      std::uint32_t half = box.low[a] >> static_cast<unsigned>(b) & 1U;
      if (((box.low[a] ^ box.high[a]) & bit) != 0) {  // the box has parts in both halves
        half = last ^ flip ^ digit ^ axes.inverted(c);
        const std::uint32_t middle = box.high[a] & ~(bit - 1);
        if (half != 0)
          box.low[a] = middle;
        else
          box.high[a] = middle - 1;
      }
      const std::uint32_t own = half ^ axes.inverted(c);
      digit ^= own;
      set |= own << static_cast<unsigned>(c);
      const std::uint32_t theirs = code_digit(other, --place);
      if ((digit ^ flip) != theirs) return theirs != 0 ? -1 : 1;
    }
    axes.next_bit(set);
    flip ^= digit;
  }
  return 0;
}

template <class Code>
KITH_HOST_DEVICE inline Code morton_code(const std::uint32_t* cells, int dims, int bits) {
  Code code;
  interleave(cells, dims, bits, code);
  return code;
}

// Whether every cell of the box has a code greater than `code`.
template <class Code>
KITH_HOST_DEVICE inline bool comes_after(const CellBox& box, Curve curve, int dims, int bits, const Code& code) {
  if (curve == Curve::hilbert) return compare_hilbert(box, dims, bits, 0, code) > 0;
  return code < morton_code<Code>(box.low, dims, bits);
}

// Whether every cell of the box has a code less than `code`.
template <class Code>
KITH_HOST_DEVICE inline bool comes_before(const CellBox& box, Curve curve, int dims, int bits, const Code& code) {
  if (curve == Curve::hilbert) return compare_hilbert(box, dims, bits, 1, code) < 0;
  return morton_code<Code>(box.high, dims, bits) < code;
}

}  // namespace kith::core
