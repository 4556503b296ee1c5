// Searches by images of rows beside brute force by the definition: the same answers, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "definitions.hpp"
#include "kith/custom_metric.hpp"
#include "kith/named_metric.hpp"
#include "points.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

constexpr double kPi = std::numbers::pi;

struct Named {
  std::string name;
  MetricParameters parameters;
};

std::vector<double> numbers(std::int64_t count, std::uint64_t seed, double low, double high) {
  Random random(seed);
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(low + (high - low) * random.uniform());
  return values;
}

// AᵀA + 0.1.
std::vector<double> definite(std::int64_t dims) {
  const auto n = static_cast<std::size_t>(dims);
  const std::vector<double> a = numbers(dims * dims, 3, -1, 1);
  std::vector<double> made(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) made[i * n + j] += a[k * n + i] * a[k * n + j];
      if (i == j) made[i * n + j] += 0.1;
    }
  return made;
}

std::vector<Named> linear_metrics(std::int64_t dims) {
  std::vector<Named> all(2);
  all[0].name = "mahalanobis";
  all[0].parameters.inverse = definite(dims);
  all[1].name = "seuclidean";
  all[1].parameters.variances = numbers(dims, 5, 0.1, 2);
  for (const double p : {1.0, 1.5, 2.0, 3.0, std::numeric_limits<double>::infinity()}) {
    Named each{"minkowski", {}};
    each.parameters.p = p;
    each.parameters.weights = numbers(dims, 6, 0.1, 2);
    if (dims > 2) each.parameters.weights[1] = 0;
    all.push_back(each);
  }
  return all;
}

Options by(Method method) {
  Options options;
  options.backend = Backend::cpu;
  options.method = method;
  return options;
}

template <class N>
void expect_same(const N& found, const N& wanted, const std::string& what) {
  ASSERT_EQ(found.ids.size(), wanted.ids.size()) << what;
  for (std::size_t i = 0; i < found.ids.size(); ++i) {
    ASSERT_EQ(found.ids[i], wanted.ids[i]) << what << ", place " << i;
    ASSERT_EQ(core::ordered_bits(found.distances[i]), core::ordered_bits(wanted.distances[i])) << what;
  }
}

bool is_mapped(const SearchReport& report) {
  return report.plan.reason.find("candidates by images") != std::string::npos;
}

// All searches, by every method that takes images.
template <Element T>
void expect_brute(const Named& metric, const Matrix<T>& base, const Matrix<T>& queries, std::int64_t k,
                  const std::string& what) {
  const auto made = named_metric(metric.name, metric.parameters);
  const auto wanted = search_by(made, base.view(), queries.view(), k, by(Method::brute));
  const auto self = search_self_by(made, base.view(), k, by(Method::brute));
  // Distances that occur, so that some are equal to the radius.
  std::vector<DistanceOf<T>> radii;
  for (std::int64_t q = 0; q < queries.rows(); ++q)
    radii.push_back(wanted.distances_of(q)[static_cast<std::size_t>(q % k)]);
  const std::span<const DistanceOf<T>> each(radii);
  const auto within =
      search_radius_by(made, base.view(), queries.view(), each, RadiusOutput::neighbors, by(Method::brute));
  for (const Method method : {Method::automatic, Method::tree, Method::triangle}) {
    const bool has_tree = metric.parameters.p.value_or(2) == 2 || base.cols() < 10;
    if (method == Method::tree && !has_tree) continue;
    const std::string which = what + " " + metric.name + " by " + to_string(method);
    const PairIndex<T> index(made, base.view(), by(method));
    const auto found = index.search(queries.view(), k);
    EXPECT_TRUE(method == Method::automatic || is_mapped(found.report)) << which;
    expect_same(found, wanted, which);
    expect_same(index.search_self(k), self, which + ", self");
    if (method == Method::triangle) continue;  // which finds the k nearest only
    const auto inside = index.search_radius(queries.view(), each);
    EXPECT_EQ(inside.offsets, within.offsets) << which;
    expect_same(inside, within, which + ", radius");
    EXPECT_EQ(index.search_radius(queries.view(), each, RadiusOutput::count_only).offsets, within.offsets) << which;
  }
}

