// Searches with periodic axes find what the definition says, bit for bit: points anywhere, on walls, in masses, periods
// smaller than the spread or far larger, every metric that has them, the k nearest and those within a radius.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/periodic.hpp"
#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/matrix_of.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

std::vector<Metric> periodic_metrics() {
  return {MetricKind::euclidean, MetricKind::sqeuclidean, MetricKind::manhattan, MetricKind::chebyshev,
          Metric::minkowski(3),  Metric::minkowski(1.5),  Metric::minkowski(1e2)};
}

// Emulated searches have fewer points.
class Periodic : public OnBackend {
 protected:
  static Options in_box(std::vector<double> period, const Metric& metric = MetricKind::euclidean) {
    Options options = OnBackend::options(metric);
    options.period = std::move(period);
    return options;
  }
  static std::int64_t some(std::int64_t rows) { return is_cpu() ? rows : rows / 4; }
  static std::int64_t few(std::int64_t queries) { return is_cpu() ? queries : 2 + queries / 10; }
};

// The last digits of powers are not settled.
template <Element T>
Agreement agreement_of(const Metric& metric) {
  const bool is_power = metric.kind == MetricKind::minkowski;
  return is_power ? Agreement{false, std::is_same_v<T, double> ? 1e-12 : 1e-6, 0} : Agreement{};
}

template <class D>
testing::AssertionResult lists_the_truth(const RadiusNeighbors<D>& found, const Truth<D>& truth, double radius,
                                         bool self) {
  for (std::int64_t q = 0; q < truth.queries; ++q) {
    std::vector<std::int64_t> wanted = truth.nearest(q, truth.base_rows - (self ? 1 : 0), self ? q : -1);
    std::erase_if(wanted, [&](std::int64_t id) { return !(static_cast<double>(truth.distance(q, id)) <= radius); });
    const auto ids = found.ids_of(q);
    if (!std::equal(ids.begin(), ids.end(), wanted.begin(), wanted.end()))
      return testing::AssertionFailure() << "query " << q << " has " << ids.size() << " for " << wanted.size();
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (found.distances_of(q)[i] != truth.distance(q, wanted[i]))
        return testing::AssertionFailure() << "query " << q << ", rank " << i;
  }
  return testing::AssertionSuccess();
}

template <Element T>
void expect_truth(const Sample<T>& sample, const Options& options, const std::vector<std::int64_t>& neighbors) {
  using D = DistanceOf<T>;
  const auto truth = periodic_truth_of(sample, options.metric, options.period);
  const Index<T> index(sample.base.view(), options);
  for (const std::int64_t wanted : neighbors) {
    const std::int64_t k = std::min(wanted, truth.base_rows);
    const auto found = index.search(sample.queries.view(), k);
    EXPECT_EQ(found.report.plan.method, Method::tree);
    EXPECT_TRUE(matches_truth(found, truth, k, agreement_of<T>(options.metric))) << k << to_string(options.metric);
  }
  if (options.metric.kind == MetricKind::minkowski) return;
  const std::int64_t some = std::min<std::int64_t>(truth.base_rows, 20);
  for (const D radius : {truth.distance(0, truth.nearest(0, some)[static_cast<std::size_t>(some - 1)]),
                         *std::max_element(truth.distances.begin(), truth.distances.end())}) {
    if (!(radius < std::numeric_limits<D>::infinity())) continue;
    const std::vector<D> radii = {radius};
    const auto found = index.search_radius(sample.queries.view(), radii);
    EXPECT_TRUE(lists_the_truth(found, truth, static_cast<double>(radius), false));
    const auto counted = index.search_radius(sample.queries.view(), radii, RadiusOutput::count_only);
    EXPECT_EQ(counted.offsets, found.offsets);
  }
}

template <Element T, class Coordinate>
Sample<T> sample_of(std::int64_t rows, std::int64_t queries, std::int64_t dims, Coordinate value) {
  return {matrix_of<T>(rows, dims, value), matrix_of<T>(queries, dims, value)};
}

std::vector<double> periods(std::int64_t dims, double period) {
  return std::vector<double>(static_cast<std::size_t>(dims), period);
}

TEST_P(Periodic, PointsInTheBox) {
  Random random(1);
  const auto value = [&](auto, auto) { return random.uniform(); };
  for (const Metric& metric : periodic_metrics())
    for (const std::int64_t dims : {1, 2, 3, 5}) {
      expect_truth(sample_of<float>(some(3000), few(40), dims, value), in_box(periods(dims, 1), metric), {1, 10, 100});
      expect_truth(sample_of<double>(some(900), few(40), dims, value), in_box(periods(dims, 1), metric), {1, 10, 900});
    }
}

