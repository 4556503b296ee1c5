// Distances from one query to a few base points, given by id: those that a search with the options would return.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kith/options.hpp"
#include "kith/search.hpp"

namespace kith::cli {

template <Element T>
class RowDistances {
 public:
  RowDistances(MatrixView<T> base, MatrixView<T> queries, const Options& options) : base_(base), queries_(queries) {
    options_.metric = options.metric;
    options_.period = options.period;
    options_.backend = options.backend;
    options_.threads = 1;  // a row is too little to share
    options_.check_finite = false;
    worst_ = (options.metric.kind == MetricKind::inner_product ? -1 : 1) * std::numeric_limits<double>::infinity();
    is_periodic_ = std::any_of(options.period.begin(), options.period.end(), [](double each) { return each > 0; });
    if (is_periodic_) options_.backend = Backend::cpu;  // a tree for each row: nothing for a device
  }

  // Of k ids; one out of range is infinitely bad.
  std::vector<double> of(std::int64_t query, const std::int64_t* ids, std::int64_t k) {
    gathered_.clear();
    places_.clear();
    for (std::int64_t i = 0; i < k; ++i) {
      if (!valid(ids[i])) continue;
      for (std::int64_t col = 0; col < base_.cols; ++col) gathered_.push_back(base_(ids[i], col));
      places_.push_back(static_cast<std::size_t>(i));
    }
    std::vector<double> result(static_cast<std::size_t>(k), worst_);
    if (places_.empty()) return result;
    const MatrixView<T> points(gathered_.data(), static_cast<std::int64_t>(places_.size()), base_.cols);
    const MatrixView<T> row = queries_.rows_from(query, 1);
    is_periodic_ ? add_periodic(points, row, result) : add_plain(points, row, result);
    return result;
  }

  bool valid(std::int64_t id) const { return id >= 0 && id < base_.rows; }

 private:
  void add_plain(MatrixView<T> points, MatrixView<T> query, std::vector<double>& result) const {
    const auto row = distances(points, query, options_);
    for (std::size_t i = 0; i < places_.size(); ++i)
      result[places_[i]] = static_cast<double>(row(0, static_cast<std::int64_t>(i)));
  }

  // distances() has no periodic axes; a search for all of the points has.
  void add_periodic(MatrixView<T> points, MatrixView<T> query, std::vector<double>& result) const {
    const auto found = search(points, query, points.rows, options_);
    for (std::size_t i = 0; i < found.ids.size(); ++i) {
      // Coordinates that are not finite may leave places without a neighbor.
      if (found.ids[i] >= 0)
        result[places_[static_cast<std::size_t>(found.ids[i])]] = static_cast<double>(found.distances[i]);
    }
  }

  MatrixView<T> base_;
  MatrixView<T> queries_;
  Options options_;
  bool is_periodic_ = false;
  double worst_ = 0;
  std::vector<T> gathered_;
  std::vector<std::size_t> places_;  // among the ids, of the points that are gathered
};

}  // namespace kith::cli
