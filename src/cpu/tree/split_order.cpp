// split_order.cpp: nodes are parted level by level until every thread has some, then each on its own.
#include "cpu/tree/split_order.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/instantiate.hpp"
#include "core/order.hpp"
#include "cpu/parallel.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kRowsCopied = 4096;
constexpr std::int64_t kNodesOfThread = 8;
constexpr std::int64_t kSpreadSample = 64;
constexpr std::int64_t kValueSample = 1024;
constexpr std::int64_t kSortedValues = 8192;  // up to which all values are sorted

// NaN, which nobody promised to sort, comes last.
template <class F>
F order_value(F x) {
  return x <= std::numeric_limits<F>::max() ? x : std::numeric_limits<F>::max();
}

// Integers in the order of values, without a branch; −0 is +0. They are sorted in place of the values: the vector sort
// of Highway 1.0 leaves floating-point numbers unsorted where many are equal.
template <class F>
using OrderBits = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <class F>
OrderBits<F> order_bits(F x) {
  using Bits = OrderBits<F>;
  constexpr int kSignBit = 8 * sizeof(F) - 1;
  const auto bits = std::bit_cast<Bits>(x + F{0});
  const auto is_negative = static_cast<Bits>(bits >> kSignBit);
  return bits ^ (static_cast<Bits>(0 - is_negative) | Bits{1} << kSignBit);
}

// Leaves first … first + leaves − 1, whose rows lie in one of two buffers.
struct Node {
  std::int64_t first;
  std::int64_t leaves;
  int buffer;
};

template <class F>
struct Scratch {
  std::vector<OrderBits<F>> values;
  hwy::Sorter sort;
};

template <class F>
class Splitter {
 public:
  Splitter(std::int64_t rows, std::int64_t dims, std::int64_t leaf_points)
      : count_(rows), dims_(dims), leaf_points_(leaf_points) {
    for (auto& each : rows_) each.resize(static_cast<std::size_t>(rows * dims));
    for (auto& each : ids_) each.resize(static_cast<std::size_t>(rows));
    std::iota(ids_[0].begin(), ids_[0].end(), 0U);
  }

  F* rows() { return rows_[0].data(); }

  OrderedRows<F> run(int threads, ProgressMeter& progress) {
    std::vector<Scratch<F>> scratch(static_cast<std::size_t>(threads));
    std::vector<Node> nodes{{0, (count_ + leaf_points_ - 1) / leaf_points_, 0}};
    const auto enough = static_cast<std::size_t>(kNodesOfThread * threads);
    for (bool split = true; split && nodes.size() < enough;) {
      std::vector<Node> halves(2 * nodes.size());
      parallel_for(threads, static_cast<std::int64_t>(nodes.size()), [&](std::int64_t i, int worker) {
        progress.check(worker);
        const auto at = static_cast<std::size_t>(i);
        part(nodes[at], halves[2 * at], halves[2 * at + 1], scratch[static_cast<std::size_t>(worker)]);
      });
      std::erase_if(halves, [](const Node& node) { return node.leaves == 0; });
      split = halves.size() > nodes.size();
      nodes = std::move(halves);
    }
    parallel_for(threads, static_cast<std::int64_t>(nodes.size()), [&](std::int64_t i, int worker) {
      progress.check(worker);
      part_all(nodes[static_cast<std::size_t>(i)], scratch[static_cast<std::size_t>(worker)]);
    });
    return {std::move(rows_[0]), std::move(ids_[0])};
  }

 private:
  std::int64_t begin(const Node& node) const { return node.first * leaf_points_; }
  std::int64_t end(const Node& node) const { return std::min(count_, (node.first + node.leaves) * leaf_points_); }

  void part_all(const Node& node, Scratch<F>& scratch) {
    Node low{};
    Node high{};
    part(node, low, high, scratch);
    if (high.leaves == 0) return;
    part_all(low, scratch);
    part_all(high, scratch);
  }

