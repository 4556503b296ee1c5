// Boxes of cells are compared with codes as all their cells would be, along both curves; no point as near as a key lies
// beyond its reach; windows cover what they have and nothing else, equal codes at their ends included.
#include "core/curve_certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kith::core {
namespace {

template <class Code>
Code code_of(std::vector<std::uint32_t> cells, Curve curve, int bits) {
  const int dims = static_cast<int>(cells.size());
  if (curve == Curve::hilbert) to_hilbert(cells, dims, bits);
  Code code{};
  interleave(cells, dims, bits, code);
  return code;
}

// All cells of a box, as codes.
template <class Code>
std::vector<Code> codes_in(const CellBox& box, Curve curve, int dims, int bits) {
  std::vector<Code> codes;
  std::vector<std::uint32_t> cells(box.low, box.low + dims);
  for (;;) {
    codes.push_back(code_of<Code>(cells, curve, bits));
    int c = 0;
    for (; c < dims; ++c) {
      const auto i = static_cast<std::size_t>(c);
      if (cells[i]++ < box.high[c]) break;
      cells[i] = box.low[c];
    }
    if (c == dims) return codes;
  }
}

template <class Code>
Code next(const Code& code, int by);
template <>
std::uint64_t next(const std::uint64_t& code, int by) {
  return code + static_cast<std::uint64_t>(static_cast<std::int64_t>(by));
}
template <>
Code128 next(const Code128& code, int by) {
  return {code.high, code.low + static_cast<std::uint64_t>(static_cast<std::int64_t>(by))};
}

// The first and last codes of random boxes, by what lies next to them.
template <class Code>
void expect_ends(Curve curve, int dims, int bits, std::mt19937& random) {
  std::uniform_int_distribution<std::uint32_t> cell(0, (1U << static_cast<unsigned>(bits)) - 1);
  CellBox box{};
  for (int c = 0; c < dims; ++c) {
    box.low[c] = cell(random);
    box.high[c] = std::min(box.low[c] + cell(random) % (dims > 4 ? 2 : 6), (1U << static_cast<unsigned>(bits)) - 1);
  }
  const std::vector<Code> codes = codes_in<Code>(box, curve, dims, bits);
  const Code first = *std::min_element(codes.begin(), codes.end());
  const Code last = *std::max_element(codes.begin(), codes.end());
  EXPECT_FALSE(comes_after(box, curve, dims, bits, first));
  EXPECT_FALSE(comes_before(box, curve, dims, bits, last));
  if (code_digit(first, 0) == 1) {  // else the one before may borrow from the other word
    EXPECT_TRUE(comes_after(box, curve, dims, bits, next(first, -1)));
  }
  if (code_digit(last, 0) == 0) {
    EXPECT_TRUE(comes_before(box, curve, dims, bits, next(last, 1)));
  }
}

TEST(CurveCertificate, BoxesHaveTheCodesOfTheirCells) {
  std::mt19937 random(1);
  for (const Curve curve : {Curve::morton, Curve::hilbert})
    for (const int dims : {1, 2, 3, 4, 5, 9}) {
      SCOPED_TRACE(testing::Message() << to_string(curve) << ", " << dims << " dimensions");
      for (int round = 0; round < 300; ++round) {
        const int bits = 3 + round % 3;
        if (dims <= 4)
          expect_ends<std::uint64_t>(curve, dims, bits, random);
        else
          expect_ends<Code128>(curve, dims, code_shape(dims).bits, random);
      }
    }
}

template <class F>
void expect_reach(const Metric& metric, double scale, std::mt19937& random) {
  constexpr std::int64_t kDims = 3;
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int round = 0; round < 1000; ++round) {
    F x[kDims];
    F y[kDims];
    double farthest = 0;
    for (int c = 0; c < kDims; ++c) {
      x[c] = static_cast<F>(scale * unit(random));
      // The others are so near that the key is all but the first coordinate's.
      y[c] = c == 0 ? static_cast<F>(scale * unit(random)) : x[c];
      farthest = std::max(farthest, std::abs(static_cast<double>(x[c]) - static_cast<double>(y[c])));
    }
    const double raw = raw_sum(form_of(metric), metric.p, x, 1, 0, y, 1, 0, kDims);
    const F key = static_cast<F>(finish(metric, raw, {}, {}, kDims));
    const double reach = curve_reach(metric, key, kDims);
    ASSERT_GE(reach, farthest) << "key " << key;
    if (scale == 1) {
      ASSERT_LE(reach, farthest * (1 + 4e-15 + 4 * static_cast<double>(std::numeric_limits<F>::epsilon())) + 1e-160);
    }
  }
}

