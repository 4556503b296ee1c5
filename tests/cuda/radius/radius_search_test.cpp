// Radius search of host points on a device gives the answer by the definition of core/key.hpp, for all metrics, radii,
// tiles and capacities of lists.
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "core/key.hpp"
#include "device_index.hpp"
#include "kith/error.hpp"
#include "support/pairwise.hpp"

namespace kith::test {
namespace {

using DeviceRadius = DeviceTest;

enum class Kind {
  gaussian,
  ties,   // small integers: many distances are shared, and most points have copies
  tight,  // neighbors closer than products can tell apart, far from the origin
  huge,   // squares overflow float
};
constexpr Kind kKinds[] = {Kind::gaussian, Kind::ties, Kind::tight, Kind::huge};

template <class T>
Matrix<T> points_of(Kind kind, std::int64_t rows, std::int64_t dims, unsigned seed) {
  Matrix<T> made(rows, dims);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t c = 0; c < dims; ++c) {
      double value = normal(random);
      if (kind == Kind::ties) value = std::round(value) + 3;
      if (kind == Kind::tight) value = 100.0 * static_cast<double>(c % 5 - 1) + 1e-3 * value;
      if (kind == Kind::huge) value *= 1e25;
      made(i, c) = static_cast<T>(value);
    }
    // No row is zero or constant.
    if (kind == Kind::ties && dims > 1) made(i, i % dims) = 9;
  }
  return made;
}

template <class F>
struct Neighbor {
  F key;
  std::int64_t id;
  bool operator<(const Neighbor& other) const { return std::tie(key, id) < std::tie(other.key, other.id); }
};

// All points in the order of the answer to query q.
template <class F>
std::vector<Neighbor<F>> in_order(const Metric& metric, const Matrix<F>& base, const Matrix<F>& queries,
                                  std::int64_t q) {
  const std::int64_t dims = base.cols();
  const F* x = queries.view().row(q);
  const core::RowFacts x_facts = core::row_facts(metric.kind, x, 1, dims);
  std::vector<Neighbor<F>> all;
  for (std::int64_t i = 0; i < base.rows(); ++i) {
    const F* y = base.view().row(i);
    const core::RowFacts y_facts = core::row_facts(metric.kind, y, 1, dims);
    const bool means = metric.kind == MetricKind::correlation;
    const double raw = core::raw_sum(core::form_of(metric), metric.p, x, 1, means ? x_facts.mean : 0, y, 1,
                                     means ? y_facts.mean : 0, dims);
    all.push_back({static_cast<F>(core::finish(metric, raw, x_facts, y_facts, dims)), i});
  }
  std::sort(all.begin(), all.end());
  return all;
}

enum class Radii { one, each, zero, infinite };
constexpr Radii kRadii[] = {Radii::one, Radii::each, Radii::zero, Radii::infinite};

// Sizes of tiles, and the capacity of the list, in pairs a query.
struct Cuts {
  bool resident;
  std::int64_t query_block, base_tile, candidates;
};
constexpr std::int64_t kAll = 1 << 20;
constexpr Cuts kCuts[] = {{true, kAll, kAll, 1000}, {true, 7, 50, 3}, {true, kAll, kAll, 1}, {false, 16, 60, 40}};

struct Sizes {
  std::int64_t rows, queries, dims;
};
constexpr Sizes kSizes[] = {{1, 1, 2}, {40, 7, 3}, {130, 9, 17}, {300, 150, 8}};

const Metric kMetrics[] = {MetricKind::sqeuclidean, MetricKind::euclidean,     MetricKind::manhattan,
                           MetricKind::chebyshev,   Metric::minkowski(3),      MetricKind::cosine,
                           MetricKind::correlation, MetricKind::inner_product, MetricKind::hamming,
                           MetricKind::canberra};

struct Wanted {
  Metric metric;
  Cuts cuts = kCuts[0];
  bool count_only = false;
  bool self = false;
  bool expanded = true;
  std::int64_t workspace_bytes = 0;
};

