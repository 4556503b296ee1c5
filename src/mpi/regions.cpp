#include "mpi/regions.hpp"

#include <algorithm>
#include <numeric>

#include "core/key.hpp"

namespace kith::mpi {

const char* why_no_bounds(const Metric& metric, bool periodic) {
  if (periodic) return "cells have no bounds along periodic axes";
  return core::has_triangle_inequality(metric) ? nullptr : "the metric has no triangle inequality, which bounds need";
}

double metric_distance(const Metric& metric, const double* a, const double* b, std::int64_t dims) {
  return core::metric_distance_of_raw(
      metric, core::raw_sum(core::metric_distance_form(metric), metric.p, a, 1, 0, b, 1, 0, dims));
}

CellTree::CellTree(std::vector<double> sample, std::int64_t dims, int cells) {
  const std::int64_t rows = dims > 0 ? static_cast<std::int64_t>(sample.size()) / dims : 0;
  build(sample.data(), rows, dims, 0, cells);
}

// Returns the node, or −1 − cell.
int CellTree::build(double* sample, std::int64_t rows, std::int64_t dims, int first_cell, int cells) {
  if (cells == 1 || rows < 2) return -1 - first_cell;
  std::int64_t axis = 0;
  double widest = -1;
  for (std::int64_t c = 0; c < dims; ++c) {
    double low = sample[c];
    double high = sample[c];
    for (std::int64_t r = 1; r < rows; ++r) {
      low = std::min(low, sample[r * dims + c]);
      high = std::max(high, sample[r * dims + c]);
    }
    if (high - low > widest) {
      widest = high - low;
      axis = c;
    }
  }
  const int left_cells = cells / 2;
  const std::int64_t left_rows = std::clamp<std::int64_t>(rows * left_cells / cells, 1, rows - 1);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return sample[a * dims + axis] < sample[b * dims + axis]; });
  std::vector<double> sorted;
  sorted.reserve(static_cast<std::size_t>(rows * dims));
  for (const std::int64_t row : order) sorted.insert(sorted.end(), sample + row * dims, sample + (row + 1) * dims);
  std::copy(sorted.begin(), sorted.end(), sample);
  const auto at = static_cast<int>(nodes_.size());
  nodes_.push_back({axis, sample[left_rows * dims + axis], {0, 0}});
  const int left = build(sample, left_rows, dims, first_cell, left_cells);
  const int right =
      build(sample + left_rows * dims, rows - left_rows, dims, first_cell + left_cells, cells - left_cells);
  nodes_[static_cast<std::size_t>(at)].children[0] = left;
  nodes_[static_cast<std::size_t>(at)].children[1] = right;
  return at;
}

int CellTree::cell_of(const double* point) const {
  if (nodes_.empty()) return 0;
  int at = 0;
  while (at >= 0) {
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    at = node.children[point[node.axis] < node.cut ? 0 : 1];
  }
  return -1 - at;
}

CellSummary::CellSummary(std::int64_t dims)
    : landmark(static_cast<std::size_t>(dims)),
      low(static_cast<std::size_t>(dims)),
      high(static_cast<std::size_t>(dims)) {}

void CellSummary::add(const Metric& metric, const double* point, std::int64_t dims) {
  if (count == 0) {
    std::copy_n(point, dims, landmark.begin());
    low = high = landmark;
  }
  const double distance = metric_distance(metric, point, landmark.data(), dims);
  nearest = count == 0 ? distance : std::min(nearest, distance);
  farthest = std::max(farthest, distance);
  for (std::int64_t c = 0; c < dims; ++c) {
    const auto at = static_cast<std::size_t>(c);
    low[at] = std::min(low[at], point[c]);
    high[at] = std::max(high[at], point[c]);
  }
  count += 1;
}

std::vector<double> CellSummary::packed() const {
  std::vector<double> numbers{count, nearest, farthest};
  for (const auto* values : {&landmark, &low, &high}) numbers.insert(numbers.end(), values->begin(), values->end());
  return numbers;
}

CellSummary CellSummary::unpacked(const double* numbers, std::int64_t dims) {
  CellSummary cell(dims);
  cell.count = *numbers++;
  cell.nearest = *numbers++;
  cell.farthest = *numbers++;
  for (auto* values : {&cell.landmark, &cell.low, &cell.high}) {
    std::copy_n(numbers, dims, values->begin());
    numbers += dims;
  }
  return cell;
}

std::size_t CellSummary::packed_size(std::int64_t dims) {
  return 3 + 3 * static_cast<std::size_t>(dims);
}

}  // namespace kith::mpi