TEST_P(Periodic, ManyQueries) {
  Random random(2);
  const auto value = [&](auto, auto) { return random.uniform(); };
  const Sample<float> sample = sample_of<float>(some(4000), few(300), 3, value);
  for (const int threads : {1, 3}) {
    Options options = in_box(periods(3, 1));
    options.threads = threads;
    expect_truth(sample, options, {8});
  }
}

TEST_P(Periodic, SomeAxesAreOpen) {
  Random random(3);
  const auto value = [&](auto, auto) { return 4 * random.uniform() - 1; };
  for (const std::vector<double>& period : {std::vector<double>{3, 0, 0}, {0, 3, 1}, {0, 0, 4}, {0, 0, 0}})
    for (const Metric& metric : periodic_metrics()) {
      const Sample<float> sample = sample_of<float>(some(1500), few(30), 3, value);
      if (core::is_periodic(period)) {
        expect_truth(sample, in_box(period, metric), {1, 12});
      } else {
        EXPECT_TRUE(matches_truth(search(sample, 12, in_box(period, metric)), truth_of(sample, metric), 12,
                                  agreement_of<float>(metric)));
      }
    }
}

// Any number of periods away, on either side, and periods far smaller than the spread.
TEST_P(Periodic, PointsAnywhere) {
  Random random(4);
  for (const double spread : {3.0, 100.0, 1e6})
    for (const double offset : {0.0, -70.5, 1e5}) {
      const auto value = [&](auto, auto) { return offset + spread * (random.uniform() - 0.5); };
      for (const MetricKind kind : {MetricKind::euclidean, MetricKind::chebyshev, MetricKind::manhattan}) {
        expect_truth(sample_of<float>(some(1200), few(25), 2, value), in_box({1.25, 0.7}, kind), {1, 9, 200});
        expect_truth(sample_of<double>(some(1200), few(25), 2, value), in_box({1.25, 0.7}, kind), {1, 9, 200});
      }
    }
}

// Too far away for differences to tell where in a period they are; too far for their differences at all.
TEST_P(Periodic, PointsFarAway) {
  Random random(5);
  for (const double scale : {1e17, 1e30, 1e38}) {
    const auto value = [&](auto r, auto) { return (r % 3 == 0 ? scale : 1.0) * (random.uniform() - 0.5); };
    expect_truth(sample_of<float>(some(300), few(15), 2, value), in_box({1, 1}, MetricKind::manhattan), {1, 9, 300});
    expect_truth(sample_of<double>(some(300), few(15), 2, value), in_box({1, 0}, MetricKind::euclidean), {1, 9, 300});
  }
  const auto largest = [&](auto r, auto) { return r % 2 == 0 ? 1.7e308 : -1.7e308 * random.uniform(); };
  const auto found = search(sample_of<double>(200, 3, 2, largest), 200, in_box({1, 1}, MetricKind::manhattan));
  for (std::int64_t q = 0; q < 3; ++q) {
    std::vector<std::int64_t> ids(found.ids_of(q).begin(), found.ids_of(q).end());
    std::sort(ids.begin(), ids.end());
    for (std::int64_t i = 0; i < 200; ++i) EXPECT_EQ(ids[static_cast<std::size_t>(i)], i);
  }
}

// A box far larger than what is in it changes nothing.
TEST_P(Periodic, PeriodsOfAnySize) {
  Random random(6);
  const auto value = [&](auto, auto) { return random.uniform() - 0.5; };
  for (const double period : {1e-30, 1e-3, 0.999, 1.001, 50.0, 1e6, 1e30, 1e300, 5e-324, 1.7e308})
    for (const MetricKind kind : {MetricKind::euclidean, MetricKind::sqeuclidean, MetricKind::manhattan}) {
      expect_truth(sample_of<float>(some(700), few(12), 2, value), in_box(periods(2, period), kind), {1, 20});
      expect_truth(sample_of<double>(some(700), few(12), 2, value), in_box(periods(2, period), kind), {1, 20});
    }
  const Sample<float> sample = sample_of<float>(some(20000), few(300), 3, value);
  Options open = in_box({});
  open.method = Method::tree;
  const auto found = search(sample, 10, in_box(periods(3, 1e6)));
  EXPECT_TRUE(same_answer(found, search(sample, 10, open)));
  if (is_cpu()) {
    EXPECT_LT(found.report.finalists, 300 * 100);
  }
}

