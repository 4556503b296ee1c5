// Every way in which a search finds what a filter leaves: all points tested, tests that do not suffice, copies.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <numeric>

#include "collection/model.hpp"
#include "support/fails_with.hpp"
#include "support/on_backend.hpp"

namespace kith::test {
namespace {

constexpr std::int64_t kPoints = 6000;
constexpr std::int64_t kDims = 16;

Matrix<float> gaussian_points(std::int64_t rows, std::uint64_t seed) {
  Random random(seed);
  Matrix<float> points(rows, kDims);
  for (std::int64_t i = 0; i < rows * kDims; ++i) points.data()[i] = static_cast<float>(random.gaussian());
  return points;
}

// The answer among rows with a flag, by a search of their copies.
void expect_answer(const Neighbors<float>& found, const Matrix<float>& points, const Matrix<float>& queries,
                   const std::function<bool(std::int64_t query, std::int64_t row)>& allowed,
                   MetricKind metric = MetricKind::euclidean) {
  Options options;
  options.metric = metric;
  for (std::int64_t q = 0; q < found.queries; ++q) {
    Subset<float> subset;
    std::vector<float> values;
    for (std::int64_t row = 0; row < points.rows(); ++row) {
      if (!allowed(q, row)) continue;
      subset.ids.push_back(row);
      values.insert(values.end(), points.row(row), points.row(row) + kDims);
    }
    subset.points = Matrix<float>(static_cast<std::int64_t>(subset.ids.size()), kDims, std::move(values));
    const auto [ids, distances] = answer(subset, queries.view().rows_from(q, 1), found.k, options);
    ASSERT_EQ(std::vector(found.ids_of(q).begin(), found.ids_of(q).end()), ids) << "query " << q;
    ASSERT_EQ(std::vector(found.distances_of(q).begin(), found.distances_of(q).end()), distances);
  }
}

Filter mask_of(const std::vector<std::uint8_t>& mask, bool each = false) {
  Filter filter;
  filter.mask = FilterMask{.bytes = mask, .each = each};
  return filter;
}

class CollectionFilterOn : public OnBackend {};

// On devices copies pay where there are many points.
TEST_P(CollectionFilterOn, AnySelectivity) {
  const bool is_cpu = GetParam() == Backend::cpu;
  const std::int64_t rows = is_cpu ? kPoints : 40000;
  const Matrix<float> points = gaussian_points(rows, 1);
  const Matrix<float> queries = gaussian_points(is_cpu ? 50 : 4, 2);
  Options options;
  options.backend = GetParam();
  const Collection<float> collection(points.view(), {}, options);
  const std::vector<double> shares = is_cpu ? std::vector<double>{0.0, 1.0 / kPoints, 1e-3, 0.01, 0.1, 0.5, 0.97, 1.0}
                                            : std::vector<double>{5e-4, 0.5, 1.0};
  Random random(3);
  std::int64_t tested = 0;
  std::int64_t gathered = 0;
  for (const double share : shares) {
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows));
    for (std::uint8_t& flag : mask) flag = random.uniform() < share ? 1 : 0;
    const auto found = collection.search(queries.view(), 10, mask_of(mask));
    expect_answer(found, points, queries,
                  [&](std::int64_t, std::int64_t row) { return mask[static_cast<std::size_t>(row)] != 0; });
    tested += found.report.filter->tested;
    gathered += found.report.filter->gathered;
    // All points are searched as if there were no filter.
    if (share == 1.0) {
      EXPECT_EQ(found.report.filter->tested + found.report.filter->gathered, 0);
    }
  }
  EXPECT_GT(tested, 0);
  EXPECT_GT(gathered, 0);
}