// Latitudes and longitudes all over the sphere.
template <Element T>
Matrix<T> places(std::int64_t rows, std::uint64_t seed) {
  Random random(seed);
  Matrix<T> made(rows, 2);
  for (std::int64_t r = 0; r < rows; ++r) {
    made(r, 0) = static_cast<T>(std::asin(2 * random.uniform() - 1));
    made(r, 1) = static_cast<T>((2 * random.uniform() - 1) * kPi);
  }
  return made;
}

template <class T>
class MappedFloats : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(MappedFloats, Floats);

TYPED_TEST(MappedFloats, FindPlacesOnTheSphere) {
  using T = TypeParam;
  expect_brute({"haversine", {}}, places<T>(3000, 1), places<T>(200, 2), 10, "all over");
}

TYPED_TEST(MappedFloats, FindPlacesAtPolesAntimeridianAndAntipodes) {
  using T = TypeParam;
  Random random(7);
  Matrix<T> base = places<T>(3000, 3);
  const auto put = [&](std::int64_t row, double latitude, double longitude) {
    base(row, 0) = static_cast<T>(latitude);
    base(row, 1) = static_cast<T>(longitude);
  };
  for (std::int64_t r = 0; r < 2400; ++r) {
    const double small = std::pow(10.0, -9 * random.uniform());
    const double turn = 2 * kPi * random.uniform();
    if (r % 6 == 0) put(r, kPi / 2, turn);           // one pole by many longitudes
    if (r % 6 == 1) put(r, -kPi / 2 + small, turn);  // around the other
    if (r % 6 == 2) put(r, small, (r % 4 < 2 ? kPi : -kPi) + small * (random.uniform() - 0.5));
    if (r % 6 == 3) put(r, 0.5, 1.25);                         // one place
    if (r % 6 == 4) put(r, 0.5 + small * 1e-3, 1.25 - small);  // near it
    if (r % 6 == 5) put(r, -0.5 + small, 1.25 - kPi + small);  // and on the other side of the Earth
  }
  Matrix<T> queries(60, 2);
  for (std::int64_t q = 0; q < 60; ++q)
    for (std::int64_t c = 0; c < 2; ++c) queries(q, c) = base(q * 40, c);
  expect_brute({"haversine", {}}, base, queries, 7, "extremes");
  // Turns more than needed, and latitudes that are none: brute force for these.
  queries(3, 1) += static_cast<T>(2000 * kPi);
  queries(4, 0) = static_cast<T>(2.5);
  queries(5, 0) = static_cast<T>(-1e5);
  expect_brute({"haversine", {}}, base, queries, 7, "turns");
}

TEST(Mapped, FollowsTheDefinitionOfHaversine) {
  const Matrix<double> base = places<double>(5000, 4);
  const Matrix<double> queries = places<double>(300, 5);
  const auto found = search_by(named_metric("haversine"), base.view(), queries.view(), 3, by(Method::tree));
  ASSERT_TRUE(is_mapped(found.report));
  for (std::int64_t q = 0; q < queries.rows(); ++q) {
    std::vector<double> all;
    for (std::int64_t r = 0; r < base.rows(); ++r)
      all.push_back(defined("haversine", {}, row_of(queries, q), row_of(base, r)));
    const auto order = ordered(all.data(), base.rows());
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(found.ids_of(q)[i], order[i]);
      EXPECT_NEAR(found.distances_of(q)[i], all[static_cast<std::size_t>(order[i])], 1e-14);
    }
  }
}

template <class T>
class MappedRows : public testing::Test {};
using Types = testing::Types<float, double, std::uint8_t, std::int8_t, Float16, BFloat16>;
TYPED_TEST_SUITE(MappedRows, Types);

