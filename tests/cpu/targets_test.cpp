// Every instruction set gives the same answer, bit for bit.
#include <gtest/gtest.h>

#include <string>

#include "cpu/simd/kernels.hpp"
#include "kith/search.hpp"
#include "kith/topk.hpp"
#include "simd_targets.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

template <Element T>
void expect_same_everywhere(Kind kind, const Metric& metric) {
  const Sample<T> sample = generate<T>(kind, {523, 18, 39}, metric, 1);
  Options options = options_for(metric, DistanceStage::automatic, 1);
  const auto want = search(sample, 25, options);
  for (const DistanceStage stage : usable_stages(sample, metric, 25)) {
    options.distance = stage;
    on_every_target([&] {
      EXPECT_TRUE(same_answer(search(sample, 25, options), want))
          << kith::to_string(metric) << ' ' << kith::to_string(dtype_of<T>()) << ' ' << stage;
    });
  }
}

TEST(Targets, AllGiveTheSameNeighborsByEveryStage) {
  for (const Metric& metric : all_metrics()) {
    expect_same_everywhere<float>(Kind::clustered, metric);
    expect_same_everywhere<double>(Kind::gaussian, metric);
    expect_same_everywhere<std::uint8_t>(Kind::ties, metric);
    expect_same_everywhere<std::int8_t>(Kind::uniform, metric);
  }
}

TEST(Targets, AllGiveTheSameTopk) {
  const Matrix<float> matrix = generate<float>(Kind::ties, {5, 1, 2000}, MetricKind::euclidean, 2).base;
  const Topk<float> want = topk(matrix.view(), 77);
  on_every_target([&] {
    const Topk<float> got = topk(matrix.view(), 77);
    EXPECT_EQ(got.ids, want.ids);
    EXPECT_EQ(got.values, want.values);
  });
}

TEST(Targets, TheMachineHasOne) {
  EXPECT_FALSE(cpu::simd_targets().empty());
}

}  // namespace
}  // namespace kith::test