TEST_P(Periodic, ScalesOfAnySize) {
  Random random(7);
  for (const double scale : {1e-30, 1e-18, 1e18, 1e30}) {
    const auto value = [&](auto, auto) { return scale * random.uniform(); };
    for (const Metric& metric : {Metric(MetricKind::euclidean), Metric(MetricKind::manhattan), Metric::minkowski(3)}) {
      expect_truth(sample_of<float>(some(600), few(12), 2, value), in_box(periods(2, scale), metric), {1, 20});
      expect_truth(sample_of<double>(some(600), few(12), 2, value), in_box(periods(2, scale), metric), {1, 20});
    }
  }
}

// On walls and at half a period all images are as near.
TEST_P(Periodic, WallsAndTies) {
  Random random(8);
  const auto value = [&](auto, auto) { return static_cast<double>(random.below(9)) / 4 - 1; };
  for (const Metric& metric : periodic_metrics())
    for (const double period : {1.0, 0.5, 2.0}) {
      expect_truth(sample_of<float>(some(700), few(20), 2, value), in_box(periods(2, period), metric), {1, 7, 700});
      expect_truth(sample_of<double>(some(900), few(20), 3, value), in_box({period, 1, 0}, metric), {1, 7, 100});
    }
}

TEST_P(Periodic, MassesOfCopies) {
  const auto two_places = [](auto r, auto c) { return (r * 7 % 5 == 0 ? 1 : 0) + 0.125 * static_cast<double>(c); };
  const auto one = [](auto, auto c) { return static_cast<double>(c) + 0.5; };
  const auto apart = [](auto r, auto) { return static_cast<double>(r % 3); };  // copies modulo the period alone
  for (const std::int64_t k : {1, 30, 2000})
    for (const double period : {0.75, 1.0}) {
      expect_truth(Sample<float>{matrix_of<float>(some(5000), 2, two_places), matrix_of<float>(3, 2, one)},
                   in_box(periods(2, period)), {k});
      expect_truth(Sample<double>{matrix_of<double>(some(5000), 3, apart), matrix_of<double>(3, 3, two_places)},
                   in_box(periods(3, period)), {k});
    }
}

TEST_P(Periodic, Bytes) {
  Random random(9);
  const auto value = [&](auto, auto) { return random.below(100); };
  for (const double period : {64.0, 33.3, 255.0})
    for (const Metric& metric : periodic_metrics()) {
      expect_truth(sample_of<std::uint8_t>(some(1500), few(25), 3, value), in_box({period, 0, period}, metric),
                   {1, 15});
      expect_truth(sample_of<std::int8_t>(some(1500), few(25), 2, value), in_box(periods(2, period), metric),
                   {1, 15, 1500});
    }
}

TEST_P(Periodic, SearchOfItself) {
  Random random(10);
  const auto value = [&](auto r, auto) { return r % 4 == 0 ? 0.25 : 3 * random.uniform(); };
  const std::int64_t rows = some(900);
  const Matrix<float> points = matrix_of<float>(rows, 2, value);
  const Sample<float> sample{points, points};
  for (const double period : {1.0, 3.0}) {
    const Options options = in_box(periods(2, period));
    const auto truth = periodic_truth_of(sample, options.metric, options.period);
    const Index<float> index(points.view(), options);
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, rows - 1})
      EXPECT_TRUE(matches_truth(index.search_self(k), truth, k, Agreement{}, true));
    const std::vector<float> radii = {0.1F};
    const auto within = index.search_radius_self(radii);
    EXPECT_TRUE(lists_the_truth(within, truth, radii[0], true));
    EXPECT_EQ(index.search_radius_self(radii, RadiusOutput::count_only).offsets, within.offsets);
    const Graph<float> graph = index.graph(4);
    EXPECT_EQ(graph.indices, index.search_self(4).ids);
    const auto reduced = index.reduce(points.view(), 5, {}, ReduceOp::kth_distance);
    const auto five = index.search(points.view(), 5);
    for (std::int64_t q = 0; q < rows; ++q) EXPECT_EQ(reduced.values(q, 0), five.distances_of(q)[4]);
  }
}

TEST_P(Periodic, WithALargestDistance) {
  Random random(11);
  const auto value = [&](auto, auto) { return 2 * random.uniform(); };
  const Sample<float> sample = sample_of<float>(some(3000), few(50), 2, value);
  Options options = in_box({1, 1.5});
  const auto all = search(sample, 30, options);
  for (const std::size_t at : {std::size_t{3}, all.distances.size() / 7, all.distances.size() / 2}) {
    options.max_distance = all.distances[at];
    const auto found = search(sample, 30, options);
    for (std::size_t i = 0; i < all.ids.size(); ++i) {
      const bool is_near = all.distances[i] <= all.distances[at];
      EXPECT_EQ(found.ids[i], is_near ? all.ids[i] : -1);
      EXPECT_EQ(found.distances[i], is_near ? all.distances[i] : std::numeric_limits<float>::infinity());
    }
  }
}