  // Parts a node in two. One that stays whole is moved to the first buffer, and becomes `low`.
  void part(const Node& node, Node& low, Node& high, Scratch<F>& scratch) {
    const std::int64_t axis = node.leaves > 1 ? widest_axis(node) : -1;
    if (axis < 0) {
      if (node.buffer != 0) {
        std::copy(rows_[1].begin() + begin(node) * dims_, rows_[1].begin() + end(node) * dims_,
                  rows_[0].begin() + begin(node) * dims_);
        std::copy(ids_[1].begin() + begin(node), ids_[1].begin() + end(node), ids_[0].begin() + begin(node));
      }
      low = {node.first, node.leaves, 0};
      high = {};
      return;
    }
    const auto leaves = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(node.leaves - 1)));
    low = {node.first, leaves, 1 - node.buffer};
    high = {node.first + leaves, node.leaves - leaves, 1 - node.buffer};
    const Cut cut = find_cut(node, axis, begin(high) - begin(low), scratch);
    switch (dims_) {
      case 2: return move_rows<2>(node, axis, cut);
      case 3: return move_rows<3>(node, axis, cut);
      case 4: return move_rows<4>(node, axis, cut);
      default: return move_rows<0>(node, axis, cut);
    }
  }

  // The axis along which a sample spreads most; −1 where all points are equal.
  std::int64_t widest_axis(const Node& node) const {
    const std::int64_t count = end(node) - begin(node);
    const std::int64_t step = std::max<std::int64_t>(1, count / kSpreadSample);
    const std::int64_t axis = widest_axis(node, step);
    return axis >= 0 || step == 1 ? axis : widest_axis(node, 1);
  }

  std::int64_t widest_axis(const Node& node, std::int64_t step) const {
    const F* const rows = rows_[static_cast<std::size_t>(node.buffer)].data();
    F widest = 0;
    std::int64_t axis = -1;
    for (std::int64_t c = 0; c < dims_; ++c) {
      F least = order_value(rows[begin(node) * dims_ + c]);
      F greatest = least;
      for (std::int64_t i = begin(node); i < end(node); i += step) {
        const F value = order_value(rows[i * dims_ + c]);
        least = std::min(least, value);
        greatest = std::max(greatest, value);
      }
      const F spread = greatest / 2 - least / 2;  // does not overflow; where it underflows, axes need no order
      if (greatest > least && (axis < 0 || spread > widest)) {
        widest = spread;
        axis = c;
      }
    }
    return axis;
  }

  // Values below `value`, and so many of those equal to it, belong to the first child, which has `rank` rows.
  struct Cut {
    std::int64_t rank;
    OrderBits<F> value;
    std::int64_t ties;
  };

  Cut find_cut(const Node& node, std::int64_t axis, std::int64_t rank, Scratch<F>& scratch) const {
    using Bits = OrderBits<F>;
    const F* const values = rows_[static_cast<std::size_t>(node.buffer)].data() + begin(node) * dims_ + axis;
    const std::int64_t count = end(node) - begin(node);
    const auto value_at = [&](std::int64_t i) { return order_bits(values[i * dims_]); };
    std::vector<Bits>& kept = scratch.values;
    kept.resize(static_cast<std::size_t>(count));
    const auto sort_kept = [&](std::int64_t kept_count) {
      scratch.sort(kept.data(), static_cast<std::size_t>(kept_count), hwy::SortAscending());
    };
    // Of sorted values, the one that `below` others and those before it are smaller than.
    const auto cut_at = [&](std::int64_t below, std::int64_t kept_count) {
      const Bits value = kept[static_cast<std::size_t>(rank - below)];
      const auto first = std::lower_bound(kept.begin(), kept.begin() + kept_count, value) - kept.begin();
      return Cut{rank, value, rank - below - first};
    };
    if (count > kSortedValues) {
      const std::int64_t step = count / kValueSample;
      for (std::int64_t i = 0; i < kValueSample; ++i) kept[static_cast<std::size_t>(i)] = value_at(i * step);
      sort_kept(kValueSample);
      const double part = static_cast<double>(rank) / static_cast<double>(count);
      const double middle = part * kValueSample;
      const double margin = 4 * std::sqrt(kValueSample * part * (1 - part)) + 2;
      const auto at = [&](double sampled) {
        return kept[static_cast<std::size_t>(std::clamp(sampled, 0.0, kValueSample - 1.0))];
      };
      const Bits low = middle - margin < 0 ? 0 : at(middle - margin);
      const Bits high = middle + margin > kValueSample - 1 ? std::numeric_limits<Bits>::max() : at(middle + margin);
      std::int64_t below = 0;
      std::int64_t between = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const Bits value = value_at(i);
        below += value < low ? 1 : 0;
        kept[static_cast<std::size_t>(between)] = value;
        between += !(value < low) && !(value > high) ? 1 : 0;
      }
      if (below <= rank && rank < below + between) {
        // A value that the sample had often: the others need not be sorted.
        if (low == high) return {rank, low, rank - below};
        sort_kept(between);
        return cut_at(below, between);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) kept[static_cast<std::size_t>(i)] = value_at(i);
    sort_kept(count);
    return cut_at(0, count);
  }

  template <int kDims>
  void move_rows(const Node& node, std::int64_t axis, const Cut& cut) {
    const std::int64_t dims = kDims > 0 ? kDims : dims_;
    const auto from = static_cast<std::size_t>(node.buffer);
    const F* const rows = rows_[from].data();
    const std::uint32_t* const ids = ids_[from].data();
    F* const to_rows = rows_[1 - from].data();
    std::uint32_t* const to_ids = ids_[1 - from].data();
    std::int64_t low = begin(node);
    std::int64_t high = low + cut.rank;
    std::int64_t ties = cut.ties;
    const std::int64_t last = end(node);
    for (std::int64_t i = begin(node); i < last; ++i) {
      const F* const row = rows + i * dims;
      const OrderBits<F> value = order_bits(row[axis]);
      const std::int64_t is_tie = value == cut.value ? 1 : 0;
      const std::int64_t is_low = (value < cut.value ? 1 : 0) | (is_tie & (ties > 0 ? 1 : 0));
      ties -= is_tie;
      const std::int64_t to = high ^ ((low ^ high) & -is_low);  // low or high: a branch would be wrong half the time
      low += is_low;
      high += 1 - is_low;
      to_ids[to] = ids[i];
      std::memcpy(to_rows + to * dims, row, static_cast<std::size_t>(dims) * sizeof(F));
    }
  }

  std::int64_t count_;
  std::int64_t dims_;
  std::int64_t leaf_points_;
  std::array<std::vector<F>, 2> rows_;
  std::array<std::vector<std::uint32_t>, 2> ids_;
};

