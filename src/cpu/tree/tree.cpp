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

// A side of a box, in the layout of simd/tree_walk.hpp.
template <class F>
F& side(F* boxes, std::int64_t dims, std::int64_t box, std::int64_t c, int greatest) {
  const std::int64_t group = box / kFanOut * kFanOut;
  return boxes[group * 2 * dims + (2 * c + greatest) * kFanOut + box % kFanOut];
}

// Whether a full leaf has copies of one point only, as they were given.
template <Element T>
bool is_one_point(const MatrixView<T>& view, const std::uint32_t* ids) {
  for (std::int64_t i = 1; i < kLeafPoints; ++i)
    for (std::int64_t c = 0; c < view.cols; ++c)
      if (!(view(ids[i], c) == view(ids[0], c))) return false;
  return true;
}

template <class F>
typename Tree<F>::Level make_level(std::int64_t count, std::int64_t dims) {
  typename Tree<F>::Level level;
  level.count = count;
  level.boxes.resize(static_cast<std::size_t>(parts_of(count, kFanOut) * kFanOut * 2 * dims));
  return level;
}

// Brings the points of a leaf into blocks, and makes its box. Returns whether that is a single point.
template <class F>
bool fill_leaf(const std::vector<F>& rows, std::int64_t leaf, Tree<F>& tree) {
  const std::int64_t dims = tree.dims;
  const std::int64_t first = leaf * kLeafPoints;
  const std::int64_t count = std::min(kLeafPoints, tree.rows - first);
  typename Tree<F>::Level& level = tree.levels[0];
  bool is_point = true;
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
    is_point = is_point && least == greatest;
  }
  return is_point;
}

// Makes the level of boxes around those of the one below.
template <class F>
typename Tree<F>::Level level_above(const typename Tree<F>::Level& below, std::int64_t dims) {
  typename Tree<F>::Level level = make_level<F>(parts_of(below.count, kFanOut), dims);
  const F* const inner = below.boxes.data();
  for (std::int64_t box = 0; box < level.count; ++box) {
    const std::int64_t first = box * kFanOut;
    const std::int64_t last = std::min(below.count, first + kFanOut);
    for (std::int64_t c = 0; c < dims; ++c) {
      F least = side(inner, dims, first, c, 0);
      F greatest = side(inner, dims, first, c, 1);
      for (std::int64_t child = first + 1; child < last; ++child) {
        least = std::min(least, side(inner, dims, child, c, 0));
        greatest = std::max(greatest, side(inner, dims, child, c, 1));
      }
      side(level.boxes.data(), dims, box, c, 0) = least;
      side(level.boxes.data(), dims, box, c, 1) = greatest;
    }
    if (!below.copies_before.empty())
      level.copies_before.push_back(
          *std::min_element(below.copies_before.begin() + first, below.copies_before.begin() + last));
  }
  return level;
}

// Counts the copies of points that fill a leaf, or several: for each leaf how many its points have before them at
// least. Copies are in the order of their ids. Empty where there are none.
template <Element T>
std::vector<std::uint32_t> count_copies(const PreparedRows<T>& base, const Tree<DistanceOf<T>>& tree,
                                        const std::vector<std::uint8_t>& is_point) {
  const auto precedes = [&](std::uint32_t a, std::uint32_t b) {
    for (std::int64_t c = 0; c < tree.dims; ++c)
      if (base.view(a, c) != base.view(b, c)) return base.view(a, c) < base.view(b, c);
    return false;
  };
  std::vector<std::uint32_t> points;  // a copy of each, sorted
  for (std::int64_t leaf = 0; leaf < tree.rows / kLeafPoints; ++leaf) {
    const std::uint32_t* const ids = tree.ids.data() + leaf * kLeafPoints;
    if (is_point[static_cast<std::size_t>(leaf)] != 0 && is_one_point(base.view, ids)) points.push_back(ids[0]);
  }
  if (points.empty()) return {};
  std::sort(points.begin(), points.end(), precedes);
  points.erase(std::unique(points.begin(), points.end(),
                           [&](std::uint32_t a, std::uint32_t b) { return !precedes(a, b) && !precedes(b, a); }),
               points.end());
  std::vector<std::uint32_t> counts(points.size());
  std::vector<std::uint32_t> before(is_point.size(), std::numeric_limits<std::uint32_t>::max());
  for (std::int64_t i = 0; i < tree.rows; ++i) {
    const std::uint32_t id = tree.ids[static_cast<std::size_t>(i)];
    const auto at = std::lower_bound(points.begin(), points.end(), id, precedes);
    const bool is_copy = at != points.end() && !precedes(id, *at);
    const std::uint32_t rank = is_copy ? counts[static_cast<std::size_t>(at - points.begin())]++ : 0;
    std::uint32_t& least = before[static_cast<std::size_t>(i / kLeafPoints)];
    least = std::min(least, rank);
  }
  return before;
}

}  // namespace

