// Scores by products of bfloat16: those of a plain loop over rounded coordinates, in every shape, on every instruction
// set; and never further from the true ones than core::ScoreBounds says.
#include "cpu/simd/bf16_scores.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/score_bounds.hpp"
#include "simd_targets.hpp"

namespace kith::cpu {
namespace {

using Values = std::vector<float>;

Values random_values(std::int64_t count, unsigned seed, double scale) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Values values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(scale * normal(random)));
  return values;
}

struct Scored {
  Values scores;  // queries × rows
  std::int64_t blocks = 0;
};

// All scores, where limits are infinite.
Scored scored(const Values& queries, const Values& base, const float* bias, std::int64_t dims, const Values& limits) {
  const auto rows = static_cast<std::int64_t>(base.size()) / dims;
  const auto count = static_cast<std::int64_t>(limits.size());
  const std::int64_t block = tiled_block_rows<float>();
  const std::int64_t blocks = (rows + block - 1) / block;
  std::vector<std::uint32_t> lanes(static_cast<std::size_t>(count * bf16_pairs(dims)));
  std::vector<std::uint32_t> panels(static_cast<std::size_t>(padded(rows) * bf16_pairs(dims)));
  pack_bf16_queries({queries.data(), count, dims}, dims, lanes.data());
  pack_bf16_panels({base.data(), rows, dims}, dims, panels.data());
  Values written(static_cast<std::size_t>(count * blocks * block));
  std::vector<BlockHit> hits(static_cast<std::size_t>(count * blocks));
  const std::int64_t found = bf16_scores({lanes.data(), count}, {panels.data(), bias, rows}, dims,
                                         {written.data(), hits.data(), limits.data()});
  Scored out{Values(static_cast<std::size_t>(count * rows), std::numeric_limits<float>::quiet_NaN()), found};
  for (std::int64_t i = 0; i < found; ++i) {
    const BlockHit hit = hits[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < block && hit.block * block + j < rows; ++j)
      out.scores[static_cast<std::size_t>(hit.query * rows + hit.block * block + j)] =
          written[static_cast<std::size_t>(i * block + j)];
  }
  return out;
}

double exact_product(const float* x, const float* y, std::int64_t dims, bool rounded) {
  double sum = 0;
  for (std::int64_t c = 0; c < dims; ++c)
    sum += rounded ? static_cast<double>(static_cast<float>(BFloat16(x[c]))) *
                         static_cast<double>(static_cast<float>(BFloat16(y[c])))
                   : static_cast<double>(x[c]) * static_cast<double>(y[c]);
  return sum;
}

double norm(const float* x, std::int64_t dims) {
  return std::sqrt(exact_product(x, x, dims, false));
}

TEST(Bf16Scores, AreThoseOfRoundedCoordinates) {
  test::on_every_target([] {
    for (const std::int64_t dims : {1, 2, 3, 7, 8, 9, 16, 31, 100})
      for (const std::int64_t rows : {1, 15, 64, 65, 200})
        for (const std::int64_t count : {1, 5, 6, 13}) {
          const Values base = random_values(rows * dims, 1, 1);
          const Values queries = random_values(count * dims, 2, 1);
          Values bias = random_values(padded(rows), 3, 1);
          const Values limits(static_cast<std::size_t>(count), std::numeric_limits<float>::infinity());
          const Scored got = scored(queries, base, bias.data(), dims, limits);
          for (std::int64_t q = 0; q < count; ++q)
            for (std::int64_t r = 0; r < rows; ++r) {
              const float* x = queries.data() + q * dims;
              const float* y = base.data() + r * dims;
              const double expected =
                  static_cast<double>(bias[static_cast<std::size_t>(r)]) - exact_product(x, y, dims, true);
              const double error = 1e-6 * static_cast<double>(dims + 2) * (norm(x, dims) * norm(y, dims) + 5);
              ASSERT_NEAR(static_cast<double>(got.scores[static_cast<std::size_t>(q * rows + r)]), expected, error)
                  << "dims " << dims << ", rows " << rows << ", query " << q << ", row " << r;
            }
        }
  });
}

// Large, small, subnormal, at the ends of the range, and such that they cancel.
TEST(Bf16Scores, AreWithinTheirBounds) {
  test::on_every_target([] {
    constexpr std::int64_t kRows = 64;
    for (const std::int64_t dims : {1, 4, 33, 128})
      for (const double base_scale : {1e-38, 1e-30, 1e-12, 1.0, 1e18, 1e38})
        for (const double query_scale : {1e-38, 1e-20, 1.0, 1e15}) {
          Values base = random_values(kRows * dims, 5, base_scale);
          Values query = random_values(dims, 6, query_scale);
          base[0] = base_scale > 1e37 ? std::numeric_limits<float>::max() : base[0];
          for (float& value : base)
            if (std::isinf(value)) value = std::numeric_limits<float>::max();
          const core::ScoreBounds<float> bounds(MetricKind::inner_product, dims, false, 0, 1, core::kBf16Operands);
          const Scored got = scored(query, base, nullptr, dims, {std::numeric_limits<float>::infinity()});
          for (std::int64_t r = 0; r < kRows; ++r) {
            const float* y = base.data() + r * dims;
            const double x_norm = norm(query.data(), dims);
            const double error = bounds.error(x_norm * x_norm, norm(y, dims) * norm(y, dims));
            if (std::isinf(error)) continue;  // all points are candidates then
            const double difference = static_cast<double>(got.scores[static_cast<std::size_t>(r)]) +
                                      exact_product(query.data(), y, dims, false);
            ASSERT_LE(std::abs(difference), error)
                << "dims " << dims << ", scales " << base_scale << " and " << query_scale << ", row " << r;
          }
        }
  });
}

TEST(Bf16Scores, WriteTheBlocksThatHaveAScoreBelowTheLimit) {
  test::on_every_target([] {
    constexpr std::int64_t kDims = 6;
    const std::int64_t block = tiled_block_rows<float>();
    const std::int64_t rows = 5 * block - 3;
    const Values base(static_cast<std::size_t>(rows * kDims), 1);
    const Values queries(kDims * 2, 1);
    Values bias(static_cast<std::size_t>(padded(rows)), 10);
    bias[static_cast<std::size_t>(2 * block + block / 2)] = 5;  // a score of −1
    EXPECT_EQ(scored(queries, base, bias.data(), kDims, {0, -1}).blocks, 1);
    EXPECT_EQ(scored(queries, base, bias.data(), kDims, {-1, -2}).blocks, 0);
    const Scored got = scored(queries, base, bias.data(), kDims, {-0.5F, -2});
    EXPECT_EQ(got.scores[static_cast<std::size_t>(2 * block + block / 2)], -1);
    EXPECT_TRUE(std::isnan(got.scores[0]));
  });
}

}  // namespace
}  // namespace kith::cpu