// Sorts ids by their values, and by themselves where those are equal.
std::vector<std::uint32_t> sorted_ids(const float* values, std::size_t count) {
  std::vector<std::uint64_t> packed(count);
  for (std::size_t i = 0; i < count; ++i) packed[i] = std::uint64_t{core::ordered_bits(values[i])} << 32U | i;
  hwy::Sorter()(packed.data(), count, hwy::SortAscending());
  std::vector<std::uint32_t> ids(count);
  std::transform(packed.begin(), packed.end(), ids.begin(),
                 [](std::uint64_t each) { return static_cast<std::uint32_t>(each); });
  return ids;
}
// Not every instruction set has a vector sort for pairs of 64 bits.
std::vector<std::uint32_t> sorted_ids(const double* values, std::size_t count) {
  std::vector<std::uint32_t> ids(count);
  std::iota(ids.begin(), ids.end(), 0U);
  std::stable_sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) {
    return core::ordered_bits(values[a]) < core::ordered_bits(values[b]);
  });
  return ids;
}

// In one dimension the order is that of the values.
template <class F>
OrderedRows<F> sorted_order(const F* values, std::int64_t count) {
  OrderedRows<F> order;
  order.ids = sorted_ids(values, static_cast<std::size_t>(count));
  order.rows.resize(order.ids.size());
  for (std::size_t i = 0; i < order.ids.size(); ++i) order.rows[i] = values[order.ids[i]];
  return order;
}

// Wraps rows first … first + count − 1 along the axes that say so.
template <Element T>
void wrap_rows(const PreparedRows<T>& set, const std::vector<core::PeriodicAxis>& axes, std::int64_t first,
               std::int64_t count, DistanceOf<T>* to) {
  const std::int64_t dims = set.view.cols;
  for (std::size_t c = 0; c < axes.size(); ++c) {
    if (!axes[c].wraps) continue;
    const auto column = static_cast<std::int64_t>(c);
    for (std::int64_t r = 0; r < count; ++r) {
      const auto given = static_cast<double>(set.view(first + r, column));
      to[r * dims + column] = static_cast<DistanceOf<T>>(core::wrapped(given, axes[c].period) * set.scale);
    }
  }
}

}  // namespace

template <Element T>
OrderedRows<DistanceOf<T>> split_order(const PreparedRows<T>& set, const std::vector<core::PeriodicAxis>& axes,
                                       std::int64_t leaf_points, int threads, ProgressMeter& progress) {
  using F = DistanceOf<T>;
  const std::int64_t count = set.view.rows;
  const std::int64_t dims = set.view.cols;
  Splitter<F> splitter(count, dims, leaf_points);
  parallel_for(threads, (count + kRowsCopied - 1) / kRowsCopied, [&](std::int64_t task, int worker) {
    progress.check(worker);
    const std::int64_t first = task * kRowsCopied;
    const std::int64_t rows = std::min(kRowsCopied, count - first);
    F* const to = splitter.rows() + first * dims;
    const Rows<F> from = working_rows(set, first, rows, to);
    if (from.data != to)
      for (std::int64_t r = 0; r < rows; ++r) std::copy_n(from.data + r * from.stride, dims, to + r * dims);
    wrap_rows(set, axes, first, rows, to);
  });
  return dims == 1 ? sorted_order(splitter.rows(), count) : splitter.run(threads, progress);
}

#define KITH_INSTANTIATE(T)                                                                                       \
  template OrderedRows<DistanceOf<T>> split_order(const PreparedRows<T>&, const std::vector<core::PeriodicAxis>&, \
                                                  std::int64_t, int, ProgressMeter&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
