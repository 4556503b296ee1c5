// sparse_scores.cpp: sums by columns.
#include "cpu/sparse/sparse_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/sparse/sparse_key.hpp"

namespace kith::cpu {
namespace {

bool is_product(SparseMetric metric) {
  return metric == SparseMetric::cosine || metric == SparseMetric::inner_product;
}

template <class T>
void add_products(const ScoredQuery<T>& query, const Postings<T>& block, T* scores) {
  for (std::int64_t i = 0; i < query.row.count; ++i) {
    const T x = static_cast<T>(static_cast<double>(query.row.values[i]) * query.factor);
    if (x == 0) continue;
    const auto [first, last] = block.find(query.row.columns[i]);
    const std::uint16_t* const rows = block.rows.data();
    const T* const values = block.values.data();
    for (std::int64_t at = first; at < last; ++at) scores[rows[at]] += x * values[at];
  }
}

// −2 min(|x|,|y|) where x and y have one sign.
template <class T>
void add_minima(const ScoredQuery<T>& query, const Postings<T>& block, T* scores) {
  for (std::int64_t i = 0; i < query.row.count; ++i) {
    const T magnitude = std::abs(query.row.values[i]);
    const T sign = query.row.values[i] < 0 ? T{-1} : T{1};
    const auto [first, last] = block.find(query.row.columns[i]);
    const std::uint16_t* const rows = block.rows.data();
    const T* const values = block.values.data();
    for (std::int64_t at = first; at < last; ++at) {
      const T same = std::min(magnitude, sign * values[at]);
      scores[rows[at]] -= 2 * (same > 0 ? same : T{0});
    }
  }
}

template <class T>
void add_counts(const ScoredQuery<T>& query, const Postings<T>& block, std::int32_t* counts) {
  for (std::int64_t i = 0; i < query.row.count; ++i) {
    if (query.row.values[i] == 0) continue;
    const auto [first, last] = block.find(query.row.columns[i]);
    const std::uint16_t* const rows = block.rows.data();
    for (std::int64_t at = first; at < last; ++at) ++counts[rows[at]];
  }
}

template <class T>
T* jaccard_scores(const CsrRows<T>& base, const ScoredQuery<T>& query, const Postings<T>& block,
                  ScoreScratch<T>& scratch) {
  scratch.counts.assign(static_cast<std::size_t>(block.count), 0);
  add_counts(query, block, scratch.counts.data());
  scratch.scores.resize(static_cast<std::size_t>(block.count));
  const double* const sizes = base.sizes.data() + block.first;
  for (std::size_t r = 0; r < scratch.scores.size(); ++r)
    scratch.scores[r] = static_cast<T>(jaccard_distance(query.size, sizes[r], static_cast<double>(scratch.counts[r])));
  return scratch.scores.data();
}

}  // namespace

template <SparseElement T>
ScoredQuery<T> scored_query(const CsrRows<T>& queries, SparseMetric metric, double scale, std::int64_t query) {
  ScoredQuery<T> scored{queries.row(query), queries.size(query), -2 * scale, std::numeric_limits<double>::infinity()};
  if (metric == SparseMetric::inner_product) scored.factor = -scale;
  if (metric == SparseMetric::cosine) scored.factor = -1 / std::sqrt(scored.size);
  if (!is_product(metric)) return scored;
  for (std::int64_t i = 0; i < scored.row.count; ++i) {
    if (scored.row.values[i] == 0) continue;
    const T x = static_cast<T>(static_cast<double>(scored.row.values[i]) * scored.factor);
    scored.least_scaled = std::min(scored.least_scaled, static_cast<double>(std::abs(x)));
  }
  return scored;
}

template <SparseElement T>
bool tells_zeros(SparseMetric metric, const ScoredQuery<T>& query, const Postings<T>& block) {
  return is_product(metric) &&
         query.least_scaled * block.least_value >= 2 * static_cast<double>(std::numeric_limits<T>::min());
}

template <SparseElement T>
T* make_scores(SparseMetric metric, const CsrRows<T>& base, const ScoredQuery<T>& query, const Postings<T>& block,
               ScoreScratch<T>& scratch) {
  if (metric == SparseMetric::jaccard) return jaccard_scores(base, query, block, scratch);
  scratch.scores.assign(static_cast<std::size_t>(block.count), is_product(metric) ? T{-0.0} : T{0});
  T* const scores = scratch.scores.data();
  if (metric == SparseMetric::manhattan) {
    add_minima(query, block, scores);
  } else {
    add_products(query, block, scores);
  }
  return scores;
}

#define KITH_INSTANTIATE(T)                                                                    \
  template ScoredQuery<T> scored_query(const CsrRows<T>&, SparseMetric, double, std::int64_t); \
  template bool tells_zeros(SparseMetric, const ScoredQuery<T>&, const Postings<T>&);          \
  template T* make_scores(SparseMetric, const CsrRows<T>&, const ScoredQuery<T>&, const Postings<T>&, ScoreScratch<T>&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
