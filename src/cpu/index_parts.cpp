#include "cpu/index_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/periodic.hpp"
#include "kith/error.hpp"

namespace kith::cpu {
namespace {

using core::MappedArray;

// The first part of a tree: these numbers, then those of each level and of each periodic axis.
constexpr std::size_t kTreeNumbers = 3;   // whether it has given points, levels, axes
constexpr std::size_t kLevelNumbers = 2;  // boxes, whether it has copies
constexpr std::size_t kAxisNumbers = 6;   // the fields of core::PeriodicAxis, and its period as walks take it

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorCode::bad_data, fmt::format("the file's {} is damaged", what));
}

template <class V>
MappedArray<V> mapped(const backend::Parts& parts, const std::string& name, std::int64_t count) {
  return MappedArray<V>(parts.values<V>(name, count, true));
}

std::int64_t parts_of(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

// A count, of which there can be no more than `most`.
std::size_t count_of(double number, std::size_t most, const char* what) {
  if (!(number >= 0) || number > static_cast<double>(most) || number != std::floor(number)) refuse(what);
  return static_cast<std::size_t>(number);
}

bool flag_of(double number, const char* what) {
  return count_of(number, 1, what) != 0;
}

// An axis, of numbers that were written for this period.
core::PeriodicAxis axis_of(const double* numbers, double period) {
  const core::PeriodicAxis axis{numbers[0], numbers[1], numbers[2], flag_of(numbers[3], "tree"),
                                flag_of(numbers[4], "tree")};
  if (axis.period != period || !(axis.largest >= 0) || !std::isfinite(axis.largest) || !std::isfinite(axis.origin))
    refuse("tree");
  return axis;
}

// Each row once: hits are sorted by ranks that are theirs alone.
template <class Id>
void check_ids(const MappedArray<Id>& ids, std::int64_t rows, const char* what) {
  std::vector<bool> is_there(static_cast<std::size_t>(rows));
  for (const Id id : ids) {
    if (static_cast<std::int64_t>(id) < 0 || static_cast<std::int64_t>(id) >= rows) refuse(what);
    if (is_there[static_cast<std::size_t>(id)]) refuse(what);
    is_there[static_cast<std::size_t>(id)] = true;
  }
}

template <class F>
void check_finite(const MappedArray<F>& values, const char* what) {
  if (!std::all_of(values.begin(), values.end(), [](F value) { return std::isfinite(value); })) refuse(what);
}

// Searches go through the members of a cluster by falling distance, and begin with its radius.
template <class F>
void check_distances(const Clusters<F>& clusters) {
  check_finite(clusters.member_distances, "clustering");
  for (std::int64_t c = 0; c < clusters.count(); ++c) {
    const F* const first = clusters.member_distances.data() + clusters.first(c);
    const F* const last = first + clusters.size(c);
    if (!std::is_sorted(first, last, std::greater<>()) || last[-1] < 0) refuse("clustering");
  }
}

}  // namespace

template <class F>
void add_tree(const Tree<F>& tree, backend::Parts& parts) {
  const std::string name = kTreePart;
  parts.add(name, std::span<const double>(tree.numbers.data(), tree.numbers.size()));
  parts.add(name + ".points", tree.points.span());
  parts.add(name + ".ids", tree.ids.span());
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    parts.add(fmt::format("{}.boxes.{}", name, i), tree.levels[i].boxes.span());
    if (!tree.levels[i].copies_before.empty())
      parts.add(fmt::format("{}.copies.{}", name, i), tree.levels[i].copies_before.span());
  }
}

