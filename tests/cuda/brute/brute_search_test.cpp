// Search of points on the device gives the answer of a plain oracle for all metrics, stages, strides and streams.
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/key.hpp"
#include "device_index.hpp"
#include "kith/error.hpp"
#include "plan/device_plans.hpp"
#include "support/pairwise.hpp"

namespace kith::test {
namespace {

using device::DeviceBuffer;
using device::Stream;

using DeviceBruteSearch = DeviceTest;

// Rows with gaps between them that must not be read, and one value before the first, so that it is aligned to its own
// size only.
template <class T>
struct Cloud {
  std::int64_t rows = 0, dims = 0, stride = 0;
  std::vector<T> values;

  T& at(std::int64_t row, std::int64_t c) { return values[static_cast<std::size_t>(1 + row * stride + c)]; }
  const T* row(std::int64_t i) const { return values.data() + 1 + i * stride; }
};

enum class Kind {
  gaussian,
  ties,   // small integers: many distances are shared
  tight,  // neighbors closer than products can tell apart, far from the origin
};
constexpr Kind kKinds[] = {Kind::gaussian, Kind::ties, Kind::tight};

template <class T>
Cloud<T> cloud(Kind kind, std::int64_t rows, std::int64_t dims, std::int64_t gap, unsigned seed) {
  Cloud<T> made{rows, dims, dims + gap, {}};
  made.values.assign(static_cast<std::size_t>(1 + rows * made.stride), std::numeric_limits<T>::quiet_NaN());
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t c = 0; c < dims; ++c) {
      double value = normal(random);
      if (kind == Kind::ties) value = std::round(value) + 3;
      if (kind == Kind::tight) value = 100.0 * static_cast<double>(c % 5 - 1) + 1e-3 * value;
      made.at(i, c) = static_cast<T>(value);
    }
    // No row is zero or constant.
    if (kind == Kind::ties && dims > 1) made.at(i, i % dims) = 9;
  }
  return made;
}

// A distance in double by its definition, added in the order of core/key.hpp. Means are subtracted under correlation.
double plain_distance(const Metric& metric, const std::vector<double>& x, const std::vector<double>& y) {
  const auto sum = [&](auto term) {
    double lanes[8] = {};
    for (std::size_t c = 0; c < x.size(); ++c) lanes[c % 8] += term(x[c], y[c]);
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  };
  const auto square = [](double a, double b) { return (a - b) * (a - b); };
  const auto product = [](double a, double b) { return a * b; };
  switch (metric.kind) {
    case MetricKind::sqeuclidean: return sum(square);
    case MetricKind::euclidean: return std::sqrt(sum(square));
    case MetricKind::manhattan: return sum([](double a, double b) { return std::abs(a - b); });
    case MetricKind::chebyshev: {
      double largest = 0;
      for (std::size_t c = 0; c < x.size(); ++c) largest = std::max(largest, std::abs(x[c] - y[c]));
      return largest;
    }
    case MetricKind::minkowski:
      return std::pow(sum([&](double a, double b) { return std::pow(std::abs(a - b), metric.p); }), 1 / metric.p);
    case MetricKind::hamming:
      return sum([](double a, double b) { return a != b ? 1.0 : 0.0; }) / static_cast<double>(x.size());
    case MetricKind::canberra:
      return sum([](double a, double b) { return a == b ? 0.0 : std::abs(a - b) / (std::abs(a) + std::abs(b)); });
    case MetricKind::inner_product: return sum(product);
    case MetricKind::cosine:
    case MetricKind::correlation: {
      const double xx = sum([](double a, double) { return a * a; });
      const double yy = sum([](double, double b) { return b * b; });
      return std::clamp(1 - sum(product) / std::sqrt(xx * yy), 0.0, 2.0);
    }
  }
  return 0;
}