Plan plan_for(const Wanted& wanted, const Sizes& sizes) {
  Plan plan;
  plan.problem = {sizes.rows, sizes.queries, sizes.dims, 0, DType::float32};
  plan.metric = wanted.metric;
  plan.expanded = wanted.expanded && core::form_of(wanted.metric) == core::Form::squared;
  plan.query_block = std::min(sizes.queries, wanted.cuts.query_block);
  plan.base_tile = std::min(sizes.rows, wanted.cuts.base_tile);
  plan.candidates = wanted.cuts.candidates;
  plan.workspace_bytes = wanted.workspace_bytes;
  return plan;
}

// Radii that equal distances of the oracle, so that some points lie on them; between two distances for powers, which
// the device may round differently.
template <class F>
std::vector<F> radii_for(Radii radii, const Metric& metric, const std::vector<std::vector<Neighbor<F>>>& truth) {
  if (radii == Radii::zero) return {F{0}};
  if (radii == Radii::infinite) return {std::numeric_limits<F>::infinity()};
  std::vector<F> keys;
  for (std::size_t q = 0; q < (radii == Radii::one ? 1 : truth.size()); ++q) {
    const std::size_t rank = q * 7 % truth[q].size();
    F key = truth[q][rank].key;
    if (metric.kind == MetricKind::minkowski && rank + 1 < truth[q].size()) key = (key + truth[q][rank + 1].key) / 2;
    if (metric.kind == MetricKind::minkowski && rank + 1 == truth[q].size()) key *= 2;
    keys.push_back(key);
  }
  return keys;
}

template <class F>
struct RadiusAnswer {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> ids;
  std::vector<F> distances;
  std::int64_t finalists = 0;
};

// The same lists where they stay on the device, of queries that are there too.
template <class F>
void expect_same_on_device(const DeviceIndex<F>& index, const Matrix<F>& queries, const Plan& plan,
                           const core::RadiusQuery<F>& request, const RadiusAnswer<F>& right, bool self) {
  const device::Stream stream;
  const std::vector<F> values(queries.data(), queries.data() + queries.rows() * queries.cols());
  DeviceArray<F> points(values, stream);
  DeviceArray<std::int64_t> offsets(std::vector<std::int64_t>(right.offsets.size()), stream);
  DeviceArray<std::int64_t> ids(std::vector<std::int64_t>(right.ids.size()), stream);
  DeviceArray<F> distances(std::vector<F>(right.ids.size()), stream);
  const auto view = MatrixView<F>::on_device(points.data(), queries.rows(), queries.cols());
  SearchReport report;
  index.begin(view, stream, kNoProgress, self)
      ->search_radius(plan, request,
                      {offsets.data(),
                       [&](std::int64_t count) {
                         EXPECT_EQ(count, static_cast<std::int64_t>(right.ids.size()));
                         return NeighborsView<F>{ids.data(), distances.data(), Memory::device};
                       },
                       Memory::device},
                      report);
  EXPECT_EQ(offsets.values(), right.offsets);
  EXPECT_EQ(ids.values(), right.ids);
  EXPECT_EQ(distances.values(), right.distances);
}

// Radii are keys: minus the inner products.
template <class F>
void expect_right(const Wanted& wanted, const core::RadiusQuery<F>& request, const RadiusAnswer<F>& got,
                  const std::vector<std::vector<Neighbor<F>>>& truth) {
  const double relative = wanted.metric.kind == MetricKind::minkowski ? 1e-6 : 0;
  const bool products = wanted.metric.kind == MetricKind::inner_product;
  ASSERT_EQ(got.offsets.size(), truth.size() + 1);
  ASSERT_EQ(got.offsets[0], 0);
  ASSERT_EQ(static_cast<std::int64_t>(got.ids.size()), wanted.count_only ? 0 : got.offsets.back());
  for (std::size_t q = 0; q < truth.size(); ++q) {
    auto at = static_cast<std::size_t>(got.offsets[q]);
    for (const Neighbor<F>& right : truth[q]) {
      if (!(right.key <= request.key_of(static_cast<std::int64_t>(q)))) continue;
      if (wanted.self && right.id == static_cast<std::int64_t>(q)) continue;
      ASSERT_LT(static_cast<std::int64_t>(at), got.offsets[q + 1]) << "query " << q << " lacks " << right.id;
      if (!wanted.count_only) {
        ASSERT_EQ(got.ids[at], right.id) << "query " << q;
        const double distance = products ? -right.key : right.key;
        // Infinite products are equal, but not near.
        if (got.distances[at] != distance) {
          ASSERT_NEAR(got.distances[at], distance, relative * std::abs(distance)) << "query " << q;
        }
      }
      ++at;
    }
    ASSERT_EQ(static_cast<std::int64_t>(at), got.offsets[q + 1]) << "query " << q << " has too many";
  }
}