// Scores of a device can leave points out: in the sample that limits come from, in the pass, and where few queries read
// all points at once.
TEST_P(CollectionFilterOn, PointsLeftOutOfScores) {
  if (GetParam() == Backend::cpu) GTEST_SKIP() << "the cpu tests what it finds";
  const Matrix<float> points = gaussian_points(4000, 21);
  std::vector<std::uint8_t> mask(4000);
  Random random(22);
  for (const double share : {0.1, 0.6}) {
    for (std::uint8_t& flag : mask) flag = random.uniform() < share ? 1 : 0;
    for (const MetricKind metric : {MetricKind::euclidean, MetricKind::inner_product, MetricKind::cosine}) {
      Options options;
      options.backend = GetParam();
      options.metric = metric;
      options.method = share < 0.5 || metric != MetricKind::euclidean ? Method::fused : Method::two_stage;
      options.distance = DistanceStage::fp16;
      const Collection<float> collection(points.view(), {}, options);
      for (const std::int64_t count : {1, 40}) {
        const Matrix<float> queries = gaussian_points(count, 23);
        const auto found = collection.search(queries.view(), 10, mask_of(mask));
        expect_answer(
            found, points, queries,
            [&](std::int64_t, std::int64_t row) { return mask[static_cast<std::size_t>(row)] != 0; }, metric);
        EXPECT_EQ(found.report.filter->narrowed, count) << share << " allowed, " << to_string(metric);
        EXPECT_EQ(found.report.filter->repeated, 0) << share << " allowed, " << to_string(metric);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CollectionFilterOn, testing::ValuesIn(available_backends()),
                         [](const auto& each) { return std::string(to_string(each.param)); });

// A budget that has no room for long lists does for copies.
TEST(CollectionFilter, SmallBudgets) {
  const Matrix<float> points = gaussian_points(kPoints, 12);
  const Matrix<float> queries = gaussian_points(9, 13);
  Random random(14);
  std::vector<std::uint8_t> mask(kPoints);
  for (std::uint8_t& flag : mask) flag = random.uniform() < 0.4 ? 1 : 0;
  Options options;
  options.backend = Backend::cpu;
  for (const std::int64_t budget : {std::int64_t{1} << 16, std::int64_t{1} << 18, std::int64_t{1} << 22}) {
    options.memory_budget = budget;
    const Collection<float> collection(points.view(), {}, options);
    expect_answer(collection.search(queries.view(), 10, mask_of(mask)), points, queries,
                  [&](std::int64_t, std::int64_t row) { return mask[static_cast<std::size_t>(row)] != 0; });
  }
}

// The points that are allowed are the farthest of all, so that no test finds enough of them.
TEST(CollectionFilter, TestsThatFindTooFewAreRepeated) {
  const Matrix<float> points = gaussian_points(kPoints, 4);
  const Matrix<float> queries(3, kDims);  // at the origin
  const Collection<float> collection(points.view());
  std::vector<std::int64_t> order(kPoints);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto length = [&](std::int64_t row) {
    return std::inner_product(points.row(row), points.row(row) + kDims, points.row(row), 0.0);
  };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return length(a) < length(b); });
  std::vector<std::uint8_t> mask(kPoints);
  for (std::size_t i = kPoints / 10; i < order.size(); ++i) mask[static_cast<std::size_t>(order[i])] = 1;
  const auto found = collection.search(queries.view(), 5, mask_of(mask));
  EXPECT_GE(found.report.filter->repeated, 3);
  expect_answer(found, points, queries,
                [&](std::int64_t, std::int64_t row) { return mask[static_cast<std::size_t>(row)] != 0; });
}

// Every query has a mask of its own, of another share.
TEST(CollectionFilter, MasksOfEachQuery) {
  const Matrix<float> points = gaussian_points(kPoints, 5);
  const Matrix<float> queries = gaussian_points(40, 6);
  const Collection<float> collection(points.view());
  Random random(7);
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(queries.rows() * kPoints));
  for (std::int64_t q = 0; q < queries.rows(); ++q)
    for (std::int64_t row = 0; row < kPoints; ++row)
      mask[static_cast<std::size_t>(q * kPoints + row)] =
          random.uniform() < static_cast<double>(q) / static_cast<double>(queries.rows() - 1) ? 1 : 0;
  const auto found = collection.search(queries.view(), 7, mask_of(mask, true));
  expect_answer(found, points, queries, [&](std::int64_t q, std::int64_t row) {
    return mask[static_cast<std::size_t>(q * kPoints + row)] != 0;
  });
  // The same in words of bits.
  const std::int64_t width = (kPoints + 63) / 64;
  std::vector<std::uint64_t> words(static_cast<std::size_t>(queries.rows() * width));
  for (std::int64_t q = 0; q < queries.rows(); ++q)
    for (std::int64_t row = 0; row < kPoints; ++row)
      words[static_cast<std::size_t>(q * width + row / 64)] |=
          static_cast<std::uint64_t>(mask[static_cast<std::size_t>(q * kPoints + row)]) << (row % 64);
  Filter filter;
  filter.mask = FilterMask{.words = words, .each = true};
  const auto again = collection.search(queries.view(), 7, filter);
  EXPECT_EQ(again.ids, found.ids);
  EXPECT_EQ(again.distances, found.distances);
}