TEST_P(Periodic, WithAnEpsilon) {
  Random random(12);
  const auto value = [&](auto, auto) { return random.uniform(); };
  const Sample<float> sample = sample_of<float>(some(20000), few(60), 3, value);
  Options options = in_box(periods(3, 1));
  const auto exact = search(sample, 10, options);
  options.epsilon = 2;
  const auto rough = search(sample, 10, options);
  for (std::size_t i = 0; i < exact.ids.size(); ++i) {
    EXPECT_GE(rough.distances[i], exact.distances[i]);
    EXPECT_LE(rough.distances[i], 3 * exact.distances[i] * (1 + 1e-6F));
  }
  EXPECT_NE(rough.ids, exact.ids);
}

// The way around is shorter than a difference that float, or double, cannot hold.
TEST_P(Periodic, DifferencesThatOverflow) {
  const auto nearest = [&]<Element T>(std::vector<T> base, std::vector<T> query, const Options& options) {
    const auto dims = static_cast<std::int64_t>(query.size());
    const MatrixView<T> points(base.data(), static_cast<std::int64_t>(base.size()) / dims, dims);
    return kith::search(points, MatrixView<T>(query.data(), 1, dims), points.rows, options);
  };
  for (const MetricKind kind : {MetricKind::manhattan, MetricKind::chebyshev}) {
    const auto floats = nearest.template operator()<float>({-1.2e38F, 0, 1.2e38F}, {-2.4e38F}, in_box({5e38}, kind));
    EXPECT_EQ(floats.ids, (std::vector<std::int64_t>{0, 2, 1}));
    EXPECT_FLOAT_EQ(floats.distances[1], 1.4e38F);
    const auto doubles =
        nearest.template operator()<double>({1.2e308, 0.4, -1e308, 0.1}, {-1e308, 0.4}, in_box({3e307, 0}, kind));
    EXPECT_EQ(doubles.ids, (std::vector<std::int64_t>{1, 0}));
    EXPECT_NEAR(doubles.distances[1], 1e307, 1e293);
  }
}

// Clusters far from walls, with a period along every axis: queries take no longer for that.
TEST(PeriodicOnTheCpu, ManyAxes) {
  Random random(14);
  const auto value = [&](auto, auto) { return 0.5 + 1e-3 * random.gaussian(); };
  const Sample<float> sample{matrix_of<float>(2000, 44, value),
                             matrix_of<float>(2, 44, [](auto, auto) { return 0.05; })};
  Options options;
  options.backend = Backend::cpu;
  options.period = periods(44, 1);
  EXPECT_TRUE(matches_truth(search(sample, 3, options), periodic_truth_of(sample, options.metric, options.period), 3));
}

// Whole boxes are counted, with and without periods.
TEST(PeriodicOnTheCpu, CountingNeedsFewKeys) {
  Random random(15);
  const auto value = [&](auto, auto) { return random.uniform(); };
  const auto expect_few = [&]<Element T>() {
    const Sample<T> sample{matrix_of<T>(50000, 3, value), matrix_of<T>(20, 3, value)};
    Options options;
    options.backend = Backend::cpu;
    options.period = periods(3, 1);
    const std::vector<DistanceOf<T>> radii{DistanceOf<T>{0.2F}};
    const auto counted =
        search_radius<T>(sample.base.view(), sample.queries.view(), radii, RadiusOutput::count_only, options);
    const auto listed =
        search_radius<T>(sample.base.view(), sample.queries.view(), radii, RadiusOutput::neighbors, options);
    EXPECT_EQ(counted.offsets, listed.offsets);
    EXPECT_GT(listed.offsets.back(), 20000);
    EXPECT_LT(counted.report.finalists, listed.offsets.back() / 100);
  };
  expect_few.template operator()<float>();
  expect_few.template operator()<double>();
}

