// Neighbors beyond a largest distance are left out, by every method and backend, and nothing else changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/max_distance.hpp"
#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/device_memory.hpp"
#include "support/matrix_of.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// What is left of an answer: places whose distance is above the largest become places without a neighbor.
template <class D>
Neighbors<D> left_of(Neighbors<D> all, double max_distance) {
  for (std::size_t i = 0; i < all.ids.size(); ++i) {
    if (static_cast<double>(all.distances[i]) <= max_distance) continue;
    all.ids[i] = -1;
    all.distances[i] = std::numeric_limits<D>::infinity();
  }
  return all;
}

// Distances of some answers, and numbers beside them.
template <class D>
std::vector<double> telling_distances(const Neighbors<D>& all) {
  std::vector<double> telling = {0, 1e300};
  for (std::size_t i = 0; i < all.distances.size(); i += all.distances.size() / 2) {
    const auto distance = static_cast<double>(all.distances[i]);
    for (const double each : {std::nextafter(distance, 0.0), distance, std::nextafter(distance, kUnlimited)})
      telling.push_back(std::max(each, 0.0));
  }
  return telling;
}

using MaxDistance = OnBackend;
INSTANTIATE_TEST_SUITE_P(Backends, MaxDistance, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(kith::to_string(backend.param)); });

template <Element T>
void expect_left(const Sample<T>& sample, std::int64_t k, Options options) {
  const auto all = search(sample, k, options);
  const auto others = Index<T>(sample.base.view(), options).search_self(k - 1);
  for (const double max_distance : telling_distances(all)) {
    options.max_distance = max_distance;
    const auto found = search(sample, k, options);
    EXPECT_TRUE(same_answer(found, left_of(all, max_distance))) << max_distance;
    EXPECT_EQ(found.report.plan.max_distance, max_distance);
    const Index<T> index(sample.base.view(), options);
    EXPECT_TRUE(same_answer(index.search_self(k - 1), left_of(others, max_distance))) << max_distance;
  }
}

TEST_P(MaxDistance, LeavesWhatIsNoFarther) {
  // An emulator has time for one metric.
  const auto metrics = is_cpu() ? std::vector{MetricKind::euclidean, MetricKind::sqeuclidean, MetricKind::manhattan}
                                : std::vector{MetricKind::euclidean};
  for (const Method method : search_methods(GetParam()))
    for (const MetricKind kind : metrics) {
      Options asked = options(kind);
      asked.method = method;
      SCOPED_TRACE(kith::to_string(method));
      expect_left(generate<float>(Kind::uniform, is_cpu() ? Shape{200, 8, 3} : Shape{80, 4, 3}, kind, 1), 9, asked);
      if (!is_cpu() && method != Method::automatic) continue;
      expect_left(generate<std::uint8_t>(Kind::uniform, {100, 5, 3}, kind, 3), 7, asked);
      if (is_cpu()) expect_left(generate<double>(Kind::ties, {300, 10, 2}, kind, 2), 30, asked);
    }
}

TEST_P(MaxDistance, OtherMetricsToo) {
  for (const MetricKind kind :
       {MetricKind::cosine, MetricKind::correlation, MetricKind::hamming, MetricKind::canberra, MetricKind::chebyshev})
    expect_left(generate<float>(Kind::uniform, {100, 5, 5}, kind, 4), 9, options(kind));
}

TEST_P(MaxDistance, InMemoryOfADevice) {
  if (is_cpu()) GTEST_SKIP() << "the CPU has none";
  const Sample<float> sample = generate<float>(Kind::uniform, {500, 30, 3}, MetricKind::euclidean, 5);
  for (const Method method : {Method::brute, Method::triangle, Method::shifted_sort}) {
    Options asked = options();
    asked.method = method;
    const auto all = search(sample, 6, asked);
    asked.max_distance = all.distances[50];
    Placed<std::int64_t> ids(std::vector<std::int64_t>(30 * 6), Memory::device, GetParam());
    Placed<float> distances(std::vector<float>(30 * 6), Memory::device, GetParam());
    Index<float>(sample.base.view(), asked)
        .search_into(sample.queries.view(), 6, {ids.data(), distances.data(), Memory::device});
    Neighbors<float> found{30, 6, ids.values(), distances.values(), {}, {}};
    EXPECT_TRUE(same_answer(found, left_of(all, asked.max_distance)));
  }
}

// Of one search of an index.
TEST_P(MaxDistance, LimitsOfOneSearch) {
  const Sample<float> sample = generate<float>(Kind::uniform, {3000, 400, 2}, MetricKind::euclidean, 6);
  const Index<float> index(sample.base.view(), options());
  const auto all = index.search(sample.queries.view(), 5);
  for (const double max_distance : {0.0, 0.02, kUnlimited}) {
    Neighbors<float> found = all;
    found.report =
        index.search_into(sample.queries.view(), 5, {found.ids.data(), found.distances.data()}, {max_distance, 0});
    EXPECT_TRUE(same_answer(found, left_of(all, max_distance)));
  }
  Neighbors<float> found = all;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"max_distance", "-1"}, [&] {
    index.search_into(sample.queries.view(), 5, {found.ids.data(), found.distances.data()}, {-1.0, 0});
  }));
}

