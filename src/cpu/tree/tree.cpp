#include "cpu/tree/tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/instantiate.hpp"
#include "cpu/parallel.hpp"
#include "cpu/tree/split_order.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kLeavesOfTask = 64;

std::int64_t parts_of(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

template <class F>
F& side(F* boxes, std::int64_t dims, std::int64_t box, std::int64_t c, int greatest) {
  const std::int64_t group = box / kFanOut * kFanOut;
  return boxes[group * 2 * dims + (2 * c + greatest) * kFanOut + box % kFanOut];
}

// Whether rows that are equal in working precision are so as they were given.
template <Element T>
bool are_given_equal(const MatrixView<T>& view, const std::uint32_t* ids, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i)
    for (std::int64_t c = 0; c < view.cols; ++c)
      if (!(view(ids[i], c) == view(ids[0], c))) return false;
  return true;
}

template <class F>
bool is_point(const F* boxes, std::int64_t dims, std::int64_t box) {
  for (std::int64_t c = 0; c < dims; ++c) {
    F* const sides = const_cast<F*>(boxes);
    if (!(side(sides, dims, box, c, 0) == side(sides, dims, box, c, 1))) return false;
  }
  return true;
}

template <class F>
typename Tree<F>::Level make_level(std::int64_t count, std::int64_t dims) {
  typename Tree<F>::Level level;
  level.boxes.resize(static_cast<std::size_t>(parts_of(count, kFanOut) * kFanOut * 2 * dims));
  level.equal.resize(static_cast<std::size_t>(count));
  return level;
}

// Brings the points of a leaf into blocks, and makes its box.
template <Element T>
void fill_leaf(const PreparedRows<T>& base, const std::vector<DistanceOf<T>>& rows, std::int64_t leaf,
               Tree<DistanceOf<T>>& tree) {
  using F = DistanceOf<T>;
  const std::int64_t dims = tree.dims;
  const std::int64_t first = leaf * kLeafPoints;
  const std::int64_t count = std::min(kLeafPoints, tree.rows - first);
  typename Tree<F>::Level& level = tree.levels[0];
  for (std::int64_t c = 0; c < dims; ++c) {
    F least = std::numeric_limits<F>::infinity();
    F greatest = -std::numeric_limits<F>::infinity();
    for (std::int64_t i = first; i < first + count; ++i) {
      const F value = rows[static_cast<std::size_t>(i * dims + c)];
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      tree.points[static_cast<std::size_t>(block_offset<F>(i, dims) + c * kBlockPoints<F>)] = value;
    }
    side(level.boxes.data(), dims, leaf, c, 0) = least;
    side(level.boxes.data(), dims, leaf, c, 1) = greatest;
  }
  const bool equal = is_point(level.boxes.data(), dims, leaf) &&
                     (tree.has_given_points || are_given_equal(base.view, tree.ids.data() + first, count));
  level.equal[static_cast<std::size_t>(leaf)] = equal ? 1 : 0;
}

// Makes the level of boxes around those of the one below, whose boxes cover `points` points each.
template <Element T>
void add_level(const PreparedRows<T>& base, std::int64_t points, Tree<DistanceOf<T>>& tree) {
  using F = DistanceOf<T>;
  const std::int64_t dims = tree.dims;
  typename Tree<F>::Level& below = tree.levels.back();
  const auto children = static_cast<std::int64_t>(below.equal.size());
  typename Tree<F>::Level level = make_level<F>(parts_of(children, kFanOut), dims);
  for (std::int64_t box = 0; box < parts_of(children, kFanOut); ++box) {
    const std::int64_t first = box * kFanOut;
    const std::int64_t last = std::min(children, first + kFanOut);
    for (std::int64_t c = 0; c < dims; ++c) {
      F least = side(below.boxes.data(), dims, first, c, 0);
      F greatest = side(below.boxes.data(), dims, first, c, 1);
      for (std::int64_t child = first + 1; child < last; ++child) {
        least = std::min(least, side(below.boxes.data(), dims, child, c, 0));
        greatest = std::max(greatest, side(below.boxes.data(), dims, child, c, 1));
      }
      side(level.boxes.data(), dims, box, c, 0) = least;
      side(level.boxes.data(), dims, box, c, 1) = greatest;
    }
    bool equal = is_point(level.boxes.data(), dims, box);
    for (std::int64_t child = first; equal && child < last; ++child) {
      const std::uint32_t pair[] = {tree.ids[static_cast<std::size_t>(first * points)],
                                    tree.ids[static_cast<std::size_t>(child * points)]};
      equal = below.equal[static_cast<std::size_t>(child)] != 0 &&
              (tree.has_given_points || are_given_equal(base.view, pair, 2));
    }
    level.equal[static_cast<std::size_t>(box)] = equal ? 1 : 0;
  }
  tree.levels.push_back(std::move(level));
}

}  // namespace

template <Element T>
Tree<DistanceOf<T>> make_tree(const PreparedRows<T>& base, int threads, ProgressMeter& progress) {
  using F = DistanceOf<T>;
  OrderedRows<F> ordered = split_order(base, kLeafPoints, threads, progress);
  Tree<F> tree;
  tree.rows = base.view.rows;
  tree.dims = base.view.cols;
  tree.has_given_points = base.scale == 1;
  tree.ids = std::move(ordered.ids);
  const std::int64_t leaves = parts_of(tree.rows, kLeafPoints);
  tree.points.resize(static_cast<std::size_t>(leaves * kLeafPoints * tree.dims));
  tree.levels.push_back(make_level<F>(leaves, tree.dims));
  parallel_for(threads, parts_of(leaves, kLeavesOfTask), [&](std::int64_t task, int worker) {
    progress.check(worker);
    const std::int64_t last = std::min(leaves, (task + 1) * kLeavesOfTask);
    for (std::int64_t leaf = task * kLeavesOfTask; leaf < last; ++leaf) fill_leaf(base, ordered.rows, leaf, tree);
  });
  for (std::int64_t points = kLeafPoints; tree.levels.back().equal.size() > kFanOut; points *= kFanOut)
    add_level(base, points, tree);
  for (const typename Tree<F>::Level& level : tree.levels)
    tree.views.push_back({level.boxes.data(), static_cast<std::int64_t>(level.equal.size()), level.equal.data()});
  return tree;
}

#define KITH_INSTANTIATE(T) template Tree<DistanceOf<T>> make_tree(const PreparedRows<T>&, int, ProgressMeter&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