TEST(CollectionFilter, QueriesOfOneTagAreSearchedTogether) {
  const Matrix<float> points = gaussian_points(kPoints, 8);
  const Matrix<float> queries = gaussian_points(60, 9);
  std::vector<std::int64_t> tags(kPoints);
  for (std::size_t i = 0; i < tags.size(); ++i) tags[i] = static_cast<std::int64_t>(i % 7);
  const Collection<float> collection(points.view(), {{}, tags});
  std::vector<std::int64_t> wanted;
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t q = 0; q < queries.rows(); ++q) {
    wanted.push_back(q % 3);
    offsets.push_back(static_cast<std::int64_t>(wanted.size()));
  }
  Filter filter;
  filter.tags = FilterLists{wanted, offsets};
  const auto found = collection.search(queries.view(), 4, filter);
  expect_answer(found, points, queries, [](std::int64_t q, std::int64_t row) { return row % 7 == q % 3; });
}

TEST(CollectionFilter, ReductionsAndGraphsAreOfWhatIsLeft) {
  const Matrix<float> points = gaussian_points(900, 10);
  const Matrix<float> queries = gaussian_points(8, 11);
  const Collection<float> collection(points.view());
  std::vector<std::uint8_t> mask(900);
  std::vector<std::int64_t> left;
  std::vector<float> rows;
  std::vector<float> values;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    values.push_back(static_cast<float>(i));
    mask[i] = i % 3 == 0 ? 1 : 0;
    if (mask[i] == 0) continue;
    left.push_back(static_cast<std::int64_t>(i));
    rows.insert(rows.end(), points.row(static_cast<std::int64_t>(i)), points.row(static_cast<std::int64_t>(i)) + kDims);
  }
  const Matrix<float> copies(static_cast<std::int64_t>(left.size()), kDims, rows);
  std::vector<float> values_left;
  for (const std::int64_t row : left) values_left.push_back(values[static_cast<std::size_t>(row)]);
  const Filter filter = mask_of(mask);
  for (const ReduceOp op : {ReduceOp::mean, ReduceOp::weighted_mean, ReduceOp::kth_distance, ReduceOp::covariance}) {
    const auto got = collection.reduce(queries.view(), 5, MatrixView<float>(values.data(), 900, 1), op, filter);
    const auto want =
        reduce(copies.view(), queries.view(), 5, MatrixView<float>(values_left.data(), copies.rows(), 1), op);
    for (std::int64_t i = 0; i < want.values.rows() * want.values.cols(); ++i)
      ASSERT_EQ(got.values.data()[i], want.values.data()[i]) << to_string(op);
  }
  for (const Symmetrize how : {Symmetrize::none, Symmetrize::either, Symmetrize::mutual}) {
    const auto got = collection.graph(4, how, filter);
    const auto want = graph(copies.view(), 4, how);
    ASSERT_EQ(got.indptr, want.indptr);
    ASSERT_EQ(got.indices, want.indices);
    ASSERT_EQ(got.data, want.data);
  }
  const auto radius = collection.search_radius_self(std::vector<float>{4.0F}, filter);
  const auto want = Index<float>(copies.view()).search_radius_self(std::vector<float>{4.0F});
  ASSERT_EQ(radius.offsets, want.offsets);
  ASSERT_EQ(radius.distances, want.distances);
  const std::vector<std::int64_t> none;
  Filter empty;
  empty.allowed = FilterLists{none};
  EXPECT_THROW(collection.reduce(queries.view(), 5, {}, ReduceOp::kth_distance, empty), Error);
  EXPECT_EQ(collection.search(queries.view(), 1, empty).ids, std::vector<std::int64_t>(8, -1));
  EXPECT_TRUE(collection.ids(empty).empty());
}

// A filter for each query is cut into blocks of queries, which needs all of it.
TEST(CollectionFilter, ReductionsRefuseFiltersThatAreTooShort) {
  const Matrix<float> points = gaussian_points(300, 15);
  const Matrix<float> queries = gaussian_points(8, 16);
  const Collection<float> collection(points.view());
  const std::vector<std::uint8_t> mask(300, 1);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"filter.mask has 300 bytes", "300 each"}, [&] {
    collection.reduce(queries.view(), 5, {}, ReduceOp::kth_distance, mask_of(mask, true));
  }));
  const std::vector<std::int64_t> ids = {1, 2, 3};
  const std::vector<std::int64_t> offsets = {0, 3};
  Filter lists;
  lists.allowed = FilterLists{ids, offsets};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"2 offsets; 8 queries need 9"},
                         [&] { collection.reduce(queries.view(), 5, {}, ReduceOp::kth_distance, lists); }));
  const std::vector<std::int64_t> wild = {0, 1000000, 2000000, 2, 2, 2, 2, 2, 3};
  lists.allowed = FilterLists{ids, wild};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"offset 3 is 2"},
                         [&] { collection.reduce(queries.view(), 5, {}, ReduceOp::kth_distance, lists); }));
}