template <class T>
std::vector<double> prepared(const Metric& metric, const Cloud<T>& points, std::int64_t i) {
  const T* row = points.row(i);
  std::vector<double> x(row, row + points.dims);
  if (metric.kind != MetricKind::correlation) return x;
  const double mean = core::striped_sum(points.dims, [&](std::int64_t c) { return static_cast<double>(row[c]); }) /
                      static_cast<double>(points.dims);
  for (double& value : x) value -= mean;
  return x;
}

template <class T>
struct Found {
  T distance;
  std::int64_t id;
};

// All base points in the order of the answer to query q.
template <class T>
std::vector<Found<T>> in_order(const Metric& metric, const Cloud<T>& base, const Cloud<T>& queries, std::int64_t q) {
  const std::vector<double> x = prepared(metric, queries, q);
  std::vector<Found<T>> all;
  for (std::int64_t i = 0; i < base.rows; ++i)
    all.push_back({static_cast<T>(plain_distance(metric, x, prepared(metric, base, i))), i});
  const bool largest = metric.kind == MetricKind::inner_product;
  std::stable_sort(all.begin(), all.end(), [&](const Found<T>& a, const Found<T>& b) {
    return largest ? a.distance > b.distance : a.distance < b.distance;
  });
  return all;
}

struct Wanted {
  Metric metric;
  std::int64_t k = 1;
  Plan::Pass first{DistanceStage::direct};
  std::int64_t query_block = 1 << 20;
  std::int64_t base_tile = 1 << 20;
  bool tries_passes = false;
};

bool is_square(const Metric& metric) {
  return core::form_of(metric) == core::Form::squared;
}

bool is_product(const Metric& metric) {
  return core::form_of(metric) == core::Form::dot;
}

template <class T>
Plan plan_for(const Wanted& wanted, std::int64_t base_rows, std::int64_t queries, std::int64_t dims) {
  Plan plan;
  plan.problem = {base_rows, queries, dims, wanted.k, dtype_of<T>()};
  plan.metric = wanted.metric;
  plan.method = wanted.first.fused ? Method::fused : Method::two_stage;
  plan.distance = wanted.first.distance;
  plan.expanded = is_square(wanted.metric) && wanted.first.expanded;
  plan.passes = plan::fallback_chain(plan);
  plan.tries_passes = wanted.tries_passes;
  plan.candidates = std::min(base_rows, wanted.k + std::max<std::int64_t>(6, wanted.k / 4));
  plan.query_block = std::min(queries, wanted.query_block);
  plan.base_tile = std::min(base_rows, wanted.base_tile);
  return plan;
}

// Points on the device, and an index of them whose answers are checked.
template <class T>
class Searched {
 public:
  Searched(const Cloud<T>& base, const Metric& metric, bool check_finite = true)
      : base_(base),
        metric_(metric),
        points_(base.values, stream_),
        index_(view(base, points_.data()), metric, stream_, {check_finite}) {}

  // Copies the queries in the stream's order, without waiting.
  SearchReport search(const Cloud<T>& queries, const Wanted& wanted, cudaStream_t stream) const {
    DeviceArray<T> there(queries.values, stream);
    DeviceArray<T> copied(std::vector<T>(queries.values.size()), stream);
    KITH_CUDA(cudaMemcpyAsync(copied.data(), there.data(), queries.values.size() * sizeof(T), cudaMemcpyDeviceToDevice,
                              stream));
    return run(view(queries, copied.data()), queries, wanted, stream);
  }
  SearchReport search_self(const Wanted& wanted) { return run(view(base_, points_.data()), base_, wanted, stream_); }

 private:
  static MatrixView<T> view(const Cloud<T>& points, const T* data) {
    return MatrixView<T>::on_device(data + 1, points.rows, points.dims, points.stride);
  }