template <class F>
RadiusAnswer<F> run(const Wanted& wanted, const Matrix<F>& base, const Matrix<F>& queries,
                    const core::RadiusQuery<F>& request, const ProgressCallback& progress = kNoProgress) {
  const DeviceIndex<F> index(base.view(), wanted.metric, nullptr, {.resident = wanted.cuts.resident});
  const Plan plan = plan_for(wanted, {base.rows(), queries.rows(), base.cols()});
  RadiusAnswer<F> got;
  got.offsets.resize(static_cast<std::size_t>(queries.rows()) + 1);
  RadiusLists<F> lists{got.offsets.data(), {}};
  if (!wanted.count_only)
    lists.allocate = [&](std::int64_t count) {
      got.ids.resize(static_cast<std::size_t>(count));
      got.distances.resize(got.ids.size());
      return NeighborsView<F>{got.ids.data(), got.distances.data()};
    };
  SearchReport report;
  index.begin(queries.view(), nullptr, progress, wanted.self)->search_radius(plan, request, lists, report);
  got.finalists = report.finalists;
  if (!wanted.count_only) expect_same_on_device(index, queries, plan, request, got, wanted.self);
  return got;
}

template <class F>
void expect_oracle(const Wanted& wanted, Kind kind, const Sizes& sizes, Radii radii, unsigned seed) {
  const Matrix<F> base = points_of<F>(kind, sizes.rows, sizes.dims, seed);
  const Matrix<F> others = points_of<F>(kind, sizes.queries, sizes.dims, seed + 1);
  const Matrix<F>& queries = wanted.self ? base : others;
  std::vector<std::vector<Neighbor<F>>> truth;
  for (std::int64_t q = 0; q < queries.rows(); ++q) truth.push_back(in_order(wanted.metric, base, queries, q));
  core::RadiusQuery<F> request;
  request.keys = radii_for(radii, wanted.metric, truth);
  request.count_only = wanted.count_only;
  request.exclude_self = wanted.self;
  request.max_hits = std::numeric_limits<std::int64_t>::max();
  expect_right(wanted, request, run(wanted, base, queries, request), truth);
}

TEST_F(DeviceRadius, EveryPairOfParametersMatchesTheOracle) {
  const auto rows = pairwise(
      {std::size(kMetrics), std::size(kKinds), std::size(kSizes), std::size(kCuts), std::size(kRadii), 2, 2, 2, 2}, 13);
  for (std::size_t i = 0; i < rows.size(); i += under_sanitizer() ? 4 : 1) {
    const std::vector<std::size_t>& row = rows[i];
    const Wanted wanted{kMetrics[row[0]], kCuts[row[3]], row[5] == 1, row[6] == 1, row[7] == 1};
    // Lists of a few pairs take many passes.
    const Sizes& sizes = kSizes[wanted.cuts.candidates < 10 ? std::min<std::size_t>(row[2], 2) : row[2]];
    // Powers that are almost equal may have another order on the device.
    const Kind kind = wanted.metric.kind == MetricKind::minkowski ? Kind::gaussian : kKinds[row[1]];
    SCOPED_TRACE(testing::Message() << "metric " << row[0] << ", kind " << row[1] << ", sizes " << row[2] << ", cuts "
                                    << row[3] << ", radii " << row[4] << (wanted.count_only ? ", counted" : "")
                                    << (wanted.self ? ", self" : "") << (wanted.expanded ? ", expanded" : "")
                                    << (row[8] == 0 ? ", float" : ", double"));
    set_schedule(i % kSchedules);
    if (row[8] == 0)
      expect_oracle<float>(wanted, kind, sizes, kRadii[row[4]], static_cast<unsigned>(i));
    else
      expect_oracle<double>(wanted, kind, sizes, kRadii[row[4]], static_cast<unsigned>(i));
    if (HasFatalFailure()) return;
  }
}

