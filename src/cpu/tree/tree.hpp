// tree.hpp: a base as a tree: points in leaves that fill whole vectors, and boxes around leaves, sixteen to a box of
// the next level (simd/tree_walk.hpp). Cost    split_order.hpp, and a pass for the boxes. Memory  a copy of the points
// in working precision, 4 bytes a point for ids, 2 · dims values a leaf for its box.
#pragma once

#include <cstdint>
#include <vector>

#include "core/mapped_array.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/simd/tree_walk.hpp"
#include "cpu/tree/periodic_axes.hpp"

namespace kith::cpu {

template <class F>
struct Tree {
  struct Level {
    std::int64_t count = 0;
    core::MappedArray<F> boxes;
    core::MappedArray<std::uint32_t> copies_before;  // empty where no leaf is full of copies of one point
  };

  std::int64_t rows = 0;
  std::int64_t dims = 0;
  bool has_given_points = false;         // points are those that were given, not scaled; no axis is periodic
  std::vector<core::PeriodicAxis> axes;  // one for each dimension, or none where no axis is periodic
  std::vector<F> periods;                // of these, as walks take them
  core::MappedArray<F> points;           // in block layout
  core::MappedArray<std::uint32_t> ids;  // of the points in the leaves
  std::vector<Level> levels;
  std::vector<BoxLevel<F>> views;  // of levels
  std::vector<double> numbers;     // its shape, as index_parts.cpp writes it

  bool is_periodic() const { return !axes.empty(); }
  TreeView<F> view() const {
    return {points.data(),
            rows,
            dims,
            views.data(),
            static_cast<int>(views.size()),
            is_periodic() ? periods.data() : nullptr};
  }
};

// Makes what follows from the rest: views and numbers.
template <class F>
void finish_tree(Tree<F>& tree);

// `period` as in Options.
template <Element T>
Tree<DistanceOf<T>> make_tree(const PreparedRows<T>& base, const std::vector<double>& period, int threads,
                              ProgressMeter& progress);

}  // namespace kith::cpu