TEST_P(MaxDistance, AGraphHasFewerEdges) {
  const Sample<double> sample = generate<double>(Kind::uniform, {250, 1, 2}, MetricKind::euclidean, 7);
  for (const Symmetrize how : {Symmetrize::none, Symmetrize::either, Symmetrize::mutual}) {
    const Graph<double> whole = graph(sample.base.view(), 12, how, options());
    Options asked = options();
    asked.max_distance = *std::max_element(whole.data.begin(), whole.data.end()) * 0.6;
    const Graph<double> cut = graph(sample.base.view(), 12, how, asked);
    Graph<double> wanted;
    wanted.indptr.push_back(0);
    for (std::size_t row = 0; row < 250; ++row) {
      for (auto e = static_cast<std::size_t>(whole.indptr[row]); e < static_cast<std::size_t>(whole.indptr[row + 1]);
           ++e) {
        if (whole.data[e] > asked.max_distance) continue;
        wanted.indices.push_back(whole.indices[e]);
        wanted.data.push_back(whole.data[e]);
      }
      wanted.indptr.push_back(static_cast<std::int64_t>(wanted.indices.size()));
    }
    EXPECT_LT(cut.data.size(), whole.data.size());
    EXPECT_EQ(cut.indptr, wanted.indptr);
    EXPECT_EQ(cut.indices, wanted.indices);
    EXPECT_EQ(cut.data, wanted.data);
  }
}

// Distances beyond float are infinite, and within no finite distance.
TEST_P(MaxDistance, InfiniteDistances) {
  const auto far = [](auto r, auto) { return r % 2 == 0 ? 3e38F : -3e38F; };
  const Sample<float> sample{matrix_of<float>(40, 2, far), matrix_of<float>(2, 2, far)};
  Options asked = options(MetricKind::manhattan);
  const auto all = search(sample, 40, asked);
  asked.max_distance = std::numeric_limits<double>::max();
  const auto found = search(sample, 40, asked);
  EXPECT_EQ(std::count(found.ids.begin(), found.ids.end(), -1), 40);
  EXPECT_TRUE(same_answer(found, left_of(all, asked.max_distance)));
}

TEST_P(MaxDistance, QualityIsOfAllNeighbors) {
  const Sample<float> sample = generate<float>(Kind::uniform, {2000, 50, 3}, MetricKind::euclidean, 8);
  Options asked = options();
  asked.method = Method::shifted_sort;
  asked.statistics = true;
  const auto all = search(sample, 5, asked);
  asked.max_distance = 0.01;
  const auto found = search(sample, 5, asked);
  ASSERT_TRUE(found.report.quality && all.report.quality);
  EXPECT_EQ(found.report.quality->recall, all.report.quality->recall);
}

TEST_P(MaxDistance, RefusesWhatItCannotMean) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20, 3, 3}, MetricKind::euclidean, 1);
  Options asked = options();
  const auto refused = [&](double max_distance, const std::vector<std::string>& mentions, auto call) {
    asked.max_distance = max_distance;
    return fails_with(ErrorCode::invalid_argument, mentions, call);
  };
  const auto searching = [&] { search(sample, 2, asked); };
  EXPECT_TRUE(refused(-0.5, {"max_distance", "-0.5", "0 or more"}, searching));
  EXPECT_TRUE(refused(std::nan(""), {"max_distance", "nan"}, searching));
  EXPECT_TRUE(refused(1, {"max_distance", "radius"}, [&] {
    search_radius<float>(sample.base.view(), sample.queries.view(), std::vector<float>{1.0F}, RadiusOutput::neighbors,
                         asked);
  }));
  EXPECT_TRUE(refused(1, {"max_distance", "reduction"}, [&] {
    reduce<float>(sample.base.view(), sample.queries.view(), 2, {}, ReduceOp::density, asked);
  }));
  asked.metric = MetricKind::inner_product;
  EXPECT_TRUE(refused(1, {"max_distance", "inner_product"}, searching));
}

// The walk begins with it: where nothing is near, nothing is looked at.
TEST(MaxDistanceOfTree, LooksAtLess) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20000, 300, 3}, MetricKind::euclidean, 9);
  Options asked;
  asked.backend = Backend::cpu;
  asked.method = Method::tree;
  const auto all = search(sample, 50, asked);
  asked.max_distance = all.distances[2];
  const auto found = search(sample, 50, asked);
  EXPECT_TRUE(same_answer(found, left_of(all, asked.max_distance)));
  EXPECT_LT(4 * found.report.finalists, all.report.finalists);
}

TEST(LargestWithin, IsTheLargest) {
  EXPECT_EQ(core::largest_within<float>(kUnlimited), std::numeric_limits<float>::infinity());
  EXPECT_EQ(core::largest_within<float>(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(core::largest_within<float>(0.1), std::nextafter(0.1F, 0.0F));  // 0.1F is above 0.1
  EXPECT_EQ(core::largest_within<float>(0.2F), 0.2F);
  EXPECT_EQ(core::largest_within<float>(1e-60), 0.0F);
  EXPECT_EQ(core::largest_within<double>(0.1), 0.1);
}

}  // namespace
}  // namespace kith::test
