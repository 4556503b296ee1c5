// Radius search of host points on a device gives the answer by the definition of core/key.hpp, for all metrics, radii,
// tiles and capacities of lists.
#include <cmath>
#include <limits>

#include "core/key.hpp"
#include "cuda/radius/radius_hits.hpp"
#include "cuda/tensor/tensor_filter.hpp"
#include "device_index.hpp"
#include "point_set.hpp"
#include "support/fails_with.hpp"
#include "support/pairwise.hpp"

namespace kith::test {
namespace {

using DeviceRadius = DeviceTest;

constexpr Cloud kKinds[] = {Cloud::gaussian, Cloud::ties, Cloud::tight, Cloud::huge};

// The right order of all points, for each query.
template <class F>
using Truth = std::vector<std::vector<Neighbor<F>>>;

template <class F>
Truth<F> truth_of(const Metric& metric, const PointSet<F>& base, const PointSet<F>& queries) {
  Truth<F> truth;
  for (std::int64_t q = 0; q < queries.rows; ++q) truth.push_back(in_order(metric, base, queries, q));
  return truth;
}

// Radii are keys: minus the inner products.
template <class F>
F key_of(const Metric& metric, const Neighbor<F>& neighbor) {
  return metric.kind == MetricKind::inner_product ? -neighbor.distance : neighbor.distance;
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

// The first scores of a search; those that the metric or the type does not have become the next.
enum class Scores { differences, products, fp16 };

struct Wanted {
  Metric metric;
  Cuts cuts = kCuts[0];
  bool count_only = false;
  bool self = false;
  Scores scores = Scores::products;
  bool check_finite = true;
  std::int64_t workspace_bytes = 0;
};

template <class F>
Plan plan_for(const Wanted& wanted, const Sizes& sizes) {
  const core::Form form = core::form_of(wanted.metric);
  const bool multiplies = form == core::Form::squared || form == core::Form::dot;
  Plan plan;
  plan.problem = {sizes.rows, sizes.queries, sizes.dims, 0, DType::float32};
  plan.metric = wanted.metric;
  plan.distance = wanted.scores == Scores::fp16 && multiplies && std::is_same_v<F, float>
                      ? DistanceStage::fp16
                      : DistanceStage::register_tiled;
  plan.expanded = wanted.scores != Scores::differences && form == core::Form::squared;
  plan.query_block = std::min(sizes.queries, wanted.cuts.query_block);
  plan.base_tile = std::min(sizes.rows, wanted.cuts.base_tile);
  plan.candidates = wanted.cuts.candidates;
  plan.workspace_bytes = wanted.workspace_bytes;
  return plan;
}

// Radii that equal distances of the oracle, so that some points lie on them; between two distances for powers, which
// the device may round differently.
template <class F>
std::vector<F> radii_for(Radii radii, const Metric& metric, const Truth<F>& truth) {
  if (radii == Radii::zero) return {F{0}};
  if (radii == Radii::infinite) return {std::numeric_limits<F>::infinity()};
  std::vector<F> keys;
  for (std::size_t q = 0; q < (radii == Radii::one ? 1 : truth.size()); ++q) {
    const std::size_t rank = q * 7 % truth[q].size();
    F key = key_of(metric, truth[q][rank]);
    if (metric.kind == MetricKind::minkowski && rank + 1 < truth[q].size())
      key = (key + truth[q][rank + 1].distance) / 2;
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
void expect_same_on_device(const DeviceIndex<F>& index, const PointSet<F>& queries, const Plan& plan,
                           const core::RadiusQuery<F>& request, const RadiusAnswer<F>& right, bool self) {
  const device::Stream stream;
  DeviceArray<F> points(queries.values, stream);
  DeviceArray<std::int64_t> offsets(std::vector<std::int64_t>(right.offsets.size()), stream);
  DeviceArray<std::int64_t> ids(std::vector<std::int64_t>(right.ids.size()), stream);
  DeviceArray<F> distances(std::vector<F>(right.ids.size()), stream);
  RadiusLists<F> lists{offsets.data(), {}, Memory::device};
  if (!request.count_only)
    lists.allocate = [&](std::int64_t count) {
      EXPECT_EQ(count, static_cast<std::int64_t>(right.ids.size()));
      return NeighborsView<F>{ids.data(), distances.data(), Memory::device};
    };
  SearchReport report;
  index.begin(queries.on_device(points.data()), stream, kNoProgress, self)->search_radius(plan, request, lists, report);
  EXPECT_EQ(offsets.values(), right.offsets);
  EXPECT_EQ(ids.values(), right.ids);
  EXPECT_EQ(distances.values(), right.distances);
}

template <class F>
void expect_right(const Wanted& wanted, const core::RadiusQuery<F>& request, const RadiusAnswer<F>& got,
                  const Truth<F>& truth) {
  const double relative = wanted.metric.kind == MetricKind::minkowski ? 1e-6 : 0;
  ASSERT_EQ(got.offsets.size(), truth.size() + 1);
  ASSERT_EQ(got.offsets[0], 0);
  ASSERT_EQ(static_cast<std::int64_t>(got.ids.size()), wanted.count_only ? 0 : got.offsets.back());
  for (std::size_t q = 0; q < truth.size(); ++q) {
    auto at = static_cast<std::size_t>(got.offsets[q]);
    for (const Neighbor<F>& right : truth[q]) {
      if (!(key_of(wanted.metric, right) <= request.key_of(static_cast<std::int64_t>(q)))) continue;
      if (wanted.self && right.id == static_cast<std::int64_t>(q)) continue;
      ASSERT_LT(static_cast<std::int64_t>(at), got.offsets[q + 1]) << "query " << q << " lacks " << right.id;
      if (!wanted.count_only) {
        ASSERT_EQ(got.ids[at], right.id) << "query " << q;
        // Infinite products are equal, but not near.
        if (got.distances[at] != right.distance) {
          ASSERT_NEAR(got.distances[at], right.distance, relative * std::abs(right.distance)) << "query " << q;
        }
      }
      ++at;
    }
    ASSERT_EQ(static_cast<std::int64_t>(at), got.offsets[q + 1]) << "query " << q << " has too many";
  }
}

template <class F>
RadiusAnswer<F> run(const Wanted& wanted, const PointSet<F>& base, const PointSet<F>& queries,
                    const core::RadiusQuery<F>& request, const ProgressCallback& progress = kNoProgress) {
  const DeviceIndex<F> index(base.view(), wanted.metric, nullptr,
                             {.check_finite = wanted.check_finite, .resident = wanted.cuts.resident});
  const Plan plan = plan_for<F>(wanted, {base.rows, queries.rows, base.dims});
  RadiusAnswer<F> got;
  got.offsets.resize(static_cast<std::size_t>(queries.rows) + 1);
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
  expect_same_on_device(index, queries, plan, request, got, wanted.self);
  return got;
}

template <class F>
void expect_oracle(const Wanted& wanted, Cloud kind, const Sizes& sizes, Radii radii, unsigned seed) {
  const PointSet<F> base = cloud<F>(kind, sizes.rows, sizes.dims, seed);
  const PointSet<F> others = cloud<F>(kind, sizes.queries, sizes.dims, seed + 1);
  const PointSet<F>& queries = wanted.self ? base : others;
  const Truth<F> truth = truth_of(wanted.metric, base, queries);
  core::RadiusQuery<F> request;
  request.keys = radii_for(radii, wanted.metric, truth);
  request.count_only = wanted.count_only;
  request.exclude_self = wanted.self;
  request.max_hits = std::numeric_limits<std::int64_t>::max();
  expect_right(wanted, request, run(wanted, base, queries, request), truth);
}

TEST_F(DeviceRadius, EveryPairOfParametersMatchesTheOracle) {
  const auto rows = pairwise(
      {std::size(kMetrics), std::size(kKinds), std::size(kSizes), std::size(kCuts), std::size(kRadii), 2, 2, 3, 2}, 13);
  for (std::size_t i = 0; i < rows.size(); i += under_sanitizer() ? 4 : 1) {
    const std::vector<std::size_t>& row = rows[i];
    const Wanted wanted{kMetrics[row[0]], kCuts[row[3]], row[5] == 1, row[6] == 1, static_cast<Scores>(row[7])};
    // Lists of a few pairs take many passes.
    const Sizes& sizes = kSizes[wanted.cuts.candidates < 10 ? std::min<std::size_t>(row[2], 2) : row[2]];
    // Powers that are almost equal may have another order on the device.
    const Cloud kind = wanted.metric.kind == MetricKind::minkowski ? Cloud::gaussian : kKinds[row[1]];
    SCOPED_TRACE(testing::Message() << "metric " << row[0] << ", kind " << row[1] << ", sizes " << row[2] << ", cuts "
                                    << row[3] << ", radii " << row[4] << (wanted.count_only ? ", counted" : "")
                                    << (wanted.self ? ", self" : "") << ", scores " << row[7]
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
    expect_oracle<float>(wanted, Cloud::gaussian, sizes, Radii::each, 5);
    expect_oracle<double>(wanted, Cloud::ties, sizes, Radii::each, 5);
  }
}

// Pairs that one block ranks, and those that are just too many; lists that hold no more than they must.
TEST_F(DeviceRadius, FewPairsAndManyMatchTheOracle) {
  constexpr std::int64_t kFew = device::radius::FewPairs<float>::kMost;
  std::uint64_t run = 0;
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, std::int64_t{511}, std::int64_t{512},
                                  std::int64_t{513}, std::int64_t{1100}, kFew - 1, kFew, kFew + 1})
    for (const bool count_only : {false, true}) {
      SCOPED_TRACE(testing::Message() << rows << " pairs" << (count_only ? ", counted" : ""));
      Wanted wanted{MetricKind::sqeuclidean, {true, kAll, kAll, rows % 2 == 0 ? rows : kAll}};
      wanted.count_only = count_only;
      wanted.scores = run % 3 == 0 ? Scores::fp16 : Scores::products;
      set_schedule(run++ % kSchedules);
      expect_oracle<float>(wanted, Cloud::ties, {rows, 1, 4}, Radii::infinite, 3);
      expect_oracle<double>(wanted, Cloud::ties, {rows, 1, 4}, Radii::infinite, 4);
      if (HasFatalFailure()) return;
    }
  for (const std::int64_t rows : {45, 46}) {  // squares are on both sides of kFew
    Wanted wanted{MetricKind::inner_product};
    wanted.self = true;
    wanted.scores = Scores::fp16;
    expect_oracle<float>(wanted, Cloud::ties, {rows, rows, 24}, Radii::infinite, 5);
  }
}

// What is known of a part's hits is not taken for that of the next, which has none.
TEST_F(DeviceRadius, PartsWithoutHitsFollowLongOnes) {
  for (const Scores scores : {Scores::products, Scores::fp16}) {
    Wanted wanted{MetricKind::euclidean, {true, 100, kAll, kAll}};
    wanted.scores = scores;
    const PointSet<float> base = cloud<float>(Cloud::gaussian, 120, 8, 1);
    PointSet<float> queries = cloud<float>(Cloud::gaussian, 400, 8, 2);
    for (std::int64_t q = 100; q < 300; ++q) queries.at(q, 0) += 100;
    core::RadiusQuery<float> request;
    request.keys = {20};
    request.max_hits = kAll;
    const RadiusAnswer<float> got = run(wanted, base, queries, request);
    EXPECT_EQ(got.offsets.back(), 200 * 120);
    expect_right(wanted, request, got, truth_of(wanted.metric, base, queries));
  }
}

// The search runs beside the check of its queries; nothing is written before that says yes.
TEST_F(DeviceRadius, RefusesQueriesBeforeItWrites) {
  const PointSet<float> base = cloud<float>(Cloud::gaussian, 300, 16, 1);
  PointSet<float> queries = cloud<float>(Cloud::gaussian, 5, 16, 2);
  queries.at(3, 7) = std::numeric_limits<float>::quiet_NaN();
  const DeviceIndex<float> index(base.view(), MetricKind::euclidean, nullptr, {});
  core::RadiusQuery<float> request;
  request.keys = {5};
  request.max_hits = kAll;
  for (const Scores scores : {Scores::differences, Scores::products, Scores::fp16}) {
    Wanted wanted{MetricKind::euclidean};
    wanted.scores = scores;
    const Plan plan = plan_for<float>(wanted, {300, 5, 16});
    const device::Stream stream;
    DeviceArray<float> points(queries.values, stream);
    DeviceArray<std::int64_t> offsets(std::vector<std::int64_t>(6, -1), stream);
    SearchReport report;
    const auto allocate = [](std::int64_t) -> NeighborsView<float> {
      ADD_FAILURE() << "memory is asked for";
      return {nullptr, nullptr, Memory::device};
    };
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"query row 3, column 7"}, [&] {
      index.begin(queries.on_device(points.data()), stream, kNoProgress, false)
          ->search_radius(plan, request, {offsets.data(), allocate, Memory::device}, report);
    }));
    EXPECT_EQ(offsets.values(), std::vector<std::int64_t>(6, -1));
  }
}

const Metric kProducts[] = {MetricKind::sqeuclidean, MetricKind::euclidean, MetricKind::cosine, MetricKind::correlation,
                            MetricKind::inner_product};

// Radii are distances of points, which scores in fp16 alone would put on either side. One query, and several tiles of
// them, of a base that is there or streamed; lists that are long enough, and such that parts are cut.
TEST_F(DeviceRadius, Fp16MatchesTheOracle) {
  constexpr Cuts kSeveral[] = {{true, kAll, kAll, kAll}, {false, 100, 150, 400}, {true, kAll, kAll, 20}};
  unsigned seed = 0;
  for (const Metric& metric : kProducts)
    for (const std::int64_t queries : {1, 300})
      for (const Cuts& cuts : kSeveral) {
        SCOPED_TRACE(testing::Message() << "metric " << seed / 6 << ", queries " << queries << ", capacity "
                                        << cuts.candidates);
        Wanted wanted{metric, cuts};
        wanted.scores = Scores::fp16;
        wanted.self = seed % 4 == 0;
        wanted.count_only = seed % 5 == 0;
        set_schedule(seed % kSchedules);
        expect_oracle<float>(wanted, seed % 3 == 0 ? Cloud::ties : Cloud::gaussian, {400, queries, 24}, Radii::each,
                             seed);
        ++seed;
        if (HasFatalFailure()) return;
      }
}

// Where points lie apart, few keys are of pairs outside of the radius.
TEST_F(DeviceRadius, Fp16WastesFewKeys) {
  Wanted wanted{MetricKind::euclidean, {true, kAll, kAll, kAll}};
  wanted.scores = Scores::fp16;
  const PointSet<float> base = cloud<float>(Cloud::gaussian, 1000, 32, 1);
  const PointSet<float> queries = cloud<float>(Cloud::gaussian, 70, 32, 2);
  core::RadiusQuery<float> request;
  request.keys = {7};
  request.max_hits = kAll;
  const RadiusAnswer<float> got = run(wanted, base, queries, request);
  ASSERT_GT(got.offsets.back(), 1000);
  EXPECT_LT(got.finalists - got.offsets.back(), got.offsets.back() / 20);
}

// Infinite rows leave no center, unless they come after the first tile, and an infinite radius reaches them.
TEST_F(DeviceRadius, Fp16GivesWayWherePointsAreNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const bool resident : {true, false}) {
    Wanted wanted{MetricKind::euclidean, {resident, kAll, 60, kAll}};
    wanted.scores = Scores::fp16;
    wanted.check_finite = false;
    PointSet<float> base = cloud<float>(Cloud::gaussian, 200, 16, 1);
    base.at(resident ? 3 : 140, 5) = base.at(150, 2) = kInfinity;
    PointSet<float> queries = cloud<float>(Cloud::gaussian, 9, 16, 2);
    queries.at(4, 4) = -kInfinity;
    for (const float radius : {5.0F, kInfinity}) {
      core::RadiusQuery<float> request;
      request.keys = {radius};
      request.max_hits = kAll;
      expect_right(wanted, request, run(wanted, base, queries, request), truth_of(wanted.metric, base, queries));
    }
  }
}