// So many queries that points are transposed first, and that sorts take more than one block.
TEST_F(DeviceRadius, ListsOfManyPairsMatchTheOracle) {
  const Sizes sizes = small_problems() ? Sizes{700, 400, 12} : Sizes{20000, 500, 12};
  for (const std::int64_t candidates : {kAll, std::int64_t{2000}}) {
    const Wanted wanted{MetricKind::euclidean, {true, kAll, kAll, candidates}};
    expect_oracle<float>(wanted, Kind::gaussian, sizes, Radii::each, 5);
    expect_oracle<double>(wanted, Kind::ties, sizes, Radii::each, 5);
  }
}

// The list, keys and sort buffers need more memory than the budget, so that the list shrinks until they fit.
TEST_F(DeviceRadius, ListsGiveWayWhereMemoryIsShort) {
  Wanted wanted{MetricKind::euclidean, {true, kAll, kAll, 1000}};
  wanted.workspace_bytes = 200000;
  expect_oracle<float>(wanted, Kind::gaussian, {300, 150, 8}, Radii::infinite, 3);
  wanted.workspace_bytes = 100;
  EXPECT_THROW(expect_oracle<float>(wanted, Kind::gaussian, {300, 150, 8}, Radii::infinite, 3), Error);
}

// One query has all points, the others one each: only its tile must be split.
TEST_F(DeviceRadius, NeighborsMayBeOfOneQuery) {
  const Wanted wanted{MetricKind::euclidean, {true, kAll, kAll, 2}};
  const Matrix<float> points = points_of<float>(Kind::gaussian, 400, 5, 1);
  std::vector<std::vector<Neighbor<float>>> truth;
  for (std::int64_t q = 0; q < 400; ++q) truth.push_back(in_order(wanted.metric, points, points, q));
  core::RadiusQuery<float> request;
  request.keys.assign(400, 0);
  request.keys[200] = 100;
  request.max_hits = 799;
  expect_right(wanted, request, run(wanted, points, points, request), truth);
  request.max_hits = 798;
  try {
    run(wanted, points, points, request);
    FAIL() << "memory for 798 held 799 neighbors";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("798"), std::string::npos) << error.what();
  }
}

// Products that tell no points apart are given up after the first tile, so that few keys are computed.
TEST_F(DeviceRadius, DifferencesFollowProductsThatTellNothing) {
  const Wanted wanted{MetricKind::euclidean, {true, 64, kAll, kAll}};
  const Matrix<float> points = points_of<float>(Kind::tight, 640, 16, 1);
  core::RadiusQuery<float> request;
  request.keys = {1e-3F};
  request.max_hits = kAll;
  const RadiusAnswer<float> got = run(wanted, points, points, request);
  EXPECT_EQ(got.offsets.back(), 640);
  EXPECT_GE(got.finalists, 64 * 640);
  EXPECT_LT(got.finalists, 2 * 64 * 640);
}

TEST_F(DeviceRadius, ReportsEveryPairAndCanBeGivenUp) {
  const Wanted wanted{MetricKind::manhattan, {false, 16, 60, 40}};
  const Matrix<double> points = points_of<double>(Kind::gaussian, 130, 6, 1);
  core::RadiusQuery<double> request;
  request.keys = {1.5};
  request.max_hits = kAll;
  std::int64_t calls = 0;
  Progress last;
  run(wanted, points, points, request, [&](const Progress& progress) {
    ++calls;
    EXPECT_GT(progress.done, last.done);
    last = progress;
    return true;
  });
  EXPECT_EQ(last.done, 130 * 130);
  EXPECT_EQ(last.total, 130 * 130);
  ASSERT_GT(calls, 3);
  const std::int64_t enough = calls / 2;
  calls = 0;
  try {
    run(wanted, points, points, request, [&](const Progress&) { return ++calls < enough; });
    FAIL() << "nobody stopped it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_EQ(calls, enough);
}

}  // namespace
}  // namespace kith::test
