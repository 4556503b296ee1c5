// A base of copies of one point, all as near as the k-th: the smallest ids are the answer, and the search takes not
// much longer than one of other points.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <vector>

#include "kith/search.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

constexpr std::int64_t kNeighbors = 10;

// The least of some searches, of the time that this thread has worked.
double search_seconds(const Matrix<float>& base, const Matrix<float>& queries, const Options& options) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double begin = now();
    search(base.view(), queries.view(), kNeighbors, options);
    least = std::min(least, now() - begin);
  }
  return least;
}

TEST(Ties, TakeNotMuchLonger) {
  Options options;
  options.backend = Backend::cpu;
  options.method = Method::brute;
  options.threads = 1;
  const Sample<float> others = generate<float>(Kind::uniform, {200000, 8, 8}, MetricKind::euclidean, 1);
  Matrix<float> copies(200000, 8);
  std::fill_n(copies.data(), copies.rows() * copies.cols(), 3.0F);
  const Neighbors<float> found = search(copies.view(), others.queries.view(), kNeighbors, options);
  std::vector<std::int64_t> first(kNeighbors);
  std::iota(first.begin(), first.end(), 0);
  for (std::int64_t query = 0; query < found.queries; ++query)
    EXPECT_TRUE(std::equal(first.begin(), first.end(), found.ids.begin() + query * kNeighbors)) << query;
  // About 4 times; it was 30 times with an exact distance computed and sorted for each.
  EXPECT_LT(search_seconds(copies, others.queries, options), 12 * search_seconds(others.base, others.queries, options));
}

}  // namespace
}  // namespace kith::test
