#include "support/oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

// A fused multiply-add would round once where the key rounds twice.
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

namespace kith::test {
namespace {

// Σ term(c), in the order of the key.
template <class Term>
double lane_sum(std::int64_t dims, Term term) {
  std::array<double, 8> lane{};
  for (std::int64_t c = 0; c < dims; ++c) lane[static_cast<std::size_t>(c % 8)] += term(c);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

double dot(const double* x, const double* y, std::int64_t dims) {
  return lane_sum(dims, [&](std::int64_t c) { return x[c] * y[c]; });
}

double cosine_distance(double product, double x_norm, double y_norm) {
  return std::clamp(1 - product / std::sqrt(x_norm * y_norm), 0.0, 2.0);
}

double largest_difference(const double* x, const double* y, std::int64_t dims) {
  double largest = 0;
  for (std::int64_t c = 0; c < dims; ++c) largest = std::max(largest, std::abs(x[c] - y[c]));
  return largest;
}

// |x − y| / (|x| + |y|), scaled where the sum would overflow.
double relative_difference(double x, double y) {
  if (x == y) return 0;
  if (!std::isfinite(std::abs(x) + std::abs(y))) return relative_difference(std::ldexp(x, -2), std::ldexp(y, -2));
  return std::abs(x - y) / (std::abs(x) + std::abs(y));
}

double key(const double* x, const double* y, std::int64_t dims, const Metric& metric) {
  switch (metric.kind) {
    case MetricKind::sqeuclidean: return lane_sum(dims, [&](std::int64_t c) { return (x[c] - y[c]) * (x[c] - y[c]); });
    case MetricKind::euclidean:
      return std::sqrt(lane_sum(dims, [&](std::int64_t c) { return (x[c] - y[c]) * (x[c] - y[c]); }));
    case MetricKind::manhattan: return lane_sum(dims, [&](std::int64_t c) { return std::abs(x[c] - y[c]); });
    case MetricKind::chebyshev: return largest_difference(x, y, dims);
    case MetricKind::minkowski:
      if (std::isinf(metric.p)) return largest_difference(x, y, dims);
      return std::pow(lane_sum(dims, [&](std::int64_t c) { return std::pow(std::abs(x[c] - y[c]), metric.p); }),
                      1 / metric.p);
    case MetricKind::cosine:
    case MetricKind::correlation:  // of centered rows
      return cosine_distance(dot(x, y, dims), dot(x, x, dims), dot(y, y, dims));
    case MetricKind::inner_product: return dot(x, y, dims);
    case MetricKind::hamming: {
      std::int64_t differing = 0;
      for (std::int64_t c = 0; c < dims; ++c) differing += x[c] != y[c] ? 1 : 0;
      return static_cast<double>(differing) / static_cast<double>(dims);
    }
    case MetricKind::canberra: return lane_sum(dims, [&](std::int64_t c) { return relative_difference(x[c], y[c]); });
  }
  return 0;
}

// The row in double; under correlation, less its mean.
template <Element T>
std::vector<double> prepared(const T* row, std::int64_t dims, const Metric& metric) {
  std::vector<double> values(row, row + dims);
  if (metric.kind == MetricKind::correlation) {
    const double mean =
        lane_sum(dims, [&](std::int64_t c) { return static_cast<double>(row[c]); }) / static_cast<double>(dims);
    for (double& value : values) value -= mean;
  }
  return values;
}

template <Element T>
Matrix<double> prepared(const Matrix<T>& points, const Metric& metric) {
  Matrix<double> all(points.rows(), points.cols());
  for (std::int64_t i = 0; i < points.rows(); ++i) {
    const std::vector<double> row = prepared(points.row(i), points.cols(), metric);
    std::copy(row.begin(), row.end(), all.row(i));
  }
  return all;
}

template <Element T>
std::vector<long double> precise_row(const T* row, std::int64_t dims, const Metric& metric) {
  std::vector<long double> values(row, row + dims);
  if (metric.kind == MetricKind::correlation) {
    const long double mean = std::accumulate(values.begin(), values.end(), 0.0L) / static_cast<long double>(dims);
    for (long double& value : values) value -= mean;
  }
  return values;
}

long double precise_cosine(const std::vector<long double>& x, const std::vector<long double>& y) {
  const long double product = std::inner_product(x.begin(), x.end(), y.begin(), 0.0L);
  const long double x_norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0L));
  const long double y_norm = std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.0L));
  return std::clamp(1 - product / x_norm / y_norm, 0.0L, 2.0L);
}

