// The engine: which neighbors are returned, whatever the metric, the layout of the points and the sizes of the work.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "kith/custom_metric.hpp"
#include "kith/index.hpp"
#include "points.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

struct Manhattan {
  double combine(double x, double y) const { return std::abs(x - y); }
};

// Not symmetric, and negative for some.
struct Directed {
  double combine(double x, double y) const { return (x - y) * (x > y ? 2 : 1); }
};

struct NanForSome {
  double combine(double x, double y) const { return y > 0.5 ? std::nan("") : std::abs(x - y); }
};

template <class D>
void expect_same(const Neighbors<D>& a, const Neighbors<D>& b) {
  EXPECT_EQ(a.ids, b.ids);
  ASSERT_EQ(a.distances.size(), b.distances.size());
  for (std::size_t i = 0; i < a.distances.size(); ++i)
    EXPECT_EQ(core::ordered_bits(a.distances[i]), core::ordered_bits(b.distances[i]));
}

template <Element T, class M>
void expect_right(const M& metric, const Matrix<T>& base, const Matrix<T>& queries, std::int64_t k,
                  const Options& options = {}) {
  const auto all = distances_by(metric, base.view(), queries.view());
  const auto found = search_by(metric, base.view(), queries.view(), k, options);
  ASSERT_EQ(found.queries, queries.rows());
  ASSERT_EQ(found.k, k);
  for (std::int64_t q = 0; q < queries.rows(); ++q) {
    const auto order = ordered(all.row(q), base.rows());
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t id = order[static_cast<std::size_t>(i)];
      ASSERT_EQ(found.ids_of(q)[static_cast<std::size_t>(i)], id) << "query " << q << " rank " << i;
      EXPECT_EQ(core::ordered_bits(found.distances_of(q)[static_cast<std::size_t>(i)]), core::ordered_bits(all(q, id)));
    }
  }
}

template <class T>
class PairSearch : public testing::Test {};
using Types = testing::Types<float, double, std::uint8_t, std::int8_t, Float16, BFloat16>;
TYPED_TEST_SUITE(PairSearch, Types);

TYPED_TEST(PairSearch, FindsTheNearestOfAnyShape) {
  using T = TypeParam;
  for (const std::int64_t rows : {1, 2, 15, 16, 17, 300, 1000})
    for (const std::int64_t queries : {1, 3, 4, 5, 70}) {
      const std::int64_t dims = 1 + (rows * 7 + queries) % 40;
      const Matrix<T> base = random_points<T>(rows, dims, 1, -1, 1);
      const Matrix<T> asked = random_points<T>(queries, dims, 2, -1, 1);
      for (const std::int64_t k : {std::int64_t{1}, std::min<std::int64_t>(rows, 10), rows})
        expect_right(Manhattan{}, base, asked, k);
    }
}

TYPED_TEST(PairSearch, OrdersTiesById) {
  using T = TypeParam;
  // Few distinct rows, so that most distances occur many times.
  Matrix<T> base(500, 3);
  Random random(4);
  for (std::int64_t i = 0; i < 1500; ++i) base.data()[i] = static_cast<T>(static_cast<float>(random.below(2)));
  expect_right(Manhattan{}, base, base, 20);
  expect_right(Manhattan{}, base, base, 500);
}

TEST(PairSearch, IsTheBuiltInMetricWhereThatHasTheSameValues) {
  // Whole numbers, whose sums are exact in any order.
  Matrix<float> base(400, 7);
  Random random(9);
  for (std::int64_t i = 0; i < 2800; ++i) base.data()[i] = static_cast<float>(random.below(50));
  Options options;
  options.metric = MetricKind::manhattan;
  options.backend = Backend::cpu;
  expect_same(search_by(Manhattan{}, base.view(), base.view(), 9), search(base.view(), base.view(), 9, options));
  expect_same(search_self_by(Manhattan{}, base.view(), 9), Index<float>(base.view(), options).search_self(9));
}

TEST(PairSearch, TakesDistancesOfAnySign) {
  const Matrix<double> base = random_points<double>(200, 5, 1, -1, 1);
  const Matrix<double> queries = random_points<double>(20, 5, 2, -1, 1);
  expect_right(Directed{}, base, queries, 30);
  expect_right([](std::span<const double> x, std::span<const double> y) { return x[0] > 0 ? -y[1] : y[2]; }, base,
               queries, 200);
}

