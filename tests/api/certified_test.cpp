// Rows that method shifted-sort certifies are those of brute force, bit for bit, whatever the data: in all dimensions,
// along both curves, by every merge, for queries anywhere. Backends give the same flags. A good share is certified
// where windows are a few times as wide as k.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/device_memory.hpp"
#include "support/on_backend.hpp"

namespace kith::test {
namespace {

// `outlier`: one point so far away that all others share a code. `shells`: 20 points each around a center, at distances
// that working precision hardly tells apart.
enum class Data { uniform, clusters, lattice, line, outlier, shells };
constexpr Data kData[] = {Data::uniform, Data::clusters, Data::lattice, Data::line, Data::outlier, Data::shells};

// Numbers from 0 to 7/8; in three dimensions the first 512 centers differ.
double center(std::int64_t shell, std::size_t axis) {
  const std::int64_t digits[] = {shell, shell / 8, shell / 64};
  return static_cast<double>((digits[axis % 3] + static_cast<std::int64_t>(axis)) % 8) / 8;
}

template <Element T>
Matrix<T> points_of(Data data, std::int64_t rows, std::int64_t dims, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  Matrix<T> points(rows, dims);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> x(static_cast<std::size_t>(dims));
    const double along = unit(random);
    double square_norm = 0;
    for (std::size_t c = 0; c < x.size(); ++c) {
      const auto axis = static_cast<double>(c);
      x[c] = unit(random);
      if (data == Data::clusters)
        x[c] = static_cast<double>((r % 9 * static_cast<std::int64_t>(c + 3)) % 7) + 0.05 * normal(random);
      if (data == Data::lattice) x[c] = std::floor(4 * x[c]);
      if (data == Data::line) x[c] = along * (axis + 1) + 1e-4 * x[c];
      if (data == Data::outlier && r == 0) x[c] = 1e12;
      if (data == Data::shells) x[c] = normal(random);
      square_norm += x[c] * x[c];
    }
    const double scale = std::is_integral_v<T> ? 30 : 1;  // of bytes
    for (std::size_t c = 0; c < x.size(); ++c) {
      if (data == Data::shells) x[c] = center(r / 20, c) + 0.02 * x[c] / std::sqrt(square_norm);
      points(r, static_cast<std::int64_t>(c)) = static_cast<T>(
          std::clamp(scale * x[c], std::is_integral_v<T> ? 0 : -1e30, std::is_integral_v<T> ? 255 : 1e30));
    }
  }
  return points;
}

// Queries among the points, copies of them, in the middle of shells, and far outside the points' box.
template <Element T>
Matrix<T> queries_of(Data data, const Matrix<T>& base, std::int64_t rows, unsigned seed) {
  Matrix<T> queries = points_of<T>(data, rows, base.cols(), seed);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < base.cols(); ++c) {
      if (r % 4 == 1) queries(r, c) = base(r % base.rows(), c);
      if (r % 4 == 2 && data == Data::shells)
        queries(r, c) = static_cast<T>(center(r / 4, static_cast<std::size_t>(c)));
      if (r % 4 == 3 && !std::is_integral_v<T>) queries(r, c) = static_cast<T>(5 * queries(r, c) - 2);
    }
  return queries;
}

class Certified : public OnBackend {
 protected:
  static Options options() {
    Options asked = OnBackend::options();
    asked.method = Method::shifted_sort;
    asked.shifted_sort.certify = true;
    return asked;
  }
  static bool is_slow() { return GetParam() == Backend::emulated; }
};

Options brute_force(const Options& of) {
  Options exact;
  exact.backend = Backend::cpu;
  exact.method = Method::brute;
  exact.metric = of.metric;
  return exact;
}

// Returns how many are certified. Rows that are must be right.
template <class D>
std::int64_t expect_right(const Neighbors<D>& found, const Neighbors<D>& right) {
  EXPECT_EQ(static_cast<std::int64_t>(found.certified.size()), found.queries);
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const std::uint8_t flag = found.certified[static_cast<std::size_t>(q)];
    EXPECT_LE(flag, 1);
    if (flag == 0) continue;
    EXPECT_TRUE(std::ranges::equal(found.ids_of(q), right.ids_of(q))) << "query " << q;
    EXPECT_TRUE(std::ranges::equal(found.distances_of(q), right.distances_of(q))) << "query " << q;
  }
  const std::int64_t count = std::count(found.certified.begin(), found.certified.end(), 1);
  EXPECT_EQ(found.report.certified, count);
  return count;
}