  SearchReport run(const MatrixView<T>& queries, const Cloud<T>& same, const Wanted& wanted,
                   cudaStream_t stream) const {
    const auto count = static_cast<std::size_t>(queries.rows * wanted.k);
    const std::vector<T> no_distances(count, T{-2});
    const std::vector<std::int64_t> no_ids(count, -2);
    DeviceArray<T> distances(no_distances, stream);
    DeviceArray<std::int64_t> ids(no_ids, stream);
    SearchReport report;
    try {
      index_.begin(queries, stream)
          ->search(plan_for<T>(wanted, base_.rows, queries.rows, queries.cols),
                   {ids.data(), distances.data(), Memory::device}, report);
    } catch (const Error&) {
      EXPECT_EQ(distances.values(), no_distances);
      EXPECT_EQ(ids.values(), no_ids);
      throw;
    }
    expect_right(same, wanted, distances.values(), ids.values());
    return report;
  }

  // Powers may be rounded differently on the device.
  void expect_right(const Cloud<T>& queries, const Wanted& wanted, const std::vector<T>& distances,
                    const std::vector<std::int64_t>& ids) const {
    const double relative = metric_.kind == MetricKind::minkowski ? 1e-6 : 0;
    for (std::int64_t q = 0; q < queries.rows; ++q) {
      const std::vector<Found<T>> truth = in_order(metric_, base_, queries, q);
      for (std::int64_t i = 0; i < wanted.k; ++i) {
        const auto at = static_cast<std::size_t>(q * wanted.k + i);
        const Found<T>& right = truth[static_cast<std::size_t>(i)];
        ASSERT_EQ(ids[at], right.id) << "query " << q << ", rank " << i << ", " << distances[at] << " instead of "
                                     << right.distance;
        ASSERT_NEAR(distances[at], right.distance, relative * std::abs(static_cast<double>(right.distance)))
            << "query " << q << ", rank " << i;
      }
    }
  }

  Cloud<T> base_;
  Metric metric_;
  Stream stream_;
  DeviceArray<T> points_;
  DeviceIndex<T> index_;
};

const Metric kMetrics[] = {MetricKind::sqeuclidean, MetricKind::euclidean,     MetricKind::manhattan,
                           MetricKind::chebyshev,   Metric::minkowski(3),      MetricKind::cosine,
                           MetricKind::correlation, MetricKind::inner_product, MetricKind::hamming,
                           MetricKind::canberra};
constexpr Plan::Pass kGemm{DistanceStage::gemm, true};
constexpr Plan::Pass kStages[] = {{DistanceStage::direct},
                                  {DistanceStage::tiled},
                                  {DistanceStage::register_tiled},
                                  {DistanceStage::register_tiled, true},
                                  kGemm,
                                  {DistanceStage::register_tiled, false, true}};

struct Sizes {
  std::int64_t rows, queries, dims;
};
constexpr Sizes kSizes[] = {{1, 1, 2}, {40, 7, 3}, {130, 9, 17}, {257, 20, 33}};
constexpr std::int64_t kCounts[] = {1, 10, 1 << 20};  // the last is all
constexpr std::int64_t kRooms[] = {0, 3};
constexpr std::int64_t kTiles[] = {50, 1 << 20};

template <class T>
void expect_exact(const std::vector<std::size_t>& row, unsigned seed) {
  Wanted wanted{kMetrics[row[0]], 1, kStages[row[1]], 6, kTiles[row[6]]};
  const bool product = is_square(wanted.metric) || is_product(wanted.metric);
  if (wanted.first == kGemm && !product) wanted.first = {DistanceStage::register_tiled};
  const Sizes& sizes = kSizes[row[2]];
  wanted.k = std::min(kCounts[row[3]], sizes.rows);
  // Powers that are almost equal may have another order on the device.
  const Kind kind = wanted.metric.kind == MetricKind::minkowski ? Kind::gaussian : kKinds[row[7]];
  SCOPED_TRACE(testing::Message() << "metric " << row[0] << ", " << to_string(wanted.first)
                                  << (wanted.first.expanded ? " by products" : "") << ", " << sizes.rows << " × "
                                  << sizes.dims << ", k " << wanted.k << ", gaps " << kRooms[row[4]] << " and "
                                  << kRooms[row[5]] << ", tiles of " << wanted.base_tile << ", kind " << row[7]
                                  << (sizeof(T) == 8 ? ", double" : ", float"));
  const Cloud<T> base = cloud<T>(kind, sizes.rows, sizes.dims, kRooms[row[4]], seed);
  const Cloud<T> queries = cloud<T>(kind, sizes.queries, sizes.dims, kRooms[row[5]], seed + 1);
  const Stream stream;
  Searched<T>(base, wanted.metric).search(queries, wanted, stream);
}