// distance(i, j) of query i and base row j, each rounded once.
template <class D, class Distance>
Truth<D> make_truth(std::int64_t base_rows, std::int64_t queries, const Metric& metric, Distance distance) {
  Truth<D> truth{base_rows, queries, metric.kind == MetricKind::inner_product, {}};
  truth.distances.reserve(static_cast<std::size_t>(base_rows * queries));
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0; j < base_rows; ++j) truth.distances.push_back(static_cast<D>(distance(i, j)));
  return truth;
}

}  // namespace

template <class D>
bool Truth<D>::before(std::int64_t query, std::int64_t a, std::int64_t b) const {
  const D left = largest_first ? distance(query, b) : distance(query, a);
  const D right = largest_first ? distance(query, a) : distance(query, b);
  return left < right || (left == right && a < b);
}

template <class D>
std::vector<std::int64_t> Truth<D>::nearest(std::int64_t query, std::int64_t k, std::int64_t excluded) const {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(base_rows));
  std::iota(ids.begin(), ids.end(), 0);
  if (excluded >= 0) ids.erase(ids.begin() + excluded);
  std::partial_sort(ids.begin(), ids.begin() + k, ids.end(),
                    [&](std::int64_t a, std::int64_t b) { return before(query, a, b); });
  ids.resize(static_cast<std::size_t>(k));
  return ids;
}

template <Element T>
Truth<DistanceOf<T>> truth_of(const Matrix<T>& base, const Matrix<T>& queries, const Metric& metric) {
  const Matrix<double> xs = prepared(queries, metric);
  const Matrix<double> ys = prepared(base, metric);
  return make_truth<DistanceOf<T>>(base.rows(), queries.rows(), metric, [&](std::int64_t i, std::int64_t j) {
    return key(xs.row(i), ys.row(j), xs.cols(), metric);
  });
}

template <Element T>
Truth<DistanceOf<T>> periodic_truth_of(const Sample<T>& sample, const Metric& metric,
                                       const std::vector<double>& period) {
  const Matrix<T>& base = sample.base;
  const Matrix<T>& queries = sample.queries;
  const std::vector<double> zeros(period.size());
  std::vector<double> differences(period.size());
  return make_truth<DistanceOf<T>>(base.rows(), queries.rows(), metric, [&](std::int64_t i, std::int64_t j) {
    for (std::size_t c = 0; c < period.size(); ++c) {
      const auto at = static_cast<std::int64_t>(c);
      double difference = std::abs(static_cast<double>(queries(i, at)) - static_cast<double>(base(j, at)));
      if (period[c] > 0) {
        difference = std::fmod(difference, period[c]);
        difference = std::min(difference, period[c] - difference);
      }
      differences[c] = difference;
    }
    return key(differences.data(), zeros.data(), base.cols(), metric);
  });
}

template <Element T>
Truth<DistanceOf<T>> precise_truth_of(const Sample<T>& sample, const Metric& metric) {
  const Matrix<T>& base = sample.base;
  const Matrix<T>& queries = sample.queries;
  return make_truth<DistanceOf<T>>(base.rows(), queries.rows(), metric, [&](std::int64_t i, std::int64_t j) {
    return precise_distance(queries.row(i), base.row(j), base.cols(), metric);
  });
}

