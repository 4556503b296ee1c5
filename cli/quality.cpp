#include "cli/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "cli/row_distances.hpp"
#include "cli/signals.hpp"
#include "kith/error.hpp"

namespace kith::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kNoId = -1;

// A place without a neighbor; with a finite distance −1 is an id out of range.
bool is_missing(std::int64_t id, const double* reported, std::size_t at) {
  return id == kNoId && (reported == nullptr || std::isinf(reported[at]));
}

// The true neighbors of one query: of the ids, those that are no farther away than was asked for.
struct TrueRow {
  std::vector<std::int64_t> ids;
  std::int64_t count = 0;
  double last = 0;  // distance, of the farthest
};

template <Element T>
TrueRow true_row(RowDistances<T>& rows, std::int64_t query, const std::int64_t* ids, std::int64_t k,
                 const Options& options) {
  const bool largest_first = options.metric.kind == MetricKind::inner_product;
  TrueRow row{{ids, ids + k}};
  const std::vector<double> distances = rows.of(query, ids, k);
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (!largest_first && distances[i] > options.max_distance) row.ids[i] = kNoId;
    if (row.ids[i] == kNoId) continue;
    const bool farther = largest_first ? distances[i] < row.last : distances[i] > row.last;
    if (row.count++ == 0 || farther) row.last = distances[i];
  }
  return row;
}

// One row of the answer.
struct FoundRow {
  const std::int64_t* ids;
  const double* reported;         // distances, or null
  std::vector<double> distances;  // recomputed
};

template <Element T>
void count_row(const RowDistances<T>& rows, const FoundRow& found, const TrueRow& truth, bool largest_first,
               Quality& quality) {
  std::unordered_set<std::int64_t> seen;
  std::int64_t right = 0;
  std::int64_t missing = 0;
  const auto k = static_cast<std::int64_t>(found.distances.size());
  for (std::size_t i = 0; i < found.distances.size(); ++i) {
    const double distance = found.distances[i];
    if (is_missing(found.ids[i], found.reported, i)) {
      ++missing;
    } else if (!rows.valid(found.ids[i])) {
      ++quality.invalid_ids;
    } else if (!seen.insert(found.ids[i]).second) {
      ++quality.repeated_ids;
    } else if (largest_first ? distance >= truth.last : distance <= truth.last) {
      ++right;
    }
  }
  right = std::min(right, truth.count);
  quality.right += right;
  quality.true_neighbors += truth.count;
  quality.missing_ids += std::max<std::int64_t>(missing - (k - truth.count), 0);
  quality.right_rows += right + missing == k && right == truth.count;
}

double ratio_of(double worst, double last) {
  return worst == last ? 1 : last > 0 ? worst / last : kInfinity;
}

// Of a metric whose nearest are the smallest.
template <Element T>
double row_ratio(const RowDistances<T>& rows, const FoundRow& found, const TrueRow& truth) {
  std::int64_t neighbors = 0;
  double worst = 0;
  for (std::size_t i = 0; i < found.distances.size(); ++i) {
    if (is_missing(found.ids[i], found.reported, i)) continue;
    if (!rows.valid(found.ids[i])) return kInfinity;
    worst = std::max(worst, found.distances[i]);
    ++neighbors;
  }
  if (neighbors < truth.count || (truth.count == 0 && neighbors > 0)) return kInfinity;
  return ratio_of(worst, truth.last);
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

void require_truth_ids(const Truth& truth, std::int64_t rows, std::int64_t k) {
  for (std::size_t i = 0; i < truth.ids.size(); ++i) {
    if (truth.ids[i] == kNoId || (truth.ids[i] >= 0 && truth.ids[i] < rows)) continue;
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
    const TrueRow best = true_row(rows, query, truth.ids.data() + query * k, k, options);
    const std::int64_t* row_ids = ids.data() + query * k;
    const FoundRow found{row_ids, reported != nullptr ? reported->data() + query * k : nullptr,
                         rows.of(query, row_ids, k)};
    quality.identical_rows += std::equal(best.ids.begin(), best.ids.end(), row_ids);
    count_row(rows, found, best, largest_first, quality);
    if (!largest_first) ratios.push_back(row_ratio(rows, found, best));
    if (reported != nullptr) {
      quality.distance_error =
          std::max(*quality.distance_error, largest_error<DistanceOf<T>>(found.reported, found.distances));
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
