// Every way in which a search finds what a filter leaves: all points tested, tests that do not suffice, copies.
#include <gtest/gtest.h>

#include <numeric>

#include "collection/model.hpp"
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
                   const std::function<bool(std::int64_t query, std::int64_t row)>& allowed) {
  for (std::int64_t q = 0; q < found.queries; ++q) {
    Subset<float> subset;
    std::vector<float> values;
    for (std::int64_t row = 0; row < points.rows(); ++row) {
      if (!allowed(q, row)) continue;
      subset.ids.push_back(row);
      values.insert(values.end(), points.row(row), points.row(row) + kDims);
    }
    subset.points = Matrix<float>(static_cast<std::int64_t>(subset.ids.size()), kDims, std::move(values));
    const auto [ids, distances] = answer(subset, queries.view().rows_from(q, 1), found.k, Options{});
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

}  // namespace
}  // namespace kith::test