TYPED_TEST(MappedRows, AreFoundByEveryMetricWithAMap) {
  using T = TypeParam;
  for (const std::int64_t dims : {1, 3, 20}) {
    if (dims != 3 && !std::is_same_v<T, float> && !std::is_same_v<T, std::uint8_t>) continue;
    const Matrix<T> base = random_points<T>(2100, dims, 11, -1, 1);
    const Matrix<T> queries = random_points<T>(100, dims, 12, -1, 1);
    for (const Named& metric : linear_metrics(dims))
      expect_brute(metric, base, queries, 6, std::to_string(dims) + " dimensions");
  }
}

// Zero vectors have no direction: in the base they are candidates of every query, and queries get all distances.
TYPED_TEST(MappedRows, GiveZeroVectorsWhatTheyAreTold) {
  using T = TypeParam;
  for (const std::int64_t dims : {2, 20}) {
    Matrix<T> base = random_points<T>(2100, dims, 61, -1, 1);
    Matrix<T> queries = random_points<T>(60, dims, 62, -1, 1);
    // What was rounded to zero gets a direction.
    for (std::int64_t r = 0; r < 2100; ++r) base(r, 0) = static_cast<T>(static_cast<float>(1 + r % 7));
    for (std::int64_t q = 0; q < 60; ++q) queries(q, 1) = static_cast<T>(static_cast<float>(1 + q % 5));
    const auto zero = [&](Matrix<T>& points, std::int64_t row) {
      for (std::int64_t c = 0; c < dims; ++c) points(row, c) = static_cast<T>(0.0F);
    };
    for (const std::int64_t row : {0, 3, 700, 2099}) zero(base, row);
    for (const std::int64_t row : {5, 59}) zero(queries, row);
    for (const ZeroVectors policy : {ZeroVectors::one, ZeroVectors::zero}) {
      Named metric{"cosine", {}};
      metric.parameters.zero_vectors = policy;
      expect_brute(metric, base, queries, 6, to_string(policy));
      const auto found = search_by(named_metric("cosine", metric.parameters), base.view(), queries.view(), 6);
      const float distance = policy == ZeroVectors::one ? 1 : 0;
      for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(static_cast<float>(found.distances_of(5)[i]), distance);
      EXPECT_EQ(found.ids_of(5)[2], 2);
      EXPECT_TRUE(policy == ZeroVectors::one || found.ids_of(1)[1] == 3);
    }
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 0 has length zero", "zero_vectors"}, [&] {
      search_by(named_metric("cosine"), base.view(), queries.view().rows_from(10, 5), 2);
    }));
  }
}

// What is left of candidates is decided on the CPU.
TEST(Mapped, AreFoundOnADevice) {
  const std::vector<Backend> there = available_backends();
  if (std::find(there.begin(), there.end(), Backend::emulated) == there.end()) GTEST_SKIP() << "no emulated backend";
  const Matrix<float> base = random_points<float>(2500, 5, 51, -1, 1);
  const Matrix<float> queries = random_points<float>(30, 5, 52, -1, 1);
  Options options;
  options.backend = Backend::emulated;
  for (const Named& metric : linear_metrics(5)) {
    const auto made = named_metric(metric.name, metric.parameters);
    const auto found = search_by(made, base.view(), queries.view(), 5, options);
    expect_same(found, search_by(made, base.view(), queries.view(), 5, by(Method::brute)), metric.name);
    EXPECT_EQ(found.report.plan.backend, Backend::emulated);
  }
  const Matrix<float> sphere = places<float>(3000, 1);
  const auto haversine = named_metric("haversine");
  expect_same(search_by(haversine, sphere.view(), sphere.view().rows_from(0, 50), 5, options),
              search_by(haversine, sphere.view(), sphere.view().rows_from(0, 50), 5, by(Method::brute)), "haversine");
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"matrices of distances on the CPU"},
                         [&] { distances_by(haversine, sphere.view(), sphere.view().rows_from(0, 2), options); }));
}