TEST_P(Periodic, RefusesWhatItCannotDo) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20, 3, 3}, MetricKind::euclidean, 1);
  const auto refused = [&](const Options& options, const std::vector<std::string>& mentions) {
    return fails_with(ErrorCode::invalid_argument, mentions, [&] { search(sample, 2, options); });
  };
  EXPECT_TRUE(refused(in_box({1, 1}), {"2 periods", "3 dimensions"}));
  EXPECT_TRUE(refused(in_box({1, -2, 1}), {"period = -2", "axis 1"}));
  EXPECT_TRUE(refused(in_box({1, 1, std::numeric_limits<double>::infinity()}), {"period = inf", "axis 2"}));
  EXPECT_TRUE(refused(in_box({std::nan(""), 1, 1}), {"period = nan", "axis 0"}));
  for (const MetricKind kind : {MetricKind::cosine, MetricKind::inner_product, MetricKind::hamming})
    EXPECT_TRUE(refused(in_box(periods(3, 1), kind), {"period", kith::to_string(Metric(kind))}));
  for (const Method method : {Method::brute, Method::triangle, Method::shifted_sort}) {
    Options options = in_box(periods(3, 1));
    options.method = method;
    EXPECT_TRUE(refused(options, {"period", "tree", kith::to_string(method)}));
  }
  Options options = in_box(periods(3, 1));
  options.distance = DistanceStage::direct;
  EXPECT_TRUE(refused(options, {"period", "direct"}));
  options = in_box(periods(3, 1));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"period", "distances"},
                         [&] { distances(sample.base.view(), sample.queries.view(), options); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"covariance", "periodic"}, [&] {
    reduce<float>(sample.base.view(), sample.queries.view(), 2, {}, ReduceOp::covariance, options);
  }));
  EXPECT_EQ(explain({20, 3, 3, 2, DType::float32}, options).method, Method::tree);
  EXPECT_NE(kith::to_string(explain({20, 3, 3, 2, DType::float32}, options)).find("period"), std::string::npos);
}

TEST_P(Periodic, HasALimitOfDimensionsOnDevices) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20, 3, 33}, MetricKind::euclidean, 1);
  Options options = in_box(periods(33, 1));
  if (is_cpu()) return expect_truth(sample, options, {5});
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"33 dimensions", "at most 32"}, [&] { search(sample, 2, options); }));
  options.backend = Backend::automatic;
  EXPECT_EQ(search(sample, 2, options).report.plan.backend, Backend::cpu);
}

// NaN and infinity that nobody looked for crash nothing.
TEST_P(Periodic, NumbersThatAreNone) {
  Random random(13);
  const float bad[] = {std::nanf(""), INFINITY, -INFINITY};
  const auto value = [&](auto r, auto) {
    return r % 3 == 0 ? bad[random.below(3)] : static_cast<float>(random.uniform());
  };
  const Matrix<float> points = matrix_of<float>(500, 2, value);
  Options options = in_box({1, 0.5});
  options.check_finite = false;
  for (const std::int64_t k : {1, 10, 500})
    for (const std::int64_t id : kith::search(points.view(), points.view(), k, options).ids)
      ASSERT_TRUE(id >= 0 && id < 500);
}

INSTANTIATE_TEST_SUITE_P(On, Periodic, testing::ValuesIn(available_backends()),
                         [](const auto& each) { return std::string(kith::to_string(each.param)); });

RC_GTEST_PROP(PeriodicProperties, AnyPoints, ()) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto dims = *rc::gen::inRange<std::int64_t>(1, 6);
  const Backend backend = *rc::gen::elementOf(available_backends());
  const auto rows = *rc::gen::inRange<std::int64_t>(1, backend == Backend::cpu ? 1200 : 200);
  const auto k = *rc::gen::inRange<std::int64_t>(1, rows + 1);
  const auto steps = *rc::gen::element<std::int64_t>(2, 5, 50, 1000000);
  const auto offset = *rc::gen::element(0.0, -0.5, 1e3, -1e5);
  const auto metric = *rc::gen::element(Metric(MetricKind::euclidean), Metric(MetricKind::sqeuclidean),
                                        Metric(MetricKind::manhattan), Metric(MetricKind::chebyshev));
  std::vector<double> period;
  for (std::int64_t c = 0; c < dims; ++c) period.push_back(*rc::gen::element(0.0, 0.3, 1.0, 1.75, 8.0));
  const auto value = [&](auto, auto) {
    return offset + 2 * static_cast<double>(random.below(steps)) / static_cast<double>(steps);
  };
  if (!core::is_periodic(period)) period[0] = 1;
  const Sample<float> sample = sample_of<float>(rows, 12, dims, value);
  Options options;
  options.backend = backend;
  options.metric = metric;
  options.period = period;
  RC_ASSERT(matches_truth(search(sample, k, options), periodic_truth_of(sample, metric, period), k));
  const Sample<double> doubles = sample_of<double>(rows, 12, dims, value);
  RC_ASSERT(matches_truth(search(doubles, k, options), periodic_truth_of(doubles, metric, period), k));
}

}  // namespace
}  // namespace kith::test
