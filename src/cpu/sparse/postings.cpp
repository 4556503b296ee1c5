// postings.cpp: rows of a block are counted by columns and put in their places; where there are far more columns than
// coordinates, these are sorted.
#include "cpu/sparse/postings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::cpu {
namespace {

constexpr std::int64_t kFewColumns = 1 << 16;

// Whether a counter for every column costs less than sorting.
bool counts_columns(std::int64_t cols, std::int64_t entries) {
  return cols <= kFewColumns + 4 * entries;
}

template <class T>
struct Posting {
  std::int32_t column;
  std::uint16_t row;
  T value;
};

// Calls put(column, row of the block, value) for all coordinates that are not 0, row by row.
template <class T, class Put>
void each_coordinate(const CsrRows<T>& base, std::int64_t first, std::int64_t count, Put put) {
  for (std::int64_t r = 0; r < count; ++r) {
    const CsrRow<T> row = base.row(first + r);
    for (std::int64_t i = 0; i < row.count; ++i)
      if (row.values[i] != 0) put(row.columns[i], static_cast<std::uint16_t>(r), row.values[i]);
  }
}

// A coordinate as scores want it.
template <class T>
class Scaling {
 public:
  Scaling(const CsrRows<T>& base, SparseMetric metric, double scale, std::int64_t first)
      : base_(base), metric_(metric), scale_(scale), first_(first) {}

  T operator()(std::uint16_t row, T value) const {
    if (metric_ == SparseMetric::cosine)
      return static_cast<T>(static_cast<double>(value) * (1 / std::sqrt(base_.size(first_ + row))));
    return scale_ == 1 ? value : static_cast<T>(static_cast<double>(value) * scale_);
  }

 private:
  const CsrRows<T>& base_;
  SparseMetric metric_;
  double scale_;
  std::int64_t first_;
};

template <class T>
void fill_by_counting(const CsrRows<T>& base, const Scaling<T>& scaled, Postings<T>& to) {
  std::vector<std::uint32_t> places(static_cast<std::size_t>(base.cols));
  each_coordinate(base, to.first, to.count,
                  [&](std::int32_t column, std::uint16_t, T) { ++places[static_cast<std::size_t>(column)]; });
  std::uint32_t total = 0;
  for (std::size_t column = 0; column < places.size(); ++column) {
    const std::uint32_t found = places[column];
    places[column] = total;
    if (found == 0) continue;
    to.columns.push_back(static_cast<std::int32_t>(column));
    to.starts.push_back(total);
    total += found;
  }
  to.starts.push_back(total);
  to.rows.resize(total);
  const bool has_values = !to.values.empty();
  if (has_values) to.values.resize(total);
  each_coordinate(base, to.first, to.count, [&](std::int32_t column, std::uint16_t row, T value) {
    const std::size_t place = places[static_cast<std::size_t>(column)]++;
    to.rows[place] = row;
    if (has_values) to.values[place] = scaled(row, value);
  });
}

template <class T>
void fill_by_sorting(const CsrRows<T>& base, const Scaling<T>& scaled, Postings<T>& to) {
  std::vector<Posting<T>> all;
  all.reserve(static_cast<std::size_t>(base.entries(to.first, to.count)));
  each_coordinate(base, to.first, to.count, [&](std::int32_t column, std::uint16_t row, T value) {
    all.push_back({column, row, value});
  });
  std::sort(all.begin(), all.end(), [](const Posting<T>& a, const Posting<T>& b) {
    return a.column != b.column ? a.column < b.column : a.row < b.row;
  });
  const bool has_values = !to.values.empty();
  to.rows.resize(all.size());
  if (has_values) to.values.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (to.columns.empty() || to.columns.back() != all[i].column) {
      to.columns.push_back(all[i].column);
      to.starts.push_back(static_cast<std::int64_t>(i));
    }
    to.rows[i] = all[i].row;
    if (has_values) to.values[i] = scaled(all[i].row, all[i].value);
  }
  to.starts.push_back(static_cast<std::int64_t>(all.size()));
}

// About as many buckets as columns.
template <class T>
void make_buckets(std::int64_t cols, Postings<T>& to) {
  const auto wanted = 2 * static_cast<std::int64_t>(to.columns.size()) + 16;
  while (((cols - 1) >> to.shift) + 1 > wanted) ++to.shift;
  to.buckets.assign(static_cast<std::size_t>((cols - 1) >> to.shift) + 2, 0);
  for (const std::int32_t column : to.columns) ++to.buckets[static_cast<std::size_t>(column >> to.shift) + 1];
  for (std::size_t i = 1; i < to.buckets.size(); ++i) to.buckets[i] += to.buckets[i - 1];
}

}  // namespace

template <SparseElement T>
Postings<T> make_postings(const CsrRows<T>& base, SparseMetric metric, double scale, std::int64_t first,
                          std::int64_t count) {
  Postings<T> made;
  made.first = first;
  made.count = count;
  const Scaling<T> scaled(base, metric, scale, first);
  if (metric != SparseMetric::jaccard) made.values.resize(1);
  if (counts_columns(base.cols, base.entries(first, count))) {
    fill_by_counting(base, scaled, made);
  } else {
    fill_by_sorting(base, scaled, made);
  }
  make_buckets(base.cols, made);
  made.least_value = std::numeric_limits<double>::infinity();
  for (const T value : made.values) {
    const auto magnitude = static_cast<double>(std::abs(value));
    made.least_value = magnitude < made.least_value ? magnitude : made.least_value;
  }
  const bool squares = metric == SparseMetric::euclidean || metric == SparseMetric::sqeuclidean;
  if (squares || metric == SparseMetric::manhattan) made.bias.resize(static_cast<std::size_t>(count));
  for (std::int64_t r = 0; r < count; ++r) {
    const double size = base.size(first + r);
    if (!(size <= made.largest_size)) made.largest_size = size;
    if (!made.bias.empty())
      made.bias[static_cast<std::size_t>(r)] = static_cast<T>(squares ? size * scale * scale : size);
  }
  return made;
}

template <SparseElement T>
PostingsBytes postings_bytes(const CsrRows<T>& base, std::int64_t first, std::int64_t count) {
  constexpr auto kValue = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t entries = base.entries(first, count);
  const std::int64_t columns = std::min(entries, base.cols);
  // Columns and starts grow, to twice their size at most.
  const std::int64_t kept = entries * (2 + kValue) + columns * (2 * (4 + 8) + 2 * 4) + count * kValue + 512;
  const bool counts = counts_columns(base.cols, entries);
  return {kept, counts ? base.cols * 4 : entries * static_cast<std::int64_t>(sizeof(Posting<T>))};
}

#define KITH_INSTANTIATE(T)                                                                                \
  template Postings<T> make_postings(const CsrRows<T>&, SparseMetric, double, std::int64_t, std::int64_t); \
  template PostingsBytes postings_bytes(const CsrRows<T>&, std::int64_t, std::int64_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
