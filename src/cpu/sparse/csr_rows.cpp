// csr_rows.cpp: checks of sparse rows, what is known of each, and copies in the order of columns where rows are not so.
#include "cpu/sparse/csr_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/bounds.hpp"
#include "cpu/parallel.hpp"
#include "kith/error.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

constexpr double kEntrySeconds = 3e-9;
constexpr std::int64_t kChunkEntries = std::int64_t{1} << 18;

template <class T>
void check_shape(const CsrView<T>& view, const char* role) {
  constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max();
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::invalid_argument, text); };
  if (view.rows < 1 || view.cols < 1)
    refuse(fmt::format("{} is {} × {}; at least one row and one column are needed", role, view.rows, view.cols));
  if (view.cols > kMostColumns)
    refuse(fmt::format("{} has {} columns; sparse rows have at most {}", role, view.cols, kMostColumns));
  if (view.indptr == nullptr) refuse(fmt::format("{} has no indptr (null pointer)", role));
  if (view.entries < 0) refuse(fmt::format("{} has {} entries; there cannot be fewer than 0", role, view.entries));
  if (view.entries > 0 && (view.indices.is_null() || view.values == nullptr))
    refuse(fmt::format("{} has {} entries but no {} (null pointer)", role, view.entries,
                       view.values == nullptr ? "values" : "indices"));
  if (view.indptr[0] < 0) refuse(fmt::format("{} has indptr {} of row 0; it must be 0 or more", role, view.indptr[0]));
  for (std::int64_t row = 0; row < view.rows; ++row)
    if (view.indptr[row + 1] < view.indptr[row])
      refuse(fmt::format("{} has indptr {} behind {} at row {}; it must not descend", role, view.indptr[row + 1],
                         view.indptr[row], row));
  if (view.indptr[view.rows] > view.entries)
    refuse(fmt::format("{} has indptr {} at its end but {} entries", role, view.indptr[view.rows], view.entries));
}

// Whether columns ascend. Throws for those out of range.
template <class T>
bool check_columns(const CsrView<T>& view, std::int64_t row, const char* role) {
  bool ascends = true;
  std::int64_t before = -1;
  for (std::int64_t at = view.indptr[row]; at < view.indptr[row + 1]; ++at) {
    const std::int64_t column = view.indices[at];
    if (column < 0 || column >= view.cols)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} row {} has column {} at position {}; columns are 0 to {}", role, row, column,
                              at - view.indptr[row], view.cols - 1));
    ascends = ascends && column > before;
    before = column;
  }
  return ascends;
}

// Consecutive rows of about as many entries, as tasks of threads.
std::vector<std::int64_t> chunks_of(const std::int64_t* indptr, std::int64_t rows) {
  std::vector<std::int64_t> begins{0};
  std::int64_t from = indptr[0];
  for (std::int64_t row = 1; row < rows; ++row) {
    // A row without entries is work too.
    if (indptr[row] - from + (row - begins.back()) < kChunkEntries) continue;
    begins.push_back(row);
    from = indptr[row];
  }
  begins.push_back(rows);
  return begins;
}

template <class T>
using Entry = std::pair<std::int32_t, T>;

// The row in the order of its columns, values of one column added up from left to right.
template <class T>
void sort_row(const CsrView<T>& view, std::int64_t row, std::vector<Entry<T>>& entries) {
  entries.clear();
  for (std::int64_t at = view.indptr[row]; at < view.indptr[row + 1]; ++at)
    entries.emplace_back(static_cast<std::int32_t>(view.indices[at]), view.values[at]);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (kept > 0 && entries[kept - 1].first == entries[i].first) {
      entries[kept - 1].second += entries[i].second;
    } else {
      entries[kept++] = entries[i];
    }
  }
  entries.resize(kept);
}

template <class T>
void copy_sorted(const CsrView<T>& view, CsrRows<T>& to, ProgressMeter& progress) {
  std::vector<Entry<T>> entries;
  const auto most = static_cast<std::size_t>(view.indptr[view.rows] - view.indptr[0]);
  to.own_indptr.reserve(static_cast<std::size_t>(view.rows) + 1);
  to.own_columns.reserve(most);
  to.own_values.reserve(most);
  to.own_indptr.push_back(0);
  for (std::int64_t row = 0; row < view.rows; ++row) {
    sort_row(view, row, entries);
    for (const auto& [column, value] : entries) {
      to.own_columns.push_back(column);
      to.own_values.push_back(value);
    }
    to.own_indptr.push_back(static_cast<std::int64_t>(to.own_columns.size()));
    if (row % 1024 == 0) progress.check(0);
  }
  to.indptr = to.own_indptr.data();
  to.columns = to.own_columns.data();
  to.values = to.own_values.data();
}

template <class T>
double striped_square_norm(const CsrRow<T>& row) {
  double lane[core::kLanes] = {};
  for (std::int64_t i = 0; i < row.count; ++i) {
    const auto x = static_cast<double>(row.values[i]);
    lane[row.columns[i] % core::kLanes] += x * x;
  }
  return core::combine_lanes(lane);
}

template <class T>
double size_of_row(SparseMetric metric, const CsrRow<T>& row) {
  double size = 0;
  switch (metric) {
    case SparseMetric::manhattan:
      for (std::int64_t i = 0; i < row.count; ++i) size += std::abs(static_cast<double>(row.values[i]));
      return size;
    case SparseMetric::jaccard:
      for (std::int64_t i = 0; i < row.count; ++i) size += row.values[i] != 0 ? 1 : 0;
      return size;
    case SparseMetric::euclidean:
    case SparseMetric::sqeuclidean:
    case SparseMetric::cosine:
    case SparseMetric::inner_product: break;
  }
  return striped_square_norm(row);
}

