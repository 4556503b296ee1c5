#include "cli/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "cli/signals.hpp"
#include "kith/error.hpp"
#include "kith/search.hpp"

namespace kith::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Distances from one query to base points given by id; an id out of range is infinitely bad.
template <Element T>
class RowDistances {
 public:
  RowDistances(MatrixView<T> base, MatrixView<T> queries, const Options& options)
      : base_(base), queries_(queries), options_(options) {
    options_.threads = 1;  // a row is too little to share
    options_.check_finite = false;
    options_.progress = nullptr;
    worst_ = options.metric.kind == MetricKind::inner_product ? -kInfinity : kInfinity;
  }

  std::vector<double> of(std::int64_t query, const std::int64_t* ids, std::int64_t k) {
    gathered_.clear();
    for (std::int64_t i = 0; i < k; ++i) {
      if (valid(ids[i])) gather(ids[i]);
    }
    std::vector<double> result(static_cast<std::size_t>(k), worst_);
    if (gathered_.empty()) return result;
    const MatrixView<T> points(gathered_.data(), static_cast<std::int64_t>(gathered_.size()) / base_.cols, base_.cols);
    const auto row = distances(points, queries_.rows_from(query, 1), options_);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      if (valid(ids[i])) result[static_cast<std::size_t>(i)] = static_cast<double>(row(0, next++));
    }
    return result;
  }

  bool valid(std::int64_t id) const { return id >= 0 && id < base_.rows; }

 private:
  void gather(std::int64_t id) {
    for (std::int64_t col = 0; col < base_.cols; ++col) gathered_.push_back(base_(id, col));
  }

  MatrixView<T> base_;
  MatrixView<T> queries_;
  Options options_;
  double worst_;
  std::vector<T> gathered_;
};

double worst_of(const std::vector<double>& distances, bool largest_first) {
  return largest_first ? *std::min_element(distances.begin(), distances.end())
                       : *std::max_element(distances.begin(), distances.end());
}

template <Element T>
void count_row(const RowDistances<T>& rows, const std::int64_t* ids, const std::vector<double>& found, double kth,
               bool largest_first, Quality& quality) {
  std::unordered_set<std::int64_t> seen;
  std::int64_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!rows.valid(ids[i])) {
      ++quality.invalid_ids;
    } else if (!seen.insert(ids[i]).second) {
      ++quality.repeated_ids;
    } else if (largest_first ? found[i] >= kth : found[i] <= kth) {
      ++right;
    }
  }
  quality.right += right;
  quality.right_rows += right == static_cast<std::int64_t>(found.size());
}

// In the type D that distances have: a file of decimal text need not hold more. Ids out of range have no distance to
// compare with. A reported NaN is an error without bound.
template <class D>
double largest_error(const double* reported, const std::vector<double>& found) {
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isinf(found[i])) continue;
    const double error = std::abs(static_cast<double>(static_cast<D>(reported[i])) - found[i]);
    largest = std::max(largest, std::isnan(error) ? kInfinity : error);
  }
  return largest;
}

double ratio_of(double worst, double kth) {
  return worst == kth ? 1 : kth > 0 ? worst / kth : kInfinity;
}

void require_truth_ids(const Truth& truth, std::int64_t rows, std::int64_t k) {
  for (std::size_t i = 0; i < truth.ids.size(); ++i) {
    if (truth.ids[i] >= 0 && truth.ids[i] < rows) continue;
    throw Error(ErrorCode::bad_data,
                fmt::format("the truth has id {} at row {}, column {}, but the base has {} points", truth.ids[i],
                            i / static_cast<std::size_t>(k), i % static_cast<std::size_t>(k), rows));
  }
}

template <Element T>
Quality judge_typed(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, const Options& options,
                    const Truth& truth, const std::vector<std::int64_t>& ids, const std::vector<double>* reported) {
  const bool largest_first = options.metric.kind == MetricKind::inner_product;
  RowDistances<T> rows(base, queries, options);
  Quality quality;
  quality.queries = queries.rows;
  quality.k = k;
  if (reported != nullptr) quality.distance_error = 0;
  std::vector<double> ratios;
  for (std::int64_t query = 0; query < queries.rows; ++query) {
    throw_if_interrupted();
    const std::int64_t* true_ids = truth.ids.data() + query * k;
    const std::int64_t* row_ids = ids.data() + query * k;
    const std::vector<double> best = rows.of(query, true_ids, k);
    const std::vector<double> found = rows.of(query, row_ids, k);
    const double kth = worst_of(best, largest_first);
    quality.identical_rows += std::equal(true_ids, true_ids + k, row_ids);
    count_row(rows, row_ids, found, kth, largest_first, quality);
    ratios.push_back(ratio_of(worst_of(found, largest_first), kth));
    if (reported != nullptr) {
      quality.distance_error =
          std::max(*quality.distance_error, largest_error<DistanceOf<T>>(reported->data() + query * k, found));
    }
  }
  if (!largest_first) quality.ratios = summarize_ratios(std::move(ratios));
  return quality;
}

}  // namespace

Quality judge(const io::Array& base, const io::Array& queries, std::int64_t k, const Options& options,
              const Truth& truth, const std::vector<std::int64_t>& ids, const std::vector<double>* distances) {
  require_truth_ids(truth, base.rows(), k);
  return io::visit_points(base, [&](auto base_view) {
    using T = typename decltype(base_view)::value_type;
    return judge_typed(base_view, queries.view<T>(), k, options, truth, ids, distances);
  });
}

}  // namespace kith::cli