// Few distinct rows: the k-th distance occurs more often than there are candidates.
TEST(Mapped, OrdersTiesById) {
  Random random(4);
  Matrix<float> base(2100, 3);
  for (std::int64_t i = 0; i < 6300; ++i) base.data()[i] = static_cast<float>(random.below(3));
  Matrix<float> queries(50, 3);
  for (std::int64_t i = 0; i < 150; ++i) queries.data()[i] = static_cast<float>(random.below(3));
  for (const Named& metric : linear_metrics(3)) expect_brute(metric, base, queries, 20, "ties");
  const Matrix<double> same(2100, 3, std::vector<double>(6300, 0.7));
  expect_brute(linear_metrics(3)[1], same, Matrix<double>(5, 3, std::vector<double>(15, 0.7)), 3, "one point");
}

TYPED_TEST(MappedFloats, AreFoundAtEveryScaleAndFarFromTheOrigin) {
  using T = TypeParam;
  const bool is_double = std::is_same_v<T, double>;
  for (const double scale : {is_double ? 1e-150 : 1e-30, 1e-12, 1e9, is_double ? 1e140 : 1e30})
    for (const double offset : {0.0, 1e4}) {
      Matrix<T> base = random_points<T>(2200, 3, 21, -1, 1);
      for (std::int64_t i = 0; i < 6600; ++i)
        base.data()[i] = static_cast<T>((static_cast<double>(base.data()[i]) + offset) * scale);
      Matrix<T> queries(20, 3);
      for (std::int64_t q = 0; q < 20; ++q)
        for (std::int64_t c = 0; c < 3; ++c) queries(q, c) = base(q * 100, c);
      queries(0, 0) = static_cast<T>(static_cast<double>(queries(0, 0)) * 30000);  // far from all others
      for (Named metric : linear_metrics(3)) {
        if (!(metric.parameters.p.value_or(2) <= 2) && !std::isinf(*metric.parameters.p)) continue;
        const auto made = named_metric(metric.name, metric.parameters);
        const auto wanted = search_by(made, base.view(), queries.view(), 5, by(Method::brute));
        const auto found = PairIndex<T>(made, base.view(), by(Method::automatic)).search(queries.view(), 5);
        expect_same(found, wanted, metric.name + " of scale " + std::to_string(scale));
      }
    }
}

TEST(Mapped, WeightsAndVariancesMayBeFarApart) {
  const Matrix<double> base = random_points<double>(2500, 4, 31, -1, 1);
  const Matrix<double> queries = random_points<double>(50, 4, 32, -1, 1);
  for (const double ratio : {1e-3, 1e6, 1e12}) {
    Named metric{"seuclidean", {}};
    metric.parameters.variances = {1, ratio, 1 / ratio, 2};
    expect_brute(metric, base, queries, 5, "apart");
    metric = {"minkowski", {}};
    metric.parameters.weights = {1, ratio, 1 / ratio, 2};
    metric.parameters.p = 1;
    expect_brute(metric, base, queries, 5, "apart");
  }
}

// A form that is not positive definite is searched by its definition; what asks for another method is refused.
TEST(Mapped, RefusesFormsThatAreSingular) {
  const Matrix<double> base = random_points<double>(2500, 2, 41, -1, 1);
  for (const std::vector<double>& inverse : std::vector<std::vector<double>>{
           {1, 1, 1, 1}, {1, 1, 1, 1 + 1e-15}, {0, 0, 0, 1}, {1, 2, 2, 1}, {-1, 0, 0, 1}}) {
    MetricParameters parameters;
    parameters.inverse = inverse;
    const auto metric = named_metric("mahalanobis", parameters);
    const auto refuses = [&](const Options& options) {
      return fails_with(ErrorCode::invalid_argument, {"mahalanobis", "well conditioned"},
                        [&] { search_by(metric, base.view(), base.view(), 3, options); });
    };
    EXPECT_TRUE(refuses(by(Method::tree)));
    Options emulated;
    emulated.backend = Backend::emulated;
    EXPECT_TRUE(refuses(emulated));
    const auto found = search_by(metric, base.view(), base.view(), 3);
    EXPECT_FALSE(is_mapped(found.report));
    expect_same(found, search_by(metric, base.view(), base.view(), 3, by(Method::brute)), "singular");
  }
}