// As for dense rows (prepared_rows.cpp).
void check_direction(double square_norm, std::int64_t cols, const char* role, std::int64_t row) {
  constexpr double kSmallest = 1e-307;  // per coordinate; smaller squares are subnormal and lose digits
  if (square_norm >= kSmallest * static_cast<double>(cols) && !std::isinf(square_norm)) return;
  if (square_norm == 0)
    throw Error(ErrorCode::bad_data, fmt::format("{} row {} has length zero; cosine needs a direction", role, row));
  throw Error(ErrorCode::bad_data, fmt::format("the squared length of {} row {} is {}, outside what double holds in "
                                               "full precision; cosine cannot use it",
                                               role, row, square_norm));
}

// What a chunk of rows adds to what is known of all.
struct ChunkFacts {
  double largest_size = 0;
  std::int64_t most_entries = 0;
  double largest_value = 0;
  bool is_integral = true;
};

template <class T>
ChunkFacts look_at_rows(CsrRows<T>& rows, std::int64_t first, std::int64_t last, const CsrPreparation& how,
                        double largest) {
  ChunkFacts facts;
  for (std::int64_t at = first; at < last; ++at) {
    const CsrRow<T> row = rows.row(at);
    for (std::int64_t i = 0; i < row.count; ++i) {
      const auto value = static_cast<double>(row.values[i]);
      const double magnitude = std::abs(value);
      if (how.check_finite && !(magnitude <= largest)) {
        const bool finite = std::isfinite(value);
        throw Error(ErrorCode::bad_data,
                    fmt::format("{} row {}, column {} is {}; {} (check_finite)", how.role, at, row.columns[i], value,
                                finite ? fmt::format("squares of euclidean distances overflow beyond {}", largest)
                                       : "values must be finite"));
      }
      facts.largest_value = magnitude > facts.largest_value ? magnitude : facts.largest_value;
      facts.is_integral = facts.is_integral && value == std::nearbyint(value);
    }
    const double size = size_of_row(how.metric, row);
    if (how.metric == SparseMetric::cosine) check_direction(size, rows.cols, how.role, at);
    rows.sizes[static_cast<std::size_t>(at)] = size;
    facts.largest_size = size > facts.largest_size || std::isnan(size) ? size : facts.largest_size;
    facts.most_entries = std::max(facts.most_entries, row.count);
  }
  return facts;
}

}  // namespace

Metric dense_metric(SparseMetric metric) {
  switch (metric) {
    case SparseMetric::euclidean: return MetricKind::euclidean;
    case SparseMetric::sqeuclidean: return MetricKind::sqeuclidean;
    case SparseMetric::cosine: return MetricKind::cosine;
    case SparseMetric::inner_product: return MetricKind::inner_product;
    case SparseMetric::manhattan:
    case SparseMetric::jaccard: break;
  }
  return MetricKind::manhattan;
}

template <SparseElement T>
CsrRows<T> prepare_csr(const CsrView<T>& view, const CsrPreparation& how, ProgressMeter& progress) {
  check_shape(view, how.role);
  CsrRows<T> rows;
  rows.rows = view.rows;
  rows.cols = view.cols;
  const std::vector<std::int64_t> begins = chunks_of(view.indptr, view.rows);
  const auto chunks = static_cast<std::int64_t>(begins.size()) - 1;
  const auto entries = static_cast<double>(view.indptr[view.rows] - view.indptr[0] + view.rows);
  const int threads = plan::threads_worth(entries * kEntrySeconds, how.threads);
  const auto each_chunk = [&](auto work) {
    parallel_for(threads, chunks, [&](std::int64_t chunk, int worker) {
      progress.check(worker);
      const auto at = static_cast<std::size_t>(chunk);
      work(at, begins[at], begins[at + 1]);
    });
  };

  std::vector<char> ascends(static_cast<std::size_t>(chunks), 1);
  each_chunk([&](std::size_t chunk, std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row)
      if (!check_columns(view, row, how.role)) ascends[chunk] = 0;
  });
  const bool canonical = std::find(ascends.begin(), ascends.end(), 0) == ascends.end();
  const bool narrow = view.indices.narrow() != nullptr || view.entries == 0;
  if (canonical && narrow) {
    rows.indptr = view.indptr;
    rows.columns = view.indices.narrow();
    rows.values = view.values;
  } else {
    copy_sorted(view, rows, progress);
  }

  const auto metric = dense_metric(how.metric);
  const double largest = core::largest_coordinate<T>(metric, view.cols);
  rows.sizes.resize(static_cast<std::size_t>(view.rows));
  std::vector<ChunkFacts> facts(static_cast<std::size_t>(chunks));
  each_chunk([&](std::size_t chunk, std::int64_t first, std::int64_t last) {
    facts[chunk] = look_at_rows(rows, first, last, how, largest);
  });
  for (const ChunkFacts& each : facts) {
    if (!(each.largest_size <= rows.largest_size)) rows.largest_size = each.largest_size;
    rows.most_entries = std::max(rows.most_entries, each.most_entries);
    rows.largest_value = std::max(rows.largest_value, each.largest_value);
    rows.is_integral = rows.is_integral && each.is_integral;
  }
  return rows;
}

template CsrRows<float> prepare_csr(const CsrView<float>&, const CsrPreparation&, ProgressMeter&);
template CsrRows<double> prepare_csr(const CsrView<double>&, const CsrPreparation&, ProgressMeter&);

}  // namespace kith::cpu
