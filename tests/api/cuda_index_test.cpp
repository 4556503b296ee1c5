// An index of device points where there is no device: what is wrong is said before anything is touched.
// tests/cuda/search_test.cpp has the searches.
#include <gtest/gtest.h>

#include <algorithm>

#include "kith/index.hpp"
#include "support/compare.hpp"

namespace kith::test {
namespace {

bool has_cuda() {
  const std::vector<Backend> backends = available_backends();
  return std::find(backends.begin(), backends.end(), Backend::cuda) != backends.end();
}

TEST(CudaIndex, NeedsADevice) {
  if (has_cuda()) GTEST_SKIP() << "there is one";
  const float points[4] = {};
  EXPECT_TRUE(
      fails_with(ErrorCode::no_device, {"cuda"}, [&] { Index<float>(MatrixView<float>::on_device(points, 2, 2, 2)); }));
}

TEST(CudaIndex, RefusesOtherBackends) {
  const double points[4] = {};
  Options options;
  options.backend = Backend::cpu;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"cpu"},
                         [&] { Index<double>(MatrixView<double>::on_device(points, 2, 2), options); }));
}

TEST(CudaIndex, RefusesRowsThatOverlap) {
  if (!has_cuda()) GTEST_SKIP() << "there is no CUDA device here";
  const float points[4] = {};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"overlap"},
                         [&] { Index<float>(MatrixView<float>::on_device(points, 2, 2, 1)); }));
}

}  // namespace
}  // namespace kith::test