template <class F>
void finish_tree(Tree<F>& tree) {
  tree.numbers = {tree.has_given_points ? 1.0 : 0.0, static_cast<double>(tree.levels.size()),
                  static_cast<double>(tree.axes.size())};
  for (const typename Tree<F>::Level& level : tree.levels) {
    const std::uint32_t* const copies = level.copies_before.empty() ? nullptr : level.copies_before.data();
    tree.views.push_back({level.boxes.data(), level.count, copies});
    tree.numbers.insert(tree.numbers.end(), {static_cast<double>(level.count), copies != nullptr ? 1.0 : 0.0});
  }
  for (std::size_t i = 0; i < tree.axes.size(); ++i) {
    const core::PeriodicAxis& axis = tree.axes[i];
    tree.numbers.insert(tree.numbers.end(), {axis.period, axis.largest, axis.origin, axis.wraps ? 1.0 : 0.0,
                                             axis.is_narrow ? 1.0 : 0.0, static_cast<double>(tree.periods[i])});
  }
}

template <Element T>
Tree<DistanceOf<T>> make_tree(const PreparedRows<T>& base, const std::vector<double>& period, int threads,
                              ProgressMeter& progress) {
  using F = DistanceOf<T>;
  Tree<F> tree;
  tree.axes = periodic_axes(base.view, period);
  for (const core::PeriodicAxis& axis : tree.axes) tree.periods.push_back(core::working_period<F>(axis, base.scale));
  OrderedRows<F> ordered = split_order(base, tree.axes, kLeafPoints, threads, progress);
  tree.rows = base.view.rows;
  tree.dims = base.view.cols;
  tree.has_given_points = base.scale == 1 && !tree.is_periodic();
  tree.ids = std::move(ordered.ids);
  const std::int64_t leaves = parts_of(tree.rows, kLeafPoints);
  tree.points.resize(static_cast<std::size_t>(leaves * kLeafPoints * tree.dims));
  tree.levels.push_back(make_level<F>(leaves, tree.dims));
  std::vector<std::uint8_t> is_point(static_cast<std::size_t>(leaves));
  parallel_for(threads, parts_of(leaves, kLeavesOfTask), [&](std::int64_t task, int worker) {
    progress.check(worker);
    const std::int64_t last = std::min(leaves, (task + 1) * kLeavesOfTask);
    for (std::int64_t leaf = task * kLeavesOfTask; leaf < last; ++leaf)
      is_point[static_cast<std::size_t>(leaf)] = fill_leaf(ordered.rows, leaf, tree) ? 1 : 0;
  });
  tree.levels[0].copies_before = count_copies(base, tree, is_point);
  while (tree.levels.back().count > kFanOut) tree.levels.push_back(level_above<F>(tree.levels.back(), tree.dims));
  finish_tree(tree);
  return tree;
}

template void finish_tree(Tree<float>&);
template void finish_tree(Tree<double>&);
#define KITH_INSTANTIATE(T) \
  template Tree<DistanceOf<T>> make_tree(const PreparedRows<T>&, const std::vector<double>&, int, ProgressMeter&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