TEST_F(DeviceBruteSearch, EveryPairOfParametersMatchesTheOracle) {
  const auto rows = pairwise({std::size(kMetrics), std::size(kStages), std::size(kSizes), std::size(kCounts),
                              std::size(kRooms), std::size(kRooms), std::size(kTiles), std::size(kKinds), 2},
                             5);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    set_schedule(i % kSchedules);
    if (rows[i][8] == 0)
      expect_exact<float>(rows[i], static_cast<unsigned>(i + 1));
    else
      expect_exact<double>(rows[i], static_cast<unsigned>(i + 1));
  }
}

TEST_F(DeviceBruteSearch, EveryK) {
  const Cloud<float> base = cloud<float>(Kind::ties, 45, 6, 2, 1);
  const Cloud<float> queries = cloud<float>(Kind::ties, 4, 6, 0, 2);
  const Searched<float> searched(base, MetricKind::euclidean);
  const Stream stream;
  for (std::int64_t k = 1; k <= base.rows; ++k)
    searched.search(queries, {MetricKind::euclidean, k, {DistanceStage::tiled}}, stream);
}

TEST_F(DeviceBruteSearch, ABaseSearchesItself) {
  for (const std::int64_t gap : {0, 1}) {
    Searched<double> searched(cloud<double>(Kind::gaussian, 150, 9, gap, 4), MetricKind::sqeuclidean);
    searched.search_self({MetricKind::sqeuclidean, 4, kGemm, 64, 1 << 20});
  }
}

// Queries without a certificate are gathered, from rows with gaps too.
TEST_F(DeviceBruteSearch, QueriesFallBackToTheNextPass) {
  const Cloud<float> base = cloud<float>(Kind::tight, 200, 12, 1, 1);
  const Searched<float> searched(base, MetricKind::sqeuclidean);
  const Stream stream;
  for (const std::int64_t gap : {0, 3}) {
    const SearchReport report =
        searched.search(cloud<float>(Kind::tight, 9, 12, gap, 2), {MetricKind::sqeuclidean, 5, kGemm}, stream);
    ASSERT_GT(report.steps.size(), 1U);
    EXPECT_EQ(to_string(report.steps[0].pass), "gemm");
    EXPECT_EQ(report.steps[0].queries, 9);
    EXPECT_GT(report.steps[1].queries, 0);
    EXPECT_GE(report.finalists, 9 * 5);
  }
}

// In a long search of many queries a sample tries the pass first; in a short one all take it.
TEST_F(DeviceBruteSearch, ATrialChoosesThePass) {
  constexpr std::int64_t kQueries = 260;
  const Stream stream;
  for (const bool tries : {false, true}) {
    const Wanted wanted{MetricKind::sqeuclidean, 4, kGemm, 1 << 20, 1 << 20, tries};
    const Searched<float> tight(cloud<float>(Kind::tight, 150, 16, 0, 1), MetricKind::sqeuclidean);
    const SearchReport refused = tight.search(cloud<float>(Kind::tight, kQueries, 16, 0, 2), wanted, stream);
    ASSERT_GE(refused.steps.size(), 2U);
    EXPECT_EQ(to_string(refused.steps[0].pass), "gemm");
    EXPECT_EQ(refused.steps[0].queries < kQueries, tries);
    EXPECT_EQ(to_string(refused.steps[1].pass), "register-tiled");

    const Searched<float> spread(cloud<float>(Kind::gaussian, 150, 16, 0, 1), MetricKind::sqeuclidean);
    const SearchReport taken = spread.search(cloud<float>(Kind::gaussian, kQueries, 16, 0, 2), wanted, stream);
    EXPECT_EQ(to_string(taken.steps[0].pass), "gemm");
    EXPECT_EQ(taken.steps[0].queries, kQueries);
  }
}