// All data in so many dimensions with these options; returns how many of how many queries are certified.
template <Element T>
std::int64_t expect_all_right(const Options& with, std::int64_t dims, std::int64_t k, std::int64_t rows,
                              std::int64_t queries, bool compare) {
  std::int64_t certified = 0;
  for (const Data data : kData) {
    SCOPED_TRACE(testing::Message() << dims << " dimensions, data " << static_cast<int>(data) << ", k = " << k
                                    << ", window " << with.shifted_sort.window << ", "
                                    << to_string(with.shifted_sort.curve) << ", " << to_string(with.metric));
    const Matrix<T> base = points_of<T>(data, rows, dims, static_cast<unsigned>(dims));
    const Matrix<T> asked = queries_of<T>(data, base, queries, 100);
    const auto found = search(base.view(), asked.view(), k, with);
    certified += expect_right(found, search(base.view(), asked.view(), k, brute_force(with)));
    if (!compare) continue;
    Options there = with;
    there.backend = Backend::cpu;
    const auto also = search(base.view(), asked.view(), k, there);
    EXPECT_TRUE(same_answer(found, also));
    EXPECT_EQ(found.certified, also.certified);
  }
  return certified;
}

TEST_P(Certified, RowsAreThoseOfBruteForce) {
  const MetricKind kinds[] = {MetricKind::euclidean, MetricKind::sqeuclidean, MetricKind::manhattan,
                              MetricKind::chebyshev};
  const std::int64_t rows = is_slow() ? 150 : 700;
  const std::int64_t queries = is_slow() ? 12 : 60;
  std::size_t round = 0;
  for (const Curve curve : {Curve::morton, Curve::hilbert})
    for (std::int64_t dims = 1; dims <= 16; ++dims) {
      std::int64_t certified = 0;
      // The last window has all points: then only ties that single precision cannot tell are in doubt.
      for (const std::int64_t window : {std::int64_t{0}, std::int64_t{40}, rows}) {
        Options with = options();
        with.metric = kinds[round % 4];
        with.shifted_sort.curve = curve;
        with.shifted_sort.window = window;
        with.shifted_sort.shifts = round % 3 == 0 ? 5 : round % 3 == 1 ? 1 : 9;
        const std::int64_t k = round % 2 == 0 ? 4 : 17;
        certified += expect_all_right<float>(with, dims, k, rows, queries, !is_cpu());
        if (dims % 4 == 1) certified += expect_all_right<double>(with, dims, k, rows, queries, !is_cpu());
        if (dims % 4 == 2) certified += expect_all_right<std::uint8_t>(with, dims, k, rows, queries, !is_cpu());
        ++round;
      }
      EXPECT_GT(certified, 0) << dims << " dimensions, " << to_string(curve);
    }
}

// Rows may be wrong by the rounding of sums alone, in whichever order's window the right point is.
TEST_P(Certified, DistancesThatWorkingPrecisionHardlyTells) {
  const std::int64_t shells = is_slow() ? 20 : 400;
  const Matrix<float> base = points_of<float>(Data::shells, 20 * shells, 3, 9);
  Matrix<float> asked(shells, 3);
  for (std::int64_t r = 0; r < shells; ++r)
    for (std::int64_t c = 0; c < 3; ++c) asked(r, c) = static_cast<float>(center(r, static_cast<std::size_t>(c)));
  std::int64_t certified = 0;
  for (const Curve curve : {Curve::morton, Curve::hilbert})
    for (const std::int64_t window : {24, 40, 64}) {
      Options with = options();
      with.shifted_sort.curve = curve;
      with.shifted_sort.window = window;
      certified += expect_right(search(base.view(), asked.view(), 10, with),
                                search(base.view(), asked.view(), 10, brute_force(with)));
    }
  EXPECT_GT(certified, 0);
}

TEST_P(Certified, EveryMergeAndEveryWayToFindPositions) {
  if (is_cpu()) GTEST_SKIP() << "a CPU has one";
  for (const std::int64_t dims : {2, 3, 6, 9}) {
    Options with = options();
    with.shifted_sort.positions = CurvePositions::sort;
    expect_all_right<float>(with, dims, 5, 120, 12, false);
    with.shifted_sort.merge = CurveMerge::global_memory;
    with.shifted_sort.window = 5;
    expect_all_right<float>(with, dims, 5, 120, 12, false);
    with.shifted_sort.positions = CurvePositions::search;
    // k on either side is a quarter of the points.
    EXPECT_GT(expect_all_right<double>(with, dims, 30, 120, 12, false), 0);
  }
}

TEST_P(Certified, WindowsOfAllPointsProveEverything) {
  const Matrix<double> base = points_of<double>(Data::uniform, 80, 3, 1);
  const Matrix<double> asked = queries_of(Data::uniform, base, 10, 2);
  Options with = options();
  with.shifted_sort.shifts = 1;
  EXPECT_EQ(search(base.view(), asked.view(), 80, with).report.certified, 10);
  with.shifted_sort.window = 80;
  EXPECT_EQ(search(base.view(), asked.view(), 7, with).report.certified, 10);
}