TEST(PairSearch, RanksNanLast) {
  const Matrix<float> base = random_points<float>(300, 1, 1, 0, 1);
  const Matrix<float> queries = random_points<float>(9, 1, 2, 0, 1);
  expect_right(NanForSome{}, base, queries, 20);
  expect_right(NanForSome{}, base, queries, 300);
  const auto never = [](std::span<const float>, std::span<const float>) { return std::nan(""); };
  const auto found = search_by(never, base.view(), queries.view(), 3);
  EXPECT_EQ(found.ids[0], 0);
  EXPECT_EQ(found.ids[2], 2);
  EXPECT_TRUE(std::isnan(found.distances[0]));
  const float radius[] = {std::numeric_limits<float>::infinity()};
  EXPECT_EQ(search_radius_by(never, base.view(), queries.view(), std::span<const float>(radius)).ids.size(), 0U);
}

TEST(PairSearch, RoundsOnce) {
  // Distances that differ in double and not in float tie.
  const auto metric = [](std::span<const float>, std::span<const float> y) { return 1 + 1e-12 * y[0]; };
  const Matrix<float> base(3, 1, {3, 2, 1});
  EXPECT_EQ(search_by(metric, base.view(), base.view(), 3).ids_of(0)[0], 0);
  const auto large = [](std::span<const float>, std::span<const float> y) { return 1e300 * y[0]; };
  const auto found = search_by(large, base.view(), base.view(), 3);
  EXPECT_EQ(found.ids_of(0)[0], 0);
  EXPECT_TRUE(std::isinf(found.distances[0]));
}

TEST(PairSearch, HasTheSameBitsForAnyThreadsBudgetAndBatch) {
  const Matrix<double> base = random_points<double>(3000, 13, 1, -1, 1);
  const Matrix<double> queries = random_points<double>(61, 13, 2, -1, 1);
  Options options;
  options.threads = 1;
  const auto wanted = search_by(Directed{}, base.view(), queries.view(), 12, options);
  for (const int threads : {2, 3, 4}) {
    options.threads = threads;
    expect_same(search_by(Directed{}, base.view(), queries.view(), 12, options), wanted);
    expect_same(search_by(Directed{}, base.view(), queries.view().rows_from(5, 1), 12, options),
                search_by(Directed{}, base.view(), queries.view().rows_from(5, 1), 12, {}));
  }
  for (const std::int64_t budget : {60000, 200000, 1000000}) {
    options.memory_budget = budget;
    const auto found = search_by(Directed{}, base.view(), queries.view(), 12, options);
    expect_same(found, wanted);
    EXPECT_LE(found.report.plan.workspace_bytes, budget);
  }
  options.memory_budget = 1000;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"1000 bytes is too small", "at least"},
                         [&] { search_by(Directed{}, base.view(), queries.view(), 12, options); }));
  for (std::int64_t q = 0; q < queries.rows(); ++q) {
    const auto one = search_by(Directed{}, base.view(), queries.view().rows_from(q, 1), 12);
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_EQ(one.ids[i], wanted.ids_of(q)[i]);
      EXPECT_EQ(one.distances[i], wanted.distances_of(q)[i]);
    }
  }
}

TEST(PairSearch, ReadsAnyStrides) {
  const Matrix<float> base = random_points<float>(90, 6, 1, -1, 1);
  std::vector<float> columns(540);
  std::vector<float> spread(90 * 20);
  for (std::int64_t r = 0; r < 90; ++r)
    for (std::int64_t c = 0; c < 6; ++c) {
      columns[static_cast<std::size_t>(c * 90 + r)] = base(r, c);
      spread[static_cast<std::size_t>(r * 20 + 3 * c)] = base(r, c);
    }
  const auto column_major = MatrixView<float>::column_major(columns.data(), 90, 6);
  const MatrixView<float> strided(spread.data(), 90, 6, 20, 3);
  const auto rows = [](std::span<const float> x, std::span<const float> y) { return std::abs(x[5] - y[0]); };
  const PairFunction function = [](const double* x, const double* y, std::int64_t dims, void*) {
    return std::abs(x[dims - 1] - y[0]);
  };
  for (const auto& view : {column_major, strided}) {
    expect_same(search_by(Manhattan{}, view, view, 5), search_by(Manhattan{}, base.view(), base.view(), 5));
    expect_same(search_by(rows, view, view, 5), search_by(rows, base.view(), base.view(), 5));
    expect_same(search_by(function, view, view, 5), search_by(function, base.view(), base.view(), 5));
  }
}

TEST(PairSearch, LeavesPointsOutOfTheirOwnNeighbors) {
  Matrix<double> base = random_points<double>(150, 4, 1, -1, 1);
  for (std::int64_t c = 0; c < 4; ++c) base(7, c) = base(140, c);  // copies stay neighbors of each other
  const auto all = distances_by(Directed{}, base.view(), base.view());
  for (const int threads : {1, 3}) {
    Options options;
    options.threads = threads;
    for (const std::int64_t k : {1, 20, 149}) {
      const auto found = search_self_by(Directed{}, base.view(), k, options);
      for (std::int64_t q = 0; q < base.rows(); ++q) {
        const auto order = ordered(all.row(q), base.rows(), q);
        for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) ASSERT_EQ(found.ids_of(q)[i], order[i]);
      }
    }
  }
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 150", "other points is 149"},
                         [&] { search_self_by(Directed{}, base.view(), 150); }));
}

