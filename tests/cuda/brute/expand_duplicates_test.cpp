// Lists of groups become lists of rows: what sorting all rows gives. And searches of an index that found such groups.
#include "cuda/brute/expand_duplicates.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "device_index.hpp"
#include "point_set.hpp"
#include "support/large_device.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using ExpandDuplicates = DeviceTest;

template <class V>
device::DeviceBuffer<V> on_device(const std::vector<V>& values, cudaStream_t stream) {
  device::DeviceBuffer<V> buffer(values.size(), stream);
  KITH_CUDA(cudaMemcpyAsync(buffer.data(), values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return buffer;
}

// Rows in groups, numbered by their smallest ids.
struct Grouping {
  std::vector<unsigned> group_of, first_ids, offsets, members;

  Grouping(std::int64_t rows, std::int64_t groups, Random& random) {
    std::vector<std::vector<unsigned>> by_label(static_cast<std::size_t>(groups));
    for (std::int64_t i = 0; i < rows; ++i)
      by_label[static_cast<std::size_t>(i < groups ? i : random.below(groups))].push_back(static_cast<unsigned>(i));
    group_of.resize(static_cast<std::size_t>(rows));
    offsets = {0};
    for (unsigned g = 0; g < by_label.size(); ++g) {
      first_ids.push_back(by_label[g].front());
      for (const unsigned id : by_label[g]) group_of[id] = g;
      members.insert(members.end(), by_label[g].begin(), by_label[g].end());
      offsets.push_back(static_cast<unsigned>(members.size()));
    }
  }
};

// By (value, id), NaN last, −0 like 0.
template <class F>
auto rank_of(F key, unsigned id) {
  return std::tuple(std::isnan(key), std::isnan(key) ? F{0} : key, id);
}

template <class F>
std::vector<unsigned> first_by_key(const std::vector<F>& key_of, std::int64_t k) {
  std::vector<unsigned> ids(key_of.size());
  std::iota(ids.begin(), ids.end(), 0U);
  std::sort(ids.begin(), ids.end(),
            [&](unsigned a, unsigned b) { return rank_of(key_of[a], a) < rank_of(key_of[b], b); });
  ids.resize(static_cast<std::size_t>(k));
  return ids;
}

struct Expansion {
  std::int64_t rows, groups, values;  // `values`: different keys
};

template <class F>
void expect_expanded(const Expansion& shape, std::int64_t k) {
  SCOPED_TRACE(testing::Message() << shape.rows << " rows in " << shape.groups << " groups, " << shape.values
                                  << " keys, k = " << k);
  constexpr std::int64_t kQueries = 11;
  Random random(static_cast<std::uint64_t>(shape.rows + k));
  const Grouping grouping(shape.rows, shape.groups, random);
  const std::int64_t width = std::min(k, shape.groups);
  std::vector<F> list_keys, right_keys;
  std::vector<unsigned> list_groups, right_ids;
  for (std::int64_t q = 0; q < kQueries; ++q) {
    std::vector<F> keys(static_cast<std::size_t>(shape.groups));
    for (F& key : keys) {
      const std::int64_t value = random.below(shape.values);
      key = value == 1 ? std::numeric_limits<F>::quiet_NaN() : static_cast<F>(value) * (value == 0 ? F{-1} : F{1});
    }
    for (const unsigned group : first_by_key(keys, width)) {
      list_groups.push_back(group);
      list_keys.push_back(keys[group]);
    }
    std::vector<F> row_keys;
    for (const unsigned group : grouping.group_of) row_keys.push_back(keys[group]);
    for (const unsigned id : first_by_key(row_keys, k)) {
      right_ids.push_back(id);
      right_keys.push_back(row_keys[id]);
    }
  }
  const device::Stream stream;
  const device::RowGroups groups{shape.groups, on_device(grouping.first_ids, stream),
                                 on_device(grouping.offsets, stream), on_device(grouping.members, stream)};
  DeviceArray<F> keys(std::vector<F>(right_keys.size()), stream);
  DeviceArray<unsigned> ids(std::vector<unsigned>(right_ids.size()), stream);
  const DeviceArray<F> from_keys(list_keys, stream);
  const DeviceArray<unsigned> from_groups(list_groups, stream);
  device::brute::expand_duplicates<F>({from_keys.data(), from_groups.data(), kQueries, width}, groups, k, keys.data(),
                                      ids.data(), stream);
  ASSERT_EQ(ids.values(), right_ids);
  const std::vector<F> got = keys.values();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(rank_of(got[i], 0), rank_of(right_keys[i], 0)) << i;
}

TEST_F(ExpandDuplicates, IsTheOrderOfAllRows) {
  for_each_schedule([] {
    for (const Expansion& shape : {Expansion{300, 300, 40},
                                   {300, 150, 1000},
                                   {700, 40, 6},
                                   {900, 70, 3},
                                   {500, 3, 9},
                                   {64, 1, 1},
                                   {200, 100, 1}})
      for (const std::int64_t k : {1, 2, 31, 32, 33, 64, 150, 300, 699, 900}) {
        if (k > shape.rows) continue;
        expect_expanded<float>(shape, k);
        expect_expanded<double>(shape, k);
      }
  });
  expect_expanded<float>({500, 3, 9}, 500);
}

// An index that serves one search looks for duplicates where the planner asks, and searches as it plans.
TEST_F(ExpandDuplicates, OneSearchFindsThemWhenAsked) {
  const device::Stream stream;
  Options options;
  PointSet<float> base = cloud<float>(Cloud::gaussian, 600, 5, 3);
  for (std::int64_t i = 30; i < base.rows; ++i) std::copy_n(base.row((i * i) % 30), base.dims, base.row(i));
  const PointSet<float> queries = cloud<float>(Cloud::gaussian, 9, 5, 4);
  const auto index = device::make_index<float>({base.view(), options, {.distinct_limit = 300}, stream});
  const Problem problem{base.rows, queries.rows, base.dims, 3, DType::float32};
  EXPECT_EQ(index->facts(problem).distinct_rows, 0);
  const auto search = index->begin({queries.view(), false, kNoProgress});
  ASSERT_EQ(search->samples().distinct_rows(), 30);
  EXPECT_EQ(index->facts(problem).distinct_rows, 30);
  EXPECT_EQ(index->facts(problem).distinct_limit, 0) << "nobody looks twice";
  for (const std::int64_t k : {1, 50, 600}) {
    const Plan plan = plan::plan_device_distinct({600, 9, 5, k, DType::float32}, options, large_device(), {}, 30);
    std::vector<float> distances(static_cast<std::size_t>(9 * k));
    std::vector<std::int64_t> ids(distances.size());
    SearchReport report;
    search->search(plan, {ids.data(), distances.data()}, report);
    for (std::int64_t q = 0; q < 9; ++q) {
      const auto right = in_order(options.metric, base, queries, q);
      for (std::int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(q * k + i);
        ASSERT_EQ(ids[at], right[static_cast<std::size_t>(i)].id) << "query " << q << ", rank " << i;
        ASSERT_EQ(distances[at], right[static_cast<std::size_t>(i)].distance) << "query " << q << ", rank " << i;
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