TEST_P(Certified, PointsAreNotTheirOwnNeighbors) {
  for (const Data data : {Data::uniform, Data::lattice}) {
    const Matrix<float> base = points_of<float>(data, is_slow() ? 200 : 2000, 3, 3);
    Options with = options();
    with.shifted_sort.window = 60;
    const auto found = Index<float>(base.view(), with).search_self(6);
    const auto right = Index<float>(base.view(), brute_force(with)).search_self(6);
    EXPECT_GT(expect_right(found, right), data == Data::uniform ? base.rows() / 10 : 0);
  }
}

TEST_P(Certified, AGoodShareOfUniformPoints) {
  const std::int64_t rows = is_slow() ? 3000 : 50000;
  const std::int64_t queries = is_slow() ? 100 : 2000;
  const Matrix<float> base = points_of<float>(Data::uniform, rows, 3, 4);
  const Matrix<float> asked = points_of<float>(Data::uniform, queries, 3, 5);
  for (const Curve curve : {Curve::morton, Curve::hilbert})
    for (const std::int64_t window : {64, 160}) {
      Options with = options();
      with.shifted_sort.curve = curve;
      with.shifted_sort.window = window;
      const auto found = search(base.view(), asked.view(), 10, with);
      const double share = static_cast<double>(found.report.certified.value_or(0)) / static_cast<double>(queries);
      std::printf("  %s, window %lld: %.3f certified\n", to_string(curve), static_cast<long long>(window), share);
      EXPECT_GT(share, window == 64 ? 0.5 : 0.85) << to_string(curve) << ", window " << window;
    }
}

TEST_P(Certified, FlagsGoWhereTheAnswerGoes) {
  const Matrix<float> base = points_of<float>(Data::uniform, 300, 3, 6);
  const Matrix<float> asked = points_of<float>(Data::uniform, 20, 3, 7);
  Options with = options();
  with.shifted_sort.window = 60;
  const Index<float> index(base.view(), with);
  const auto right = index.search(asked.view(), 4);
  std::vector<std::int64_t> ids(80);
  std::vector<float> distances(80);
  std::vector<std::uint8_t> certified(20, 7);
  const SearchReport report =
      index.search_into(asked.view(), 4, {ids.data(), distances.data(), Memory::host, certified.data()});
  EXPECT_EQ(certified, right.certified);
  EXPECT_EQ(ids, right.ids);
  EXPECT_EQ(report.certified, right.report.certified);
  EXPECT_GT(report.certified, 0);
  EXPECT_NE(to_string(report.plan).find("certified"), std::string::npos);
  if (is_cpu()) return;
  Placed<std::int64_t> device_ids(ids, Memory::device, GetParam());
  Placed<float> device_distances(distances, Memory::device, GetParam());
  Placed<std::uint8_t> flags(std::vector<std::uint8_t>(20, 7), Memory::device, GetParam());
  const SearchReport enqueued =
      index.search_into(asked.view(), 4, {device_ids.data(), device_distances.data(), Memory::device, flags.data()});
  EXPECT_EQ(flags.values(), right.certified);
  EXPECT_FALSE(enqueued.certified);  // nobody waited for them
}

TEST_P(Certified, OnlyWhereItIsAskedFor) {
  const Matrix<float> base = points_of<float>(Data::uniform, 50, 3, 8);
  Options plain = options();
  plain.shifted_sort.certify = false;
  EXPECT_TRUE(search(base.view(), base.view(), 2, plain).certified.empty());
  EXPECT_FALSE(search(base.view(), base.view(), 2, plain).report.certified);
  Options exact = options();
  exact.method = Method::automatic;
  EXPECT_TRUE(search(base.view(), base.view(), 2, exact).certified.empty());
  std::vector<std::int64_t> ids(100);
  std::vector<float> distances(100);
  std::vector<std::uint8_t> flags(50);
  const auto refused = [&](const Options& with, std::uint8_t* certified, const std::string& says) {
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {says}, [&] {
      search_into(base.view(), base.view(), 2, {ids.data(), distances.data(), Memory::host, certified}, with);
    }));
  };
  refused(plain, flags.data(), "without shifted_sort.certify");
  refused(exact, flags.data(), "method auto");
  refused(options(), nullptr, "null pointer");
  const Index<float> index(base.view(), options());
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"graphs"}, [&] { index.graph(2); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"reductions"},
                         [&] { index.reduce(base.view(), 2, {}, ReduceOp::kth_distance); }));
}

INSTANTIATE_TEST_SUITE_P(Backends, Certified, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

}  // namespace
}  // namespace kith::test