TEST(Mapped, RefusesWhatIsNotANumber) {
  Matrix<double> base = places<double>(3000, 1);
  const auto metric = named_metric("haversine");
  Matrix<double> bad = base;
  bad(17, 1) = std::nan("");
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"queries row 17, column 1 is nan"},
                         [&] { search_by(metric, base.view(), bad.view(), 3, by(Method::tree)); }));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 17, column 1 is nan"},
                         [&] { search_by(metric, bad.view(), base.view(), 3, by(Method::tree)); }));
  Options unchecked;
  unchecked.check_finite = false;
  EXPECT_NO_THROW(search_by(metric, bad.view(), base.view(), 3, unchecked));
  unchecked.method = Method::tree;
  const auto among_bad = search_by(metric, bad.view(), base.view(), 3, unchecked);
  EXPECT_TRUE(is_mapped(among_bad.report));
  unchecked.method = Method::brute;
  expect_same(among_bad, search_by(metric, bad.view(), base.view(), 3, unchecked), "NaN");
  for (std::int64_t r = 0; r < 100; ++r) bad(30 * r, 0) = 7;  // latitudes that are none
  unchecked.method = Method::tree;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"no images of too many base rows"},
                         [&] { search_by(metric, bad.view(), base.view(), 3, unchecked); }));
  Options approximate;
  approximate.method = Method::shifted_sort;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"shifted-sort"},
                         [&] { search_by(metric, base.view(), base.view(), 3, approximate); }));
}

TEST(Mapped, LeavesOutPadsAndReports) {
  const Matrix<float> base = places<float>(4000, 1);
  const Matrix<float> queries = places<float>(100, 2);
  const auto metric = named_metric("haversine");
  Options options = by(Method::tree);
  Options brute = by(Method::brute);
  options.max_distance = brute.max_distance = 0.05;
  options.pad_missing = brute.pad_missing = true;
  for (const std::int64_t k : {1, 30, 500, 4100}) {
    const auto found = search_by(metric, base.view(), queries.view(), k, options);
    expect_same(found, search_by(metric, base.view(), queries.view(), k, brute), "k = " + std::to_string(k));
    EXPECT_TRUE(is_mapped(found.report));
    EXPECT_EQ(found.report.plan.problem.k, k);
  }
  const auto few = search_by(metric, base.view(), queries.view(), 10, by(Method::tree));
  EXPECT_EQ(few.report.plan.method, Method::tree);
  EXPECT_LT(few.report.finalists, 100 * 64);
  std::int64_t last = 0;
  Options watched = by(Method::tree);
  watched.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.done, last);
    EXPECT_EQ(progress.total, 400000);
    last = progress.done;
    return true;
  };
  search_by(metric, base.view(), queries.view(), 10, watched);
  EXPECT_EQ(last, 400000);
  watched.progress = [](const Progress&) { return false; };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled"},
                         [&] { search_by(metric, base.view(), queries.view(), 10, watched); }));
}

TEST(Mapped, HasTheSameBitsForAnyThreadsAndBudget) {
  const Matrix<double> base = places<double>(4000, 1);
  const auto metric = named_metric("haversine");
  const auto wanted = search_by(metric, base.view(), base.view(), 8, by(Method::brute));
  for (const int threads : {1, 2, 5})
    for (const std::int64_t budget : {0, 300000, 3000000, 30000000}) {
      Options options;
      options.backend = Backend::cpu;
      options.threads = threads;
      options.memory_budget = budget;
      expect_same(search_by(metric, base.view(), base.view(), 8, options), wanted, std::to_string(budget));
    }
}

}  // namespace
}  // namespace kith::test