template <class F>
Tree<F> tree_of(const backend::Parts& parts, std::int64_t rows, std::int64_t dims, const std::vector<double>& period) {
  const std::string name = kTreePart;
  const std::span<const double> numbers = parts.values<double>(name, -1, true);
  if (numbers.size() < kTreeNumbers) refuse("tree");
  Tree<F> tree;
  tree.rows = rows;
  tree.dims = dims;
  tree.has_given_points = flag_of(numbers[0], "tree");
  const std::size_t level_count = count_of(numbers[1], numbers.size(), "tree");
  const std::size_t axes = count_of(numbers[2], numbers.size(), "tree");
  if (numbers.size() != kTreeNumbers + level_count * kLevelNumbers + axes * kAxisNumbers || level_count < 1 ||
      axes != (core::is_periodic(period) ? static_cast<std::size_t>(dims) : 0) || (tree.has_given_points && axes != 0))
    refuse("tree");
  const std::int64_t leaves = parts_of(rows, kLeafPoints);
  tree.points = mapped<F>(parts, name + ".points", leaves * kLeafPoints * dims);
  tree.ids = mapped<std::uint32_t>(parts, name + ".ids", rows);
  check_ids(tree.ids, rows, "tree");
  std::int64_t boxes = leaves;
  for (std::size_t i = 0; i < level_count; ++i) {
    if (i + 1 < level_count && boxes <= kFanOut) refuse("tree");  // there is nothing to put above
    typename Tree<F>::Level level;
    level.count = boxes;
    level.boxes = mapped<F>(parts, fmt::format("{}.boxes.{}", name, i), parts_of(boxes, kFanOut) * kFanOut * 2 * dims);
    if (numbers[kTreeNumbers + i * kLevelNumbers] != static_cast<double>(boxes)) refuse("tree");
    if (flag_of(numbers[kTreeNumbers + i * kLevelNumbers + 1], "tree"))
      level.copies_before = mapped<std::uint32_t>(parts, fmt::format("{}.copies.{}", name, i), boxes);
    tree.levels.push_back(std::move(level));
    boxes = parts_of(boxes, kFanOut);
  }
  if (tree.levels.back().count > kFanOut) refuse("tree");
  for (std::size_t i = 0; i < axes; ++i) {
    const double* const at = numbers.data() + kTreeNumbers + level_count * kLevelNumbers + i * kAxisNumbers;
    tree.axes.push_back(axis_of(at, period[i]));
    if (!(at[5] > 0)) refuse("tree");  // infinite where the axis has no period
    tree.periods.push_back(static_cast<F>(at[5]));
  }
  finish_tree(tree);
  return tree;
}

template <class F>
void add_clusters(const Clusters<F>& clusters, backend::Parts& parts) {
  const std::string name = kClustersPart;
  parts.add(name, clusters.offsets.span());
  parts.add(name + ".centers", clusters.centers.span());
  parts.add(name + ".ids", clusters.ids.span());
  parts.add(name + ".lengths", clusters.member_distances.span());
  parts.add(name + ".rows", clusters.rows.span());
}

template <class F>
Clusters<F> clusters_of(const backend::Parts& parts, std::int64_t rows, std::int64_t dims) {
  const std::string name = kClustersPart;
  Clusters<F> clusters;
  clusters.dims = dims;
  clusters.offsets = mapped<std::int64_t>(parts, name, -1);
  const MappedArray<std::int64_t>& offsets = clusters.offsets;
  if (offsets.size() < 2 || offsets[0] != 0 || offsets[offsets.size() - 1] != rows ||
      std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) != offsets.end())
    refuse("clustering");
  constexpr std::int64_t kLanes = kBlockPoints<F>;
  clusters.centers = mapped<F>(parts, name + ".centers", block_count<F>(clusters.count()) * kLanes * dims);
  clusters.ids = mapped<std::int64_t>(parts, name + ".ids", rows);
  check_ids(clusters.ids, rows, "clustering");
  clusters.member_distances = mapped<F>(parts, name + ".lengths", rows + kSlack);
  check_distances(clusters);
  check_finite(clusters.centers, "clustering");
  clusters.rows = mapped<F>(parts, name + ".rows", block_count<F>(rows) * kLanes * dims);
  check_finite(clusters.rows, "clustering");
  return clusters;
}

#define KITH_INSTANTIATE(F)                                                                                \
  template void add_tree(const Tree<F>&, backend::Parts&);                                                 \
  template Tree<F> tree_of(const backend::Parts&, std::int64_t, std::int64_t, const std::vector<double>&); \
  template void add_clusters(const Clusters<F>&, backend::Parts&);                                         \
  template Clusters<F> clusters_of(const backend::Parts&, std::int64_t, std::int64_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
