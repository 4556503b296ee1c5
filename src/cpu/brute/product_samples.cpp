#include "cpu/brute/product_samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/instantiate.hpp"
#include "core/score_bounds.hpp"

namespace kith::cpu {
namespace {

// Rows of the base, evenly spaced.
std::vector<std::int64_t> sampled_rows(std::int64_t rows, std::int64_t most) {
  const std::int64_t count = std::min(most, rows);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) ids[static_cast<std::size_t>(i)] = i * rows / count;
  return ids;
}

// Calls use(query, raw) with the raw sums of some queries and the rows with these ids.
template <Element T, class Use>
void for_sampled_queries(const PreparedRows<T>& base, const PreparedRows<T>& queries,
                         const std::vector<std::int64_t>& ids, std::int64_t most, Use use) {
  const std::int64_t count = std::min(most, queries.view.rows);
  std::vector<double> query(static_cast<std::size_t>(base.view.cols));
  std::vector<double> raw(ids.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t q = i * queries.view.rows / count;
    exact_query(queries, q, query.data());
    exact_sums(core::form_of(base.metric), base.metric.p, query.data(), base.exact_base(), ids.data(),
               static_cast<std::int64_t>(ids.size()), raw.data());
    use(q, raw);
  }
}

template <Element T>
double largest_square_norm(const PreparedRows<T>& base) {
  return *std::max_element(base.square_norms.begin(), base.square_norms.end());
}

// The true score of a raw sum, less what is the same for all points.
template <Element T>
double score_of(double raw, const PreparedRows<T>& base, std::int64_t row, double query_square_norm) {
  if (core::form_of(base.metric) == core::Form::squared) return raw * base.scale * base.scale;
  if (core::has_directions(base.metric)) return -raw / std::sqrt(query_square_norm * base.facts(row).square_norm);
  return -raw * base.scale * base.scale;
}

}  // namespace

template <Element T>
bool expansion_is_sharp(const PreparedRows<T>& base, const PreparedRows<T>& queries) {
  using F = DistanceOf<T>;
  constexpr std::int64_t kQueries = 16;
  constexpr std::int64_t kRows = 1024;
  constexpr double kMaxError = 1e-3;  // error over nearest distance in the sample, beyond which candidates multiply
  const core::ScoreBounds<F> bounds(base.metric, base.view.cols, true, core::range_of_type<T>(), base.scale);
  const double largest = largest_square_norm(base);
  std::int64_t sharp = 0;
  std::int64_t count = 0;
  for_sampled_queries(base, queries, sampled_rows(base.view.rows, kRows), kQueries,
                      [&](std::int64_t q, const auto& raw) {
                        // A distance of 0 is the query itself, or a copy: it is skipped.
                        double nearest = std::numeric_limits<double>::infinity();
                        for (const double distance : raw)
                          if (distance > 0) nearest = std::min(nearest, distance);
                        const double error = bounds.error(queries.facts(q).square_norm, largest);
                        sharp += error <= kMaxError * nearest * base.scale * base.scale ? 1 : 0;
                        ++count;
                      });
  return 2 * sharp > count;
}

template <Element T>
double bf16_candidates(const PreparedRows<T>& base, const PreparedRows<T>& queries) {
  using F = DistanceOf<T>;
  // Directions this near are those of the query itself, or of a copy.
  constexpr double kSameDirection = -1 + 1e-6;
  const bool squared = core::form_of(base.metric) == core::Form::squared;
  const bool directions = core::has_directions(base.metric);
  const core::ScoreBounds<F> bounds(base.metric, base.view.cols, squared, 0, base.scale, core::kBf16Operands);
  const double largest = largest_square_norm(base);
  const std::vector<std::int64_t> ids = sampled_rows(base.view.rows, core::kBf16SampleRows);
  double found = 0;
  double count = 0;
  for_sampled_queries(base, queries, ids, core::kBf16SampleQueries, [&](std::int64_t q, const auto& raw) {
    const double square_norm = queries.facts(q).square_norm;
    std::vector<double> scores;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const double score = score_of(raw[i], base, ids[i], square_norm);
      if (!(squared && score == 0) && !(directions && score < kSameDirection)) scores.push_back(score);
    }
    if (scores.empty()) return;
    const double nearest = *std::min_element(scores.begin(), scores.end());
    const double limit = nearest + 2 * bounds.error(square_norm, largest);
    found += static_cast<double>(std::count_if(scores.begin(), scores.end(), [&](double s) { return s <= limit; }));
    ++count;
  });
  return count > 0 ? found / count : 1;
}

#define KITH_INSTANTIATE(T)                                                         \
  template bool expansion_is_sharp(const PreparedRows<T>&, const PreparedRows<T>&); \
  template double bf16_candidates(const PreparedRows<T>&, const PreparedRows<T>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