TEST(PairSearch, FindsAllWithinARadius) {
  const Matrix<float> base = random_points<float>(700, 3, 1, -1, 1);
  const Matrix<float> queries = random_points<float>(33, 3, 2, -1, 1);
  const auto all = distances_by(Manhattan{}, base.view(), queries.view());
  std::vector<float> radii;
  for (int q = 0; q < 33; ++q) radii.push_back(0.05F * static_cast<float>(q - 1));
  const CustomIndex<float, Manhattan> index({}, base.view());
  for (const int threads : {1, 4}) {
    Options options;
    options.threads = threads;
    const auto found = search_radius_by(Manhattan{}, base.view(), queries.view(), std::span<const float>(radii),
                                        RadiusOutput::neighbors, options);
    const auto counted = search_radius_by(Manhattan{}, base.view(), queries.view(), std::span<const float>(radii),
                                          RadiusOutput::count_only, options);
    EXPECT_EQ(counted.offsets, found.offsets);
    EXPECT_TRUE(counted.ids.empty());
    EXPECT_EQ(index.search_radius(queries.view(), radii).ids, found.ids);
    EXPECT_EQ(found.count_of(0), 0);
    for (std::int64_t q = 0; q < queries.rows(); ++q) {
      std::vector<std::int64_t> wanted = ordered(all.row(q), base.rows());
      std::erase_if(wanted, [&](std::int64_t id) { return !(all(q, id) <= radii[static_cast<std::size_t>(q)]); });
      ASSERT_EQ(std::vector<std::int64_t>(found.ids_of(q).begin(), found.ids_of(q).end()), wanted);
    }
  }
  const float one[] = {0.5F};
  const auto self = index.search_radius_self(one);
  const auto others = index.search_radius(base.view(), one);
  EXPECT_EQ(self.ids.size() + 700, others.ids.size());
  const float bad[] = {std::nanf("")};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"radius = nan"}, [&] { index.search_radius_self(bad); }));
  const float two[] = {1, 2};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"2 radii for 33 queries"},
                         [&] { index.search_radius(queries.view(), two); }));
}

TEST(PairSearch, KeepsAnIndexInPanelsOrNot) {
  const Matrix<float> base = random_points<float>(1000, 9, 1, -1, 1);
  const Matrix<float> queries = random_points<float>(21, 9, 2, -1, 1);
  const auto metric = pair_metric<float>(Directed{});
  const auto wanted = search_by(metric, base.view(), queries.view(), 8);
  Options small;
  small.memory_budget = 60000;  // less than the panels
  for (const Options& options : {Options{}, small}) {
    PairIndex<float> index(metric, base.view(), options);
    expect_same(index.search(queries.view(), 8), wanted);
    PairIndex<float> moved = std::move(index);
    expect_same(moved.search(queries.view(), 8), wanted);
    EXPECT_EQ(moved.rows(), 1000);
    EXPECT_EQ(moved.dims(), 9);
    EXPECT_EQ(&moved.metric(), metric.get());
  }
}

TEST(PairSearch, LeavesOutAndPads) {
  const Matrix<float> base = random_points<float>(40, 2, 1, -1, 1);
  Options options;
  options.max_distance = 0.3;
  const auto near = search_by(Manhattan{}, base.view(), base.view(), 40, options);
  const auto all = search_by(Manhattan{}, base.view(), base.view(), 40);
  std::int64_t left_out = 0;
  for (std::size_t i = 0; i < all.ids.size(); ++i) {
    const bool stays = static_cast<double>(all.distances[i]) <= 0.3;
    left_out += stays ? 0 : 1;
    EXPECT_EQ(near.ids[i], stays ? all.ids[i] : -1);
    EXPECT_EQ(near.distances[i], stays ? all.distances[i] : std::numeric_limits<float>::infinity());
  }
  EXPECT_GT(left_out, 0);
  options = {};
  options.pad_missing = true;
  const auto padded = search_by(Manhattan{}, base.view(), base.view(), 43, options);
  EXPECT_EQ(padded.k, 43);
  EXPECT_EQ(padded.ids_of(3)[39], all.ids_of(3)[39]);
  EXPECT_EQ(padded.ids_of(3)[40], -1);
  EXPECT_TRUE(std::isinf(padded.distances_of(3)[42]));
  const auto self = search_self_by(Manhattan{}, base.view(), 41, options);
  EXPECT_EQ(self.ids_of(3)[39], -1);
  EXPECT_NE(self.ids_of(3)[38], -1);
}