template <Element T>
long double precise_distance(const T* x, const T* y, std::int64_t dims, const Metric& metric) {
  const std::vector<long double> a = precise_row(x, dims, metric);
  const std::vector<long double> b = precise_row(y, dims, metric);
  long double sum = 0;
  long double largest = 0;
  long double product = 0;
  long double differing = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const long double difference = std::abs(a[c] - b[c]);
    const bool squared = metric.kind == MetricKind::sqeuclidean || metric.kind == MetricKind::euclidean;
    if (metric.kind == MetricKind::manhattan) sum += difference;
    if (metric.kind == MetricKind::canberra && difference > 0) sum += difference / (std::abs(a[c]) + std::abs(b[c]));
    if (squared) sum += difference * difference;
    if (metric.kind == MetricKind::minkowski && !std::isinf(metric.p)) {
      sum += std::pow(difference, static_cast<long double>(metric.p));
    }
    largest = std::max(largest, difference);
    product += a[c] * b[c];
    differing += a[c] != b[c] ? 1 : 0;
  }
  switch (metric.kind) {
    case MetricKind::sqeuclidean:
    case MetricKind::manhattan:
    case MetricKind::canberra: return sum;
    case MetricKind::euclidean: return std::sqrt(sum);
    case MetricKind::chebyshev: return largest;
    case MetricKind::minkowski:
      return std::isinf(metric.p) ? largest : std::pow(sum, 1 / static_cast<long double>(metric.p));
    case MetricKind::cosine:
    case MetricKind::correlation: return precise_cosine(a, b);
    case MetricKind::inner_product: return product;
    case MetricKind::hamming: return differing / static_cast<long double>(dims);
  }
  return 0;
}

template <Element T>
double key_distance(const T* x, const T* y, std::int64_t dims, const Metric& metric) {
  return key(prepared(x, dims, metric).data(), prepared(y, dims, metric).data(), dims, metric);
}

namespace {

bool norms_leave_double(const Case& c) {
  const bool angle = c.metric.kind == MetricKind::cosine || c.metric.kind == MetricKind::correlation;
  const bool extreme = c.kind == Kind::subnormal || c.kind == Kind::tiny || c.kind == Kind::huge;
  return angle && extreme && c.dtype == DType::float64;
}

}  // namespace

Agreement agreement_for(const Case& c) {
  if (norms_leave_double(c)) return {false, 0, 1e-12};
  if (c.metric.kind == MetricKind::minkowski && !std::isinf(c.metric.p)) {
    return {false, c.dtype == DType::float64 ? 1e-12 : 1e-6, 0};
  }
  return {};
}

template <Element T>
Truth<DistanceOf<T>> truth_for(const Sample<T>& sample, const Case& c) {
  return norms_leave_double(c) ? precise_truth_of(sample, c.metric) : truth_of(sample, c.metric);
}

template struct Truth<float>;
template struct Truth<double>;
#define KITH_TEST_ORACLE(T)                                                                                        \
  template Truth<DistanceOf<T>> truth_of<T>(const Matrix<T>&, const Matrix<T>&, const Metric&);                    \
  template Truth<DistanceOf<T>> precise_truth_of<T>(const Sample<T>&, const Metric&);                              \
  template Truth<DistanceOf<T>> periodic_truth_of<T>(const Sample<T>&, const Metric&, const std::vector<double>&); \
  template Truth<DistanceOf<T>> truth_for<T>(const Sample<T>&, const Case&);                                       \
  template long double precise_distance<T>(const T*, const T*, std::int64_t, const Metric&);                       \
  template double key_distance<T>(const T*, const T*, std::int64_t, const Metric&);
KITH_TEST_ORACLE(float)
KITH_TEST_ORACLE(double)
KITH_TEST_ORACLE(std::uint8_t)
KITH_TEST_ORACLE(std::int8_t)
#undef KITH_TEST_ORACLE

}  // namespace kith::test
