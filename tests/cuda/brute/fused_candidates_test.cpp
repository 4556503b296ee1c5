// fused_candidates_test.cpp: candidates of a tile by the fused pass of points in fp16, which devices without wgmma
// have, against sorts of all scores.
#include "cuda/brute/fused_candidates.hpp"

#include <limits>
#include <utility>

#include "distance/fp16_points.hpp"

namespace kith::test::fused_candidates {
namespace {

using device::Fp16;
using FusedCandidates = DeviceTest;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kScale = 4;

class Problem {
 public:
  Problem(std::int64_t queries, std::int64_t base, std::int64_t dims, bool expanded, Random& random)
      : queries_(queries, dims, random), base_(base, dims, random), expanded_(expanded) {
    for (std::int64_t j = 0; j < base; ++j) norms_.push_back(static_cast<float>(product(base_, j, base_, j)));
  }

  // Expects the first `width` of each query by (score, column), and that no query failed.
  void check(std::int64_t width) const {
    device::Stream stream;
    device::Workspace workspace(stream);
    DeviceArray<Fp16> x(queries_.fp16(kScale), stream);
    DeviceArray<Fp16> y(base_.fp16(kScale), stream);
    DeviceArray<float> norms(norms_, stream);
    DeviceArray<float> left_out(std::vector<float>(static_cast<std::size_t>(queries_.count), kInfinity), stream);
    const device::brute::BestRows<float> best =
        device::brute::fused_candidates({.queries = {x.data(), nullptr, queries_.count, queries_.stride, kScale},
                                         .base = {y.data(), nullptr, base_.count, base_.stride, kScale},
                                         .bias = expanded_ ? norms.data() : nullptr,
                                         .workspace = workspace},
                                        {width, SelectMethod::radix_select}, left_out.data());
    const auto size = static_cast<std::size_t>(queries_.count * width);
    std::vector<float> values(size);
    std::vector<std::int64_t> columns(size);
    KITH_CUDA(cudaMemcpyAsync(values.data(), best.values, size * sizeof(float), cudaMemcpyDeviceToHost, stream));
    KITH_CUDA(
        cudaMemcpyAsync(columns.data(), best.columns, size * sizeof(std::int64_t), cudaMemcpyDeviceToHost, stream));
    stream.synchronize();
    EXPECT_EQ(left_out.values(), std::vector<float>(static_cast<std::size_t>(queries_.count), kInfinity));
    for (std::int64_t query = 0; query < queries_.count; ++query) {
      const auto wanted = sorted_scores(query);
      for (std::int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<std::size_t>(query * width + i);
        ASSERT_EQ(std::pair(values[at], columns[at]), wanted[static_cast<std::size_t>(i)])
            << "query " << query << ", candidate " << i;
      }
    }
  }

 private:
  std::vector<std::pair<float, std::int64_t>> sorted_scores(std::int64_t query) const {
    std::vector<std::pair<float, std::int64_t>> scores;
    for (std::int64_t j = 0; j < base_.count; ++j) {
      const auto dot = static_cast<float>(product(queries_, query, base_, j));
      scores.emplace_back(expanded_ ? norms_[static_cast<std::size_t>(j)] - 2 * dot : 0 - dot, j);
    }
    std::sort(scores.begin(), scores.end());
    return scores;
  }

  Fp16Points queries_;
  Fp16Points base_;
  bool expanded_;
  std::vector<float> norms_;
};

// Points of which a sample gives limits.
TEST_F(FusedCandidates, Fp16) {
  Random random(11);
  for (const bool expanded : {true, false}) {
    const Problem problem(5, 2100, 20, expanded, random);
    for_each_schedule([&] { problem.check(20); });
  }
}

// So few points that all of them pass.
TEST_F(FusedCandidates, Fp16WithoutSample) {
  Random random(12);
  const Problem problem(130, 150, 33, true, random);
  for_each_schedule([&] { problem.check(7); });
}

}  // namespace
}  // namespace kith::test::fused_candidates
