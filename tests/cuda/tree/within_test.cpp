// Radius searches by method tree list and count what a plain oracle finds, for all metrics, under all schedules, with
// and without room for all hits at once.
#include "tree/tree_points.hpp"

namespace kith::test::tree {
namespace {

using TreeWithin = DeviceTest;

struct WithinCase {
  Metric metric;
  std::int64_t room = 1 << 20;  // hits that are sorted at a time
  bool count_only = false;
  bool self = false;
};

template <class T>
struct Found {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> ids;
  std::vector<T> distances;
};

// With c.self, `queries` are the base's own points, and each is left out.
template <class T>
Found<T> within(const PointSet<T>& base, const PointSet<T>& queries, const std::vector<T>& radii, const WithinCase& c) {
  device::Stream stream;
  const DeviceArray<T> points(base.values, stream);
  const DeviceArray<T> asked(queries.values, stream);
  const DeviceIndex<T> index(base.on_device(points.data()), c.metric, stream);
  Plan plan = Wanted{c.metric, 0}.plan_for({base.rows, queries.rows, base.dims, 0, dtype_of<T>()});
  plan.select = SelectMethod::radius;
  plan.candidates = c.room;
  Found<T> found;
  found.offsets.resize(static_cast<std::size_t>(queries.rows) + 1);
  const auto allocate = [&](std::int64_t count) -> NeighborsView<T> {
    found.ids.resize(static_cast<std::size_t>(count));
    found.distances.resize(found.ids.size());
    return {found.ids.data(), found.distances.data()};
  };
  SearchReport report;
  index.begin(c.self ? base.on_device(points.data()) : queries.on_device(asked.data()), stream, kNoProgress, c.self)
      ->search_radius(plan, {radii, c.count_only, c.self, 1 << 20}, {found.offsets.data(), allocate}, report);
  return found;
}

template <class T>
void expect_right(const PointSet<T>& base, const PointSet<T>& queries, const std::vector<T>& radii,
                  const WithinCase& c) {
  const Found<T> found = within(base, queries, radii, c);
  std::int64_t next = 0;
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    ASSERT_EQ(found.offsets[static_cast<std::size_t>(q)], next);
    for (const Neighbor<T>& right : in_order(c.metric, base, queries, q)) {
      if (right.distance > radii[radii.size() == 1 ? 0 : static_cast<std::size_t>(q)]) break;
      if (c.self && right.id == q) continue;
      if (!c.count_only) {
        ASSERT_EQ(found.ids[static_cast<std::size_t>(next)], right.id) << "query " << q;
        ASSERT_EQ(found.distances[static_cast<std::size_t>(next)], right.distance) << "query " << q;
      }
      ++next;
    }
  }
  ASSERT_EQ(found.offsets.back(), next);
}

// A radius for each query, which has a point on it.
template <class T>
std::vector<T> radii_of(const Metric& metric, const PointSet<T>& base, const PointSet<T>& queries) {
  std::vector<T> radii;
  for (std::int64_t q = 0; q < queries.rows; ++q)
    radii.push_back(in_order(metric, base, queries, q)[static_cast<std::size_t>(q * 37 % base.rows)].distance);
  return radii;
}

TEST_F(TreeWithin, ListsAndCountsAreTheOracles) {
  for_each_schedule([] {
    for (const MetricKind kind : {MetricKind::euclidean, MetricKind::sqeuclidean, MetricKind::chebyshev})
      for (const Cloud cloud_kind : {Cloud::uniform, Cloud::duplicates, Cloud::huge})
        for (const bool count_only : {false, true}) {
          const auto base = cloud<float>(cloud_kind, 400, 3, 1);
          const auto queries = cloud<float>(cloud_kind, 5, 3, 2);
          expect_right(base, queries, radii_of<float>(kind, base, queries), {kind, 1 << 20, count_only});
          const auto wide = cloud<double>(cloud_kind, 200, 2, 3, {1, 2});
          const auto wide_queries = cloud<double>(cloud_kind, 4, 2, 4);
          expect_right(wide, wide_queries, radii_of<double>(kind, wide, wide_queries), {kind, 1 << 20, count_only});
        }
  });
}

// Queries that are the base are left out by their ids, copies of them are not, whether boxes are counted whole or not.
TEST_F(TreeWithin, PointsAmongThemselves) {
  for (const Cloud kind : {Cloud::uniform, Cloud::duplicates, Cloud::all_equal})
    for (const bool count_only : {false, true})
      for (const float radius : {0.0F, 0.3F, 5.0F}) {
        const auto base = cloud<float>(kind, 150, 2, 5);
        expect_right(base, base, {radius}, {MetricKind::euclidean, 1 << 20, count_only, true});
      }
}

// Blocks of queries are cut until their hits fit, down to one query.
TEST_F(TreeWithin, AsManyPartsAsMemoryMakes) {
  const auto base = cloud<float>(Cloud::uniform, 300, 2, 6);
  for (const std::int64_t room : {300, 1000, 20000})
    expect_right(base, base, {0.4F}, {MetricKind::euclidean, room, false, true});
  EXPECT_THROW(within(base, base, {1e3F}, {MetricKind::euclidean, 298, false, true}), Error);
}

}  // namespace
}  // namespace kith::test::tree
