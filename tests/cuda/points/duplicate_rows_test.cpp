// Groups of equal rows against a map of all rows; whatever the hash, a group has equal rows only.
#include "cuda/points/duplicate_rows.hpp"

#include <functional>
#include <map>
#include <numeric>

#include "device_test.hpp"
#include "point_set.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using DuplicateRows = DeviceTest;

struct HostGroups {
  std::vector<unsigned> first_ids, offsets, members;
};

template <class V>
std::vector<V> on_host(const device::DeviceBuffer<V>& buffer) {
  std::vector<V> values(buffer.size());
  KITH_CUDA(cudaMemcpy(values.data(), buffer.data(), values.size() * sizeof(V), cudaMemcpyDeviceToHost));
  return values;
}

template <class F>
std::optional<HostGroups> groups_of(const PointSet<F>& points, std::int64_t max_groups, unsigned long long mask) {
  const device::Stream stream;
  DeviceArray<F> there(points.values, stream);
  device::Workspace workspace(stream);
  const auto found = device::group_equal_rows<F>({there.data() + points.offset, points.rows, points.stride},
                                                 points.dims, {max_groups, mask}, workspace);
  if (!found) return std::nullopt;
  EXPECT_EQ(found->count, static_cast<std::int64_t>(found->first_ids.size()));
  return HostGroups{on_host(found->first_ids), on_host(found->offsets), on_host(found->members)};
}

// Row i is a copy of row source(i) of `distinct` random rows, where −0 and 0 take turns.
template <class F, class Source>
PointSet<F> copies(std::int64_t rows, std::int64_t dims, std::int64_t distinct, RowLayout layout, Source source) {
  Random random(7);
  std::vector<F> values(static_cast<std::size_t>(distinct * dims));
  for (F& value : values) value = static_cast<F>(random.below(3) - 1);
  for (std::int64_t i = 0; i < distinct; ++i)  // so that rows differ
    values[static_cast<std::size_t>(i * dims + i % dims)] = static_cast<F>(i + 2);
  PointSet<F> points(rows, dims, layout);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t c = 0; c < dims; ++c) {
      const F value = values[static_cast<std::size_t>(source(i) * dims + c)];
      points.at(i, c) = value == 0 && i % 2 == 1 ? F{-0.0} : value;
    }
  }
  return points;
}

template <class F>
HostGroups right_groups(const PointSet<F>& points) {
  std::map<std::vector<F>, std::vector<unsigned>> by_row;  // −0 and 0 are equivalent in its order
  for (std::int64_t i = 0; i < points.rows; ++i)
    by_row[std::vector<F>(points.row(i), points.row(i) + points.dims)].push_back(static_cast<unsigned>(i));
  std::map<unsigned, std::vector<unsigned>> by_first;
  for (const auto& group : by_row) by_first[group.second.front()] = group.second;
  HostGroups right{{}, {0}, {}};
  for (const auto& [first, members] : by_first) {
    right.first_ids.push_back(first);
    right.members.insert(right.members.end(), members.begin(), members.end());
    right.offsets.push_back(static_cast<unsigned>(right.members.size()));
  }
  return right;
}

template <class F>
void expect_right_groups() {
  struct Base {
    std::int64_t rows, dims, distinct;
    RowLayout layout;
  };
  for (const Base& base : {Base{1, 1, 1, {}}, {500, 3, 40, {}}, {300, 33, 150, {1, 2}}, {257, 64, 1, {}}}) {
    const auto side_by_side = [&](std::int64_t i) { return i * base.distinct / base.rows; };
    const auto in_turn = [&](std::int64_t i) { return i % base.distinct; };
    const auto anyhow = [&](std::int64_t i) { return (i * i + i / 3) % base.distinct; };
    const std::function<std::int64_t(std::int64_t)> orders[] = {side_by_side, in_turn, anyhow};
    for (const auto& source : orders) {
      const auto points = copies<F>(base.rows, base.dims, base.distinct, base.layout, source);
      const HostGroups right = right_groups(points);
      const auto count = static_cast<std::int64_t>(right.first_ids.size());
      const auto found = groups_of(points, count, ~0ULL);
      ASSERT_TRUE(found) << base.rows << " rows";
      EXPECT_EQ(found->first_ids, right.first_ids);
      EXPECT_EQ(found->offsets, right.offsets);
      EXPECT_EQ(found->members, right.members);
      EXPECT_FALSE(groups_of(points, count - 1, ~0ULL));
    }
  }
}