// Queries are refused for what they are, whether a search needs them or not, by their own numbers.
TEST(CollectionFilter, QueriesAreCheckedWhereNothingIsAllowed) {
  Collection<float> collection(gaussian_points(50, 17));
  Matrix<float> queries = gaussian_points(3, 18);
  queries(2, 1) = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::int64_t> none;
  const std::vector<std::int64_t> first = {4};
  const std::vector<std::int64_t> only_second = {0, 0, 1, 1};
  Filter empty;
  empty.allowed = FilterLists{none};
  Filter each;
  each.allowed = FilterLists{first, only_second};
  const std::vector<float> radii = {1.0F};
  for (const Filter& filter : {empty, each}) {
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"query row 2, column 1"},
                           [&] { collection.search(queries.view(), 1, filter); }));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"query row 2, column 1"},
                           [&] { collection.search_radius(queries.view(), radii, filter); }));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"query row 2, column 1"},
                           [&] { collection.reduce(queries.view(), 1, {}, ReduceOp::kth_distance, filter); }));
  }
}

TEST(CollectionFilter, RadiiAreCheckedWhereNothingIsAllowed) {
  const Matrix<float> points = gaussian_points(50, 17);
  const Collection<float> collection(points.view());
  const std::vector<std::int64_t> none;
  Filter empty;
  empty.allowed = FilterLists{none};
  const std::vector<float> wrong = {1, 1, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"radius = nan of query 2"},
                         [&] { collection.search_radius(points.view().rows_from(0, 3), wrong, empty); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"3 radii for 4 queries"},
                         [&] { collection.search_radius(points.view().rows_from(0, 4), wrong, empty); }));
  const std::vector<float> negative = {-1};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"radius = -1"},
                         [&] { collection.search_radius_self(negative, empty); }));
}

TEST(CollectionFilter, IdsAtTheEndsOfTheirRange) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Matrix<float> points = gaussian_points(3, 19);
  const std::vector<std::int64_t> wanted = {kMost, kLeast, kLeast + 2, 0};
  Filter filter;
  filter.allowed = FilterLists{wanted};
  const std::vector<std::int64_t> low = {kLeast, kLeast + 1, kLeast + 2};
  const Collection<float> lowest(points.view(), {low, {}});
  EXPECT_EQ(lowest.ids(filter), (std::vector<std::int64_t>{kLeast, kLeast + 2}));
  EXPECT_FALSE(lowest.contains(kMost));
  const std::vector<std::int64_t> high = {kMost - 2, kMost - 1, kMost};
  const Collection<float> highest(points.view(), {high, {}});
  EXPECT_EQ(highest.ids(filter), (std::vector<std::int64_t>{kMost}));
  EXPECT_FALSE(highest.contains(kLeast));
}

std::int64_t peak_bytes() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

// Numbers of neighbors are those of the lists, which need not be in memory for them.
TEST(CollectionFilter, CountsHoldNoHits) {
  Random random(23);
  const Matrix<float> points = grid_points<float>(20000, 3, random);
  Options options;
  options.backend = Backend::cpu;
  options.memory_budget = std::int64_t{32} << 20;
  Collection<float> collection(points.view(), {}, options);
  collection.add(points.view().rows_from(0, 3000));
  collection.remove(std::vector<std::int64_t>{7});  // so that hits must be looked at
  const std::vector<float> all = {100.0F};
  const std::int64_t before = peak_bytes();
  const auto counted = collection.search_radius(points.view().rows_from(0, 2000), all, {}, RadiusOutput::count_only);
  for (std::int64_t q = 0; q < counted.queries; ++q) ASSERT_EQ(counted.count_of(q), 22999);
  if (!kIsWatched) {
    EXPECT_LT(peak_bytes() - before, std::int64_t{128} << 20);  // of 736 MB of hits
  }
}