TEST(PairSearch, ReportsProgressAndStops) {
  const Matrix<float> base = random_points<float>(3000, 4, 1, -1, 1);
  Options options;
  options.threads = 1;
  std::int64_t last = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.done, last);
    EXPECT_EQ(progress.total, 9000000);
    last = progress.done;
    return true;
  };
  const auto found = search_by(Manhattan{}, base.view(), base.view(), 2, options);
  EXPECT_EQ(last, 9000000);
  EXPECT_EQ(found.report.finalists, 9000000);
  EXPECT_NE(found.report.plan.reason.find("by its definition"), std::string::npos);
  options.progress = [](const Progress&) { return false; };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled"},
                         [&] { search_by(Manhattan{}, base.view(), base.view(), 2, options); }));
}

TEST(PairSearch, LetsExceptionsOfTheMetricThrough) {
  const Matrix<float> base = random_points<float>(100, 4, 1, -1, 1);
  const auto throws = [](std::span<const float>, std::span<const float>) -> double {
    throw std::runtime_error("no distance");
  };
  for (const int threads : {1, 3}) {
    Options options;
    options.threads = threads;
    EXPECT_THROW(search_by(throws, base.view(), base.view(), 2, options), std::runtime_error);
  }
}

TEST(PairSearch, RefusesWhatItCannotDo) {
  const Matrix<float> base = random_points<float>(10, 4, 1, -1, 1);
  const auto refuses = [&](const std::vector<std::string>& mentions, auto change) {
    Options options;
    change(options);
    return fails_with(ErrorCode::invalid_argument, mentions,
                      [&] { search_by(Manhattan{}, base.view(), base.view(), 2, options); });
  };
  EXPECT_TRUE(refuses({"on the CPU", "backend cuda"}, [](Options& o) { o.backend = Backend::cuda; }));
  EXPECT_TRUE(refuses({"on the CPU", "backend emulated"}, [](Options& o) { o.backend = Backend::emulated; }));
  EXPECT_TRUE(refuses({"brute force", "method tree"}, [](Options& o) { o.method = Method::tree; }));
  EXPECT_TRUE(refuses({"distance stage gemm"}, [](Options& o) { o.distance = DistanceStage::gemm; }));
  EXPECT_TRUE(refuses({"radix-select"}, [](Options& o) { o.select = SelectMethod::radix_select; }));
  EXPECT_TRUE(refuses({"options.metric = cosine"}, [](Options& o) { o.metric = MetricKind::cosine; }));
  EXPECT_TRUE(refuses({"epsilon = 0.5"}, [](Options& o) { o.epsilon = 0.5; }));
  EXPECT_TRUE(refuses({"periodic"}, [](Options& o) { o.period = {1, 1, 1, 1}; }));
  EXPECT_TRUE(refuses({"statistics"}, [](Options& o) { o.statistics = true; }));
  EXPECT_TRUE(refuses({"threads = -1"}, [](Options& o) { o.threads = -1; }));
  EXPECT_TRUE(refuses({"max_distance = -2"}, [](Options& o) { o.max_distance = -2; }));
  const auto fails = [&](ErrorCode code, const std::vector<std::string>& mentions, MatrixView<float> queries,
                         std::int64_t k) {
    return fails_with(code, mentions, [&] { search_by(Manhattan{}, base.view(), queries, k); });
  };
  EXPECT_TRUE(fails(ErrorCode::invalid_argument, {"k = 0"}, base.view(), 0));
  EXPECT_TRUE(fails(ErrorCode::invalid_argument, {"k = 11", "10"}, base.view(), 11));
  EXPECT_TRUE(
      fails(ErrorCode::invalid_argument, {"base has 4 dimensions", "queries have 3"}, {base.data(), 10, 3, 4, 1}, 1));
  EXPECT_TRUE(fails(ErrorCode::invalid_argument, {"queries is 0 × 4"}, {base.data(), 0, 4}, 1));
  EXPECT_TRUE(fails(ErrorCode::invalid_argument, {"null pointer"}, {nullptr, 1, 4}, 1));
  EXPECT_TRUE(fails(ErrorCode::invalid_argument, {"queries lie on a device"},
                    MatrixView<float>::on_device(base.data(), 10, 4), 1));
  Matrix<float> bad = base;
  bad(4, 2) = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(fails(ErrorCode::bad_data, {"queries row 4, column 2 is inf"}, bad.view(), 1));
  Options unchecked;
  unchecked.check_finite = false;
  EXPECT_NO_THROW(search_by(Manhattan{}, bad.view(), bad.view(), 10, unchecked));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"null pointer"},
                         [&] { search_by(std::shared_ptr<const PairMetric>(), base.view(), base.view(), 1); }));
}

}  // namespace
}  // namespace kith::test