TEST(CurveCertificate, NothingLiesBeyondTheReach) {
  std::mt19937 random(2);
  for (const MetricKind kind :
       {MetricKind::euclidean, MetricKind::sqeuclidean, MetricKind::manhattan, MetricKind::chebyshev}) {
    SCOPED_TRACE(to_string(Metric{kind}));
    for (const double scale : {1e-160, 1e-30, 1.0, 1e30}) {
      expect_reach<double>(kind, scale, random);
      if (scale > 1e-100) expect_reach<float>(kind, scale, random);
    }
    // Distances that overflow reach everywhere.
    EXPECT_EQ(curve_reach(kind, std::numeric_limits<float>::infinity(), 3), std::numeric_limits<double>::infinity());
  }
}

CurveFrame unit_frame(int dims) {
  const std::vector<double> least(kMaxCurveDims, 0.0);
  const std::vector<double> greatest(kMaxCurveDims, 1.0);
  return make_frame(least.data(), greatest.data(), dims, {}, Curve::morton);
}

TEST(CurveCertificate, WindowsEndNextToWhatWasLookedAt) {
  const auto code_at = [](std::int64_t i) { return static_cast<std::uint64_t>(100 + i); };
  const CurveWindow middle = curve_window(50, 8, 100);
  EXPECT_EQ(middle.from, 42);
  EXPECT_EQ(middle.to, 58);
  const auto ends = window_ends<std::uint64_t>(middle, 100, code_at);
  EXPECT_TRUE(ends.has_before && ends.has_after);
  EXPECT_EQ(ends.before, 141U);
  EXPECT_EQ(ends.after, 158U);
  const auto first = window_ends<std::uint64_t>(curve_window(8, 8, 100), 100, code_at);
  EXPECT_TRUE(!first.has_before && first.has_after);
  const auto last = window_ends<std::uint64_t>(curve_window(92, 8, 100), 100, code_at);
  EXPECT_TRUE(last.has_before && !last.has_after);
}

TEST(CurveCertificate, CodesAtTheEndsOfAWindowProveNothing) {
  const CurveFrame frame = unit_frame(1);
  const FrameBox box = reached_box(frame, 0.1, [](int) { return 0.5; });
  const auto code = [&](double x) { return curve_code<std::uint64_t, 1>(frame, 0, [=](int) { return x; }); };
  const auto covers = [&](const WindowEnds<std::uint64_t>& ends) {
    return covering_orders(frame, 1, box, [&](int) { return ends; }) != 0;
  };
  EXPECT_TRUE(covers({code(0.3), code(0.7), true, true}));
  EXPECT_TRUE(covers({code(0.4) - 1, code(0.6) + 1, true, true}));
  EXPECT_FALSE(covers({code(0.4), code(0.7), true, true}));
  EXPECT_FALSE(covers({code(0.3), code(0.6), true, true}));
  EXPECT_TRUE(covers({code(0.4), code(0.6), false, false}));
  EXPECT_FALSE(covers({code(0.4), 0, true, false}));
  EXPECT_FALSE(covers({0, code(0.6), false, true}));
}

TEST(CurveCertificate, WindowsOfTwoOrdersCoverOneBox) {
  const CurveFrame frame = unit_frame(1);
  const FrameBox box = reached_box(frame, 0.1, [](int) { return 0.5; });
  const auto code = [&](double x, int shift) {
    return curve_code<std::uint64_t, 1>(frame, shift, [=](int) { return x; });
  };
  // The first order has all up to `meet`, the second all from there on; planes of cells are where a box may be cut.
  const double meet = (0.375 - 0.0) / frame.scale;
  const auto covering = [&](double first_to, double second_from) {
    return covering_orders(frame, 2, box, [&](int shift) {
      return shift == 0 ? WindowEnds<std::uint64_t>{code(0.2, 0), code(first_to, 0), true, true}
                        : WindowEnds<std::uint64_t>{code(second_from, 1), code(0.9, 1), true, true};
    });
  };
  EXPECT_EQ(covering(meet, meet - 0.01), 3U);
  EXPECT_EQ(covering(meet, meet + 0.01), 0U);
  EXPECT_EQ(covering(meet - 0.01, meet - 0.02), 0U);
}

}  // namespace
}  // namespace kith::core
