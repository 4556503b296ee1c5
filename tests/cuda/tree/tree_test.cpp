// The tree of a base on a device: it has every point once, boxes hold their points, leaves are as small as halving
// makes them, copies of a point are in the order of their ids and counted.
#include "cuda/tree/tree.hpp"

#include <map>
#include <set>

#include "device_test.hpp"
#include "point_set.hpp"

namespace kith::test::tree {
namespace {

using TreeOfBoxes = DeviceTest;

using device::tree::kFanOut;
using device::tree::kLeafPoints;

template <class V>
std::vector<V> from_device(const V* data, std::size_t count, cudaStream_t stream) {
  std::vector<V> values(count);
  KITH_CUDA(cudaMemcpyAsync(values.data(), data, count * sizeof(V), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return values;
}

// A tree's arrays on the host.
template <class T>
struct HostTree {
  HostTree(const PointSet<T>& points, const Metric& metric) : dims(static_cast<std::size_t>(points.dims)) {
    const DeviceArray<T> there(points.values, stream);
    device::Workspace workspace(stream);
    const device::tree::Tree<T> tree({there.data() + points.offset, points.rows, points.stride}, points.dims, metric,
                                     {}, workspace);
    const auto& view = tree.view();
    scale = view.scale;
    ids = from_device(view.ids, view.count, stream);
    const std::size_t leaves = view.level[0].count;
    coordinates = from_device(view.points, leaves * kLeafPoints * dims, stream);
    for (int level = 0; level < view.levels; ++level) {
      const std::size_t groups = (view.level[level].count + kFanOut - 1) / kFanOut;
      boxes.push_back(from_device(view.level[level].boxes, groups * kFanOut * 2 * dims, stream));
      copies.emplace_back();
      if (view.level[level].copies_before != nullptr)
        copies.back() = from_device(view.level[level].copies_before, view.level[level].count, stream);
    }
  }

  T coordinate(std::size_t position, std::size_t c) const {
    return coordinates[position / kLeafPoints * kLeafPoints * dims + c * kLeafPoints + position % kLeafPoints];
  }
  T side(std::size_t level, std::size_t box, std::size_t c, std::size_t which) const {
    return boxes[level][(box / kFanOut * dims + c) * 2 * kFanOut + which * kFanOut + box % kFanOut];
  }

  device::Stream stream;
  std::size_t dims;
  T scale = 1;
  std::vector<unsigned> ids;
  std::vector<T> coordinates;
  std::vector<std::vector<T>> boxes;
  std::vector<std::vector<unsigned>> copies;
};

template <class T>
void check_tree(const PointSet<T>& points) {
  const HostTree<T> tree(points, MetricKind::euclidean);
  ASSERT_EQ(tree.ids.size(), static_cast<std::size_t>(points.rows));
  ASSERT_EQ(std::set<unsigned>(tree.ids.begin(), tree.ids.end()).size(), tree.ids.size());
  for (std::size_t i = 0; i < tree.ids.size(); ++i)
    for (std::size_t c = 0; c < tree.dims; ++c) {
      const T given = points.at(tree.ids[i], static_cast<std::int64_t>(c));
      ASSERT_EQ(tree.coordinate(i, c), given * tree.scale);
      std::size_t box = i / kLeafPoints;
      for (std::size_t level = 0; level < tree.boxes.size(); ++level, box /= kFanOut) {
        ASSERT_LE(tree.side(level, box, c, 0), given * tree.scale);
        ASSERT_GE(tree.side(level, box, c, 1), given * tree.scale);
      }
      ASSERT_EQ(box, 0U);
    }
}

TEST_F(TreeOfBoxes, HoldsEveryPointOnce) {
  for_each_schedule([] {
    for (const Cloud kind : {Cloud::gaussian, Cloud::duplicates, Cloud::all_equal, Cloud::line, Cloud::huge})
      for (const std::int64_t rows : {1, 31, 32, 33, 1100, 2049}) {
        check_tree(cloud<float>(kind, rows, 3, 1));
        check_tree(cloud<double>(kind, rows, 2, 2, {1, 2}));
      }
  });
  check_tree(cloud<float>(Cloud::clustered, under_sanitizer() ? 5000 : 40000, 2, 3));
  check_tree(cloud<double>(Cloud::uniform, 9000, 5, 3));
}

// The volume of all leaves of uniform points is about theirs, whatever else lies far away.
TEST_F(TreeOfBoxes, LeavesAreSmall) {
  auto points = cloud<float>(Cloud::uniform, 8192, 2, 1);
  const auto area = [](const HostTree<float>& tree) {
    double sum = 0;
    for (std::size_t leaf = 0; leaf < tree.ids.size() / kLeafPoints; ++leaf) {
      const auto side = [&](std::size_t c) {
        return static_cast<double>(tree.side(0, leaf, c, 1)) - static_cast<double>(tree.side(0, leaf, c, 0));
      };
      if (side(0) < 1e6 && side(1) < 1e6) sum += side(0) * side(1);
    }
    return sum;
  };
  const HostTree<float> tree(points, MetricKind::manhattan);
  const double usual = area(tree);
  const std::size_t top = tree.boxes.size() - 1;
  double all = 1;
  for (std::size_t c = 0; c < 2; ++c) {
    float least = tree.side(top, 0, c, 0);
    float greatest = tree.side(top, 0, c, 1);
    for (std::size_t box = 0; box < 8; ++box) {  // 8192 points are eight boxes of 1024
      least = std::min(least, tree.side(top, box, c, 0));
      greatest = std::max(greatest, tree.side(top, box, c, 1));
    }
    all *= static_cast<double>(greatest - least);
  }
  EXPECT_GT(usual, 0.7 * all);
  EXPECT_LT(usual, all);
  points.at(4321, 0) = 1e30F;
  EXPECT_NEAR(area(HostTree<float>(points, MetricKind::manhattan)), usual, 0.05 * usual);
}

TEST_F(TreeOfBoxes, CountsCopies) {
  auto points = cloud<float>(Cloud::uniform, 6000, 2, 1);
  for (std::int64_t i = 0; i < points.rows; ++i)
    if (i % 3 != 0) points.at(i, 0) = points.at(i, 1) = static_cast<float>(i % 3) / 4;
  const HostTree<float> tree(points, MetricKind::euclidean);
  std::map<std::pair<float, float>, unsigned> seen;
  std::map<std::pair<float, float>, unsigned> last_id;
  std::vector<unsigned> before(tree.ids.size());
  for (std::size_t i = 0; i < tree.ids.size(); ++i) {
    const std::pair point(tree.coordinate(i, 0), tree.coordinate(i, 1));
    before[i] = seen[point]++;
    if (before[i] > 0) {
      EXPECT_LT(last_id[point], tree.ids[i]);
    }
    last_id[point] = tree.ids[i];
  }
  std::size_t span = kLeafPoints;
  std::size_t behind_copies = 0;
  for (const std::vector<unsigned>& level : tree.copies) {
    ASSERT_FALSE(level.empty());
    for (std::size_t box = 0; box < level.size(); ++box) {
      behind_copies += level[box] > 100 ? 1 : 0;
      for (std::size_t i = box * span; i < std::min(tree.ids.size(), (box + 1) * span); ++i)
        ASSERT_LE(level[box], before[i]);
    }
    span *= kFanOut;
  }
  EXPECT_GT(behind_copies, 4000 / kLeafPoints * 2 / 3);  // runs of them begin anew where nodes do
}

}  // namespace
}  // namespace kith::test::tree