// The list, keys and sort buffers need more memory than the budget, so that the list shrinks until they fit.
TEST_F(DeviceRadius, ListsGiveWayWhereMemoryIsShort) {
  Wanted wanted{MetricKind::euclidean, {true, kAll, kAll, 1000}};
  wanted.workspace_bytes = 200000;
  expect_oracle<float>(wanted, Cloud::gaussian, {300, 150, 8}, Radii::infinite, 3);
  wanted.workspace_bytes = 100;
  EXPECT_THROW(expect_oracle<float>(wanted, Cloud::gaussian, {300, 150, 8}, Radii::infinite, 3), Error);
}

// One query has all points, the others one each: only its tile must be split.
TEST_F(DeviceRadius, NeighborsMayBeOfOneQuery) {
  const Wanted wanted{MetricKind::euclidean, {true, kAll, kAll, 2}};
  const PointSet<float> points = cloud<float>(Cloud::gaussian, 400, 5, 1);
  const Truth<float> truth = truth_of(wanted.metric, points, points);
  core::RadiusQuery<float> request;
  request.keys.assign(400, 0);
  request.keys[200] = 100;
  request.max_hits = 799;
  expect_right(wanted, request, run(wanted, points, points, request), truth);
  request.max_hits = 798;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"798"}, [&] { run(wanted, points, points, request); }));
}