TEST(CollectionFilter, CountsAreThoseOfLists) {
  Random random(24);
  const Matrix<float> points = grid_points<float>(1500, 3, random);
  std::vector<std::int64_t> tags(1500);
  for (std::int64_t& tag : tags) tag = random.below(4);
  const std::vector<std::int64_t> wanted = {0, 2};
  Filter tagged;
  tagged.tags = FilterLists{wanted};
  const std::vector<float> one = {1.5F};
  for (const std::int64_t budget : {std::int64_t{0}, std::int64_t{1} << 17}) {
    Options options;
    options.backend = Backend::cpu;
    options.memory_budget = budget;
    Collection<float> collection(points.view(), {{}, tags}, options);
    collection.add(points.view().rows_from(0, 400), {{}, std::vector<std::int64_t>(400, 2)});
    collection.remove(std::vector<std::int64_t>{3, 5, 1600});
    for (const Filter& filter : {Filter{}, tagged}) {
      const auto queries = points.view().rows_from(0, 100);
      EXPECT_EQ(collection.search_radius(queries, one, filter, RadiusOutput::count_only).offsets,
                collection.search_radius(queries, one, filter).offsets);
      const auto rows = static_cast<std::size_t>(collection.ids(filter).size());
      std::vector<float> radii(rows, 1.0F);
      for (std::size_t i = 0; i < rows; i += 3) radii[i] = 2.0F;
      const auto others = collection.search_radius_self(radii, filter);
      EXPECT_EQ(collection.search_radius_self(radii, filter, RadiusOutput::count_only).offsets, others.offsets);
      EXPECT_EQ(static_cast<std::size_t>(others.queries), rows);
    }
  }
}

// Copies that a budget has no room for, of a method that needs all of them.
TEST(CollectionFilter, ErrorsNameTheBudget) {
  const Matrix<float> points = gaussian_points(2000, 25);
  Options options;
  options.backend = Backend::cpu;
  options.method = Method::shifted_sort;
  options.memory_budget = 40000;
  const Collection<float> collection(points.view(), {}, options);
  std::vector<std::uint8_t> mask(2000, 1);
  mask[0] = 0;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"1999 points", "127936 bytes", "budget is 40000 bytes"},
                         [&] { collection.search(points.view().rows_from(0, 2), 3, mask_of(mask)); }));
}

// Devices have shorter lists than tests of a few allowed points would need.
TEST_P(CollectionFilterOn, ShiftedSortIsOfWhatIsLeft) {
  Options options = OnBackend::options();
  options.method = Method::shifted_sort;
  Random random(20);
  const Matrix<float> points = grid_points<float>(2500, 2, random);
  const Matrix<float> queries = grid_points<float>(6, 2, random);
  Collection<float> collection(points.view(), {}, options);
  std::vector<std::uint8_t> mask(2500);
  for (std::size_t i = 0; i < mask.size(); i += 100) mask[i] = 1;
  std::vector<std::int64_t> gone;
  for (std::int64_t id = 0; id < 2500; ++id)
    if (id % 100 != 0) gone.push_back(id);
  std::vector<float> values;
  for (std::int64_t id = 0; id < 2500; id += 100) values.insert(values.end(), points.row(id), points.row(id) + 2);
  const Matrix<float> left(25, 2, values);
  const Neighbors<float> want = search(left.view(), queries.view(), 7, options);
  std::vector<std::int64_t> ids = want.ids;
  for (std::int64_t& id : ids) id *= 100;
  const Neighbors<float> found = collection.search(queries.view(), 7, mask_of(mask));
  EXPECT_EQ(found.ids, ids);
  EXPECT_EQ(found.distances, want.distances);
  collection.remove(gone);
  EXPECT_EQ(collection.search(queries.view(), 7).ids, ids);
}

// What is asked for by name may take fewer neighbors than tests of a few allowed points would need.
TEST_P(CollectionFilterOn, SelectionsOfShortListsSearchCopies) {
  if (is_cpu()) GTEST_SKIP() << "selections of backend cpu take lists of any length";
  const Matrix<float> points = gaussian_points(5000, 21);
  const Matrix<float> queries = gaussian_points(4, 22);
  Options options = OnBackend::options();
  options.select = SelectMethod::warp_select;
  const Collection<float> collection(points.view(), {}, options);
  std::vector<std::uint8_t> mask(5000);
  for (std::size_t i = 0; i < mask.size(); i += 200) mask[i] = 1;
  expect_answer(collection.search(queries.view(), 7, mask_of(mask)), points, queries,
                [&](std::int64_t, std::int64_t row) { return mask[static_cast<std::size_t>(row)] != 0; });
}

}  // namespace
}  // namespace kith::test