TEST_F(DuplicateRows, AreThoseOfAMap) {
  for_each_schedule([] { expect_right_groups<float>(); });
  expect_right_groups<double>();
}

TEST_F(DuplicateRows, DifferWhereHashesDoNot) {
  const auto points = copies<float>(400, 5, 20, {}, [](std::int64_t i) { return (i / 3 + i * i) % 20; });
  for (const unsigned long long mask : {0ULL, 1ULL, 6ULL}) {
    const auto found = groups_of(points, points.rows, mask);
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::is_sorted(found->first_ids.begin(), found->first_ids.end()));
    std::vector<unsigned> all = found->members;
    std::sort(all.begin(), all.end());
    std::vector<unsigned> ids(400);
    std::iota(ids.begin(), ids.end(), 0U);
    EXPECT_EQ(all, ids);
    EXPECT_GE(found->first_ids.size(), 20U);
    EXPECT_LT(found->first_ids.size(), 400U);
    for (std::size_t g = 0; g < found->first_ids.size(); ++g) {
      const auto* const begin = found->members.data() + found->offsets[g];
      const auto* const end = found->members.data() + found->offsets[g + 1];
      EXPECT_EQ(*begin, found->first_ids[g]);
      EXPECT_TRUE(std::is_sorted(begin, end));
      for (const auto* id = begin; id != end; ++id)
        EXPECT_TRUE(std::equal(points.row(*begin), points.row(*begin) + points.dims, points.row(*id)))
            << *begin << " and " << *id << " with mask " << mask;
    }
  }
}

TEST_F(DuplicateRows, NanEqualsNothing) {
  PointSet<double> points(100, 2);
  for (std::int64_t i = 0; i < points.rows; ++i) {
    points.at(i, 0) = 3;
    points.at(i, 1) = i < 10 ? std::numeric_limits<double>::quiet_NaN() : 4;
  }
  const auto found = groups_of(points, points.rows, ~0ULL);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first_ids, (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

// Pairs that lie side by side are the fewest and the hardest to meet by a sample.
TEST_F(DuplicateRows, AreFoundByASample) {
  constexpr std::int64_t kRows = 70000;
  const auto pairs = copies<float>(kRows, 1, kRows / 2, {}, [](std::int64_t i) { return i / 2; });
  const auto found = groups_of(pairs, kRows / 2, ~0ULL);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first_ids.size(), static_cast<std::size_t>(kRows / 2));
  const auto fewer = copies<float>(kRows, 1, kRows * 9 / 10, {}, [](std::int64_t i) { return i * 9 / 10; });
  EXPECT_FALSE(groups_of(fewer, kRows / 2, ~0ULL));
}

TEST_F(DuplicateRows, FirstRowsAreCopied) {
  const device::Stream stream;
  const auto points = copies<float>(90, 7, 9, {2, 3}, [](std::int64_t i) { return (i * 4) % 9; });
  DeviceArray<float> there(points.values, stream);
  device::Workspace workspace(stream);
  const device::PointRows<float> rows{there.data() + points.offset, points.rows, points.stride};
  const auto groups = device::group_equal_rows(rows, points.dims, {9}, workspace);
  ASSERT_TRUE(groups);
  const auto store = device::first_rows(rows, points.dims, *groups, MetricKind::euclidean, true, stream);
  ASSERT_EQ(store.count(), 9);
  std::vector<float> got(9 * 7);
  KITH_CUDA(cudaStreamSynchronize(stream));
  KITH_CUDA(cudaMemcpy(got.data(), store.exact(0, 9).rows.data, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
  const std::vector<unsigned> first_ids = on_host(groups->first_ids);
  for (std::size_t g = 0; g < 9; ++g)
    for (std::int64_t c = 0; c < 7; ++c)
      EXPECT_EQ(got[g * 7 + static_cast<std::size_t>(c)], points.at(first_ids[g], c)) << g << ", " << c;
}

}  // namespace
}  // namespace kith::test
