// Codes along the curves: they have the bits of the table, neighbors on Hilbert's curve are neighbors in space,
// Morton's curve interleaves bits, and points outside the frame or with NaN have codes too.
#include "core/curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace kith::core {
namespace {

TEST(Curve, BitsOfACoordinate) {
  constexpr int kBits[] = {32, 32, 21, 16, 25, 21, 18, 16, 14, 12, 11, 10, 9, 9, 8, 8};
  for (int dims = 1; dims <= kMaxCurveDims; ++dims) {
    EXPECT_EQ(code_shape(dims).bits, kBits[dims - 1]) << dims << " dimensions";
    EXPECT_EQ(code_shape(dims).words, dims <= 4 ? 1 : 2);
    EXPECT_LE(code_shape(dims).bits * dims, 64 * code_shape(dims).words);
  }
}

// Interleaves bit by bit, from the first coordinate on.
std::uint64_t plain_morton(const std::vector<std::uint32_t>& cells, int bits) {
  std::uint64_t code = 0;
  for (int bit = bits - 1; bit >= 0; --bit)
    for (const std::uint32_t cell : cells) code = code << 1U | (cell >> static_cast<unsigned>(bit) & 1U);
  return code;
}

TEST(Curve, MortonInterleavesBits) {
  std::uint32_t state = 1;
  for (const int dims : {1, 2, 3, 4}) {
    const int bits = code_shape(dims).bits;
    for (int round = 0; round < 100; ++round) {
      std::vector<std::uint32_t> cells;
      for (int c = 0; c < dims; ++c) {
        state = state * 1664525U + 1013904223U;
        cells.push_back(bits == 32 ? state : state >> static_cast<unsigned>(32 - bits));
      }
      std::uint64_t code = 0;
      interleave(cells, dims, bits, code);
      EXPECT_EQ(code, plain_morton(cells, bits)) << dims << " dimensions";
    }
  }
}

TEST(Curve, WideCodesAreInTheOrderOfTheirBits) {
  std::vector<std::uint32_t> cells(5);
  Code128 before{0, 0};
  for (std::uint32_t x = 1; x < (1U << 25U); x = 2 * x + 1) {
    cells[0] = x;
    Code128 code{};
    interleave(cells, 5, 25, code);
    EXPECT_TRUE(before < code);
    before = code;
  }
  EXPECT_GT(before.high, 0U);
}

// Each cell of a small cube, in the order of the curve, is one step from the previous one.
TEST(Curve, HilbertTakesSingleSteps) {
  for (const int dims : {2, 3}) {
    constexpr int kBits = 4;
    constexpr int kSide = 1 << kBits;
    struct Entry {
      std::uint64_t code;
      std::vector<std::uint32_t> cells;
    };
    std::vector<Entry> entries;
    const int count = dims == 2 ? kSide * kSide : kSide * kSide * kSide;
    for (int i = 0; i < count; ++i) {
      std::vector<std::uint32_t> cells;
      for (int c = 0, rest = i; c < dims; ++c, rest /= kSide) cells.push_back(static_cast<std::uint32_t>(rest % kSide));
      std::vector<std::uint32_t> turned = cells;
      to_hilbert(turned, dims, kBits);
      entries.push_back({plain_morton(turned, kBits), cells});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.code < b.code; });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(entries[i].code, i);
      if (i == 0) continue;
      int steps = 0;
      for (std::size_t c = 0; c < static_cast<std::size_t>(dims); ++c)
        steps += std::abs(static_cast<int>(entries[i].cells[c]) - static_cast<int>(entries[i - 1].cells[c]));
      EXPECT_EQ(steps, 1) << "at " << i;
    }
  }
}

TEST(Curve, EveryPointHasACode) {
  const double least[] = {10, -5, 0};
  const double greatest[] = {11, -5, 1e-3};
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const CurveFrame frame = make_frame(least, greatest, 3, {5, 0.05, 0.75}, Curve::morton);
  for (int shift = 0; shift < 5; ++shift) {
    const auto first = curve_cell(frame, 0, 10, shift, 21);
    const auto last = curve_cell(frame, 0, 11, shift, 21);
    EXPECT_LT(last, 1U << 21U);
    EXPECT_EQ(curve_cell(frame, 0, -kInfinity, shift, 21), first);
    EXPECT_EQ(curve_cell(frame, 0, kNan, shift, 21), first);
    EXPECT_EQ(curve_cell(frame, 0, kInfinity, shift, 21), last);
    EXPECT_NEAR(static_cast<double>(last - first), 0.75 * (1U << 21U), 1);
    EXPECT_NEAR(static_cast<double>(first), shift * 0.05 * (1U << 21U), 1);
  }
  const double same[] = {2, 2, 2};
  const CurveFrame point = make_frame(same, same, 3, {5, 0.05, 0.75}, Curve::morton);
  EXPECT_EQ(curve_cell(point, 1, 2, 0, 21), curve_cell(point, 1, 1e30, 0, 21));
}

}  // namespace
}  // namespace kith::core