// Scores that tell no points apart are given up after the first tile, so that few keys are computed. Without wgmma
// there are no scores in fp16.
TEST_F(DeviceRadius, DifferencesFollowScoresThatTellNothing) {
  for (const Scores scores : {Scores::products, Scores::fp16}) {
    Wanted wanted{MetricKind::euclidean, {true, 64, kAll, kAll}};
    wanted.scores = scores;
    PointSet<float> points = cloud<float>(Cloud::tight, 640, 16, 1);
    for (std::int64_t c = 0; c < 16; ++c) points.at(0, c) *= -1;  // all others are far from the center too
    core::RadiusQuery<float> request;
    request.keys = {1e-3F};
    request.max_hits = kAll;
    const RadiusAnswer<float> got = run(wanted, points, points, request);
    EXPECT_EQ(got.offsets.back(), 640);
    const bool rounds = device::tensor::has_tensor_filter(device::tensor::Element::fp16, 16);
    const std::int64_t wasteful = scores == Scores::fp16 && rounds ? 2 : 1;
    EXPECT_GE(got.finalists, wasteful * 63 * 639);
    EXPECT_LT(got.finalists, (wasteful + 1) * 63 * 639);
  }
}

// A list that overflows with what fp16 lets pass for nothing is not cut: the next scores fit it.
TEST_F(DeviceRadius, Fp16IsGivenUpBeforeTilesAreCut) {
  Wanted wanted{MetricKind::euclidean, {true, kAll, kAll, 100}};
  wanted.scores = Scores::fp16;
  PointSet<float> points = cloud<float>(Cloud::gaussian, 300, 16, 1);
  points.at(299, 0) = 1e3F;  // one point far away leaves the others few digits
  core::RadiusQuery<float> request;
  request.keys = {2};
  request.max_hits = kAll;
  std::int64_t parts = 0;
  const RadiusAnswer<float> got = run(wanted, points, points, request, [&](const Progress&) { return ++parts > 0; });
  EXPECT_EQ(parts, 2);
  EXPECT_LT(got.finalists, 2 * got.offsets.back());
  expect_right(wanted, request, got, truth_of(wanted.metric, points, points));
}

TEST_F(DeviceRadius, ReportsEveryPairAndCanBeGivenUp) {
  const Wanted wanted{MetricKind::manhattan, {false, 16, 60, 40}};
  const PointSet<double> points = cloud<double>(Cloud::gaussian, 130, 6, 1);
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
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, [&] {
    run(wanted, points, points, request, [&](const Progress&) { return ++calls < enough; });
  }));
  EXPECT_EQ(calls, enough);
}

}  // namespace
}  // namespace kith::test