// One index is searched on several streams, the default one included.
TEST_F(DeviceBruteSearch, OnAnyStream) {
  const Searched<float> searched(cloud<float>(Kind::gaussian, 120, 8, 0, 1), MetricKind::cosine);
  const Stream one;
  const Stream other;
  for (cudaStream_t stream : {static_cast<cudaStream_t>(one), static_cast<cudaStream_t>(other), cudaStream_t{}})
    for (const DistanceStage stage : {DistanceStage::gemm, DistanceStage::direct})
      searched.search(cloud<float>(Kind::gaussian, 6, 8, 0, 3), {MetricKind::cosine, 7, {stage}}, stream);
}

template <class Work>
std::string refusal(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code() == ErrorCode::bad_data ? error.what() : "another code";
  }
  return "nothing";
}

TEST_F(DeviceBruteSearch, RefusesWhatIsNotFinite) {
  const Stream stream;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::int64_t gap : {0, 2}) {
    Cloud<double> base = cloud<double>(Kind::gaussian, 700, 5, gap, 1);
    Cloud<double> queries = cloud<double>(Kind::gaussian, 9, 5, gap, 2);
    const Searched<double> searched(base, MetricKind::manhattan);
    queries.at(7, 4) = -infinity;
    queries.at(3, 2) = infinity;
    EXPECT_EQ(refusal([&] {
                searched.search(queries, {MetricKind::manhattan, 2, {DistanceStage::tiled}}, stream);
              }),
              "query row 3, column 2 is inf; values must be finite (check_finite)");
    base.at(600, 0) = std::numeric_limits<double>::quiet_NaN();
    base.at(699, 4) = infinity;
    EXPECT_EQ(refusal([&] { Searched<double>(base, MetricKind::manhattan); }),
              "base row 600, column 0 is nan; values must be finite (check_finite)");
    EXPECT_EQ(refusal([&] { Searched<double>(base, MetricKind::manhattan, false); }), "nothing");
  }
}

TEST_F(DeviceBruteSearch, RefusesWhatHasNoDirection) {
  const Stream stream;
  for (const std::int64_t gap : {0, 2}) {
    Cloud<float> base = cloud<float>(Kind::gaussian, 50, 4, gap, 1);
    Cloud<float> queries = cloud<float>(Kind::gaussian, 9, 4, gap, 2);
    const Searched<float> cosine(base, MetricKind::cosine, false);
    const Searched<float> correlation(base, MetricKind::correlation);
    for (std::int64_t c = 0; c < 4; ++c) queries.at(5, c) = base.at(11, c) = 0;
    EXPECT_EQ(refusal([&] {
                cosine.search(queries, {MetricKind::cosine, 2, {DistanceStage::tiled}}, stream);
              }),
              "query row 5 has length zero; cosine needs a direction");
    for (std::int64_t c = 0; c < 4; ++c) queries.at(4, c) = 0.1F;
    EXPECT_EQ(refusal([&] {
                correlation.search(queries, {MetricKind::correlation, 2, kGemm}, stream);
              }),
              "query row 4 is constant; correlation needs a varying vector");
    EXPECT_EQ(refusal([&] { Searched<float>(base, MetricKind::cosine, false); }),
              "base row 11 has length zero; cosine needs a direction");
  }
}

}  // namespace
}  // namespace kith::test
