#include "support/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <tuple>

#include "core/elements.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

template <Element T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

// Integers are rounded and clamped to their range.
template <Element T>
T to_element(double value) {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(value);
  } else {
    constexpr double kLow = std::numeric_limits<T>::min();
    constexpr double kHigh = std::numeric_limits<T>::max();
    return static_cast<T>(std::clamp(std::nearbyint(value), kLow, kHigh));
  }
}

template <Element T>
constexpr double kCenter = std::is_same_v<T, std::uint8_t> ? 128 : 0;
template <Element T>
constexpr double kReach = kIsFloat<T> ? 1 : 127;

// One value of the kinds whose values are independent of each other.
template <Element T>
double independent_value(Kind kind, Random& random) {
  switch (kind) {
    case Kind::gaussian: return kCenter<T> + (kIsFloat<T> ? 1 : 40) * random.gaussian();
    case Kind::ties: return static_cast<double>(random.below(4));
    case Kind::large_offset:
      if constexpr (std::is_same_v<T, float>) return 1e6 + 8 * random.uniform();
      if constexpr (std::is_same_v<T, double>) return 1e9 + 1e-3 * random.uniform();
      return static_cast<double>(std::numeric_limits<T>::max()) - static_cast<double>(random.below(6));
    case Kind::subnormal:
      if constexpr (!kIsFloat<T>) return static_cast<double>(random.below(2));
      return static_cast<double>(std::numeric_limits<T>::denorm_min()) *
             static_cast<double>(random.below(1 << 20) - (1 << 19));
    case Kind::tiny:
      if constexpr (!kIsFloat<T>) return static_cast<double>(random.below(2));
      return (std::is_same_v<T, float> ? 1e-30 : 1e-150) * random.gaussian();
    case Kind::huge:
      if constexpr (kIsFloat<T>) return 1e30 * random.gaussian();
      return random.below(2) == 0 ? -1e3 : 1e3;  // clamped to the ends of the range
    default: return kCenter<T> + kReach<T> * (2 * random.uniform() - 1);
  }
}

template <Element T>
void fill_independent(Matrix<T>& points, Kind kind, Random& random) {
  for (std::int64_t i = 0; i < points.rows(); ++i) {
    for (std::int64_t c = 0; c < points.cols(); ++c) points(i, c) = to_element<T>(independent_value<T>(kind, random));
  }
}

template <Element T>
void copy_row(const Matrix<T>& from, std::int64_t source, Matrix<T>& to, std::int64_t target) {
  std::copy_n(from.row(source), from.cols(), to.row(target));
}

template <Element T>
void fill_clustered(Sample<T>& sample, Random& random) {
  const std::int64_t dims = sample.base.cols();
  Matrix<double> centers(8, dims);
  for (std::int64_t i = 0; i < centers.rows(); ++i) {
    double norm = 0;
    for (std::int64_t c = 0; c < dims; ++c) {
      centers(i, c) = random.gaussian();
      norm += centers(i, c) * centers(i, c);
    }
    const double scale = (kIsFloat<T> ? 113 : 200) / std::sqrt(norm);
    for (std::int64_t c = 0; c < dims; ++c) centers(i, c) = kCenter<T> + scale * centers(i, c);
  }
  const double spread = kIsFloat<T> ? 0.1 : 1.5;
  for (Matrix<T>* points : {&sample.base, &sample.queries}) {
    for (std::int64_t i = 0; i < points->rows(); ++i) {
      const double* center = centers.row(random.below(centers.rows()));
      for (std::int64_t c = 0; c < dims; ++c) {
        (*points)(i, c) = to_element<T>(center[c] + spread * random.gaussian());
      }
    }
  }
}

template <Element T>
void fill_duplicates(Sample<T>& sample, Random& random) {
  Matrix<T> pool((sample.base.rows() + 9) / 10, sample.base.cols());
  fill_independent(pool, Kind::uniform, random);
  for (std::int64_t i = 0; i < sample.base.rows(); ++i) copy_row(pool, random.below(pool.rows()), sample.base, i);
  fill_independent(sample.queries, Kind::uniform, random);
  for (std::int64_t i = 0; i < sample.queries.rows(); i += 2) {
    copy_row(pool, random.below(pool.rows()), sample.queries, i);
  }
}

template <Element T>
void fill_descending(Sample<T>& sample, Random& random) {
  const double noise = kIsFloat<T> ? 1e-4 : 0.3;
  const auto rows = static_cast<double>(sample.base.rows());
  for (std::int64_t i = 0; i < sample.base.rows(); ++i) {
    const double distance = 0.9 * kReach<T> * (rows - static_cast<double>(i)) / rows;
    for (std::int64_t c = 0; c < sample.base.cols(); ++c) {
      const double side = c % 2 == 0 ? 1 : -1;
      sample.base(i, c) = to_element<T>(kCenter<T> + side * distance + noise * random.gaussian());
    }
  }
  for (std::int64_t i = 0; i < sample.queries.rows(); ++i) {
    for (std::int64_t c = 0; c < sample.queries.cols(); ++c) {
      sample.queries(i, c) = to_element<T>(kCenter<T> + 0.01 * kReach<T> * random.gaussian());
    }
  }
}

template <Element T>
void fill_equal(Sample<T>& sample, Random& random) {
  Matrix<T> point(1, sample.base.cols());
  fill_independent(point, Kind::uniform, random);
  for (std::int64_t i = 0; i < sample.base.rows(); ++i) copy_row(point, 0, sample.base, i);
  for (std::int64_t i = 0; i < sample.queries.rows(); ++i) copy_row(point, 0, sample.queries, i);
}

}  // namespace

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds = {Kind::uniform, Kind::gaussian,     Kind::clustered,  Kind::duplicates,
                                          Kind::ties,    Kind::large_offset, Kind::descending, Kind::all_equal,
                                          Kind::huge,    Kind::subnormal,    Kind::tiny};
  return kinds;
}

const std::vector<Layout>& all_layouts() {
  static const std::vector<Layout> layouts = {Layout::packed, Layout::padded, Layout::column_major,
                                              Layout::interleaved};
  return layouts;
}

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> dtypes = {DType::float32, DType::float64, DType::uint8, DType::int8};
  return dtypes;
}

const std::vector<Metric>& all_metrics() {
  static const std::vector<Metric> metrics = {MetricKind::sqeuclidean,
                                              MetricKind::euclidean,
                                              MetricKind::manhattan,
                                              MetricKind::chebyshev,
                                              Metric::minkowski(1.5),
                                              Metric::minkowski(3),
                                              Metric::minkowski(std::numeric_limits<double>::infinity()),
                                              MetricKind::cosine,
                                              MetricKind::correlation,
                                              MetricKind::inner_product,
                                              MetricKind::hamming,
                                              MetricKind::canberra};
  return metrics;
}

const char* to_string(Kind kind) {
  constexpr const char* kNames[] = {"uniform",    "gaussian",  "clustered", "duplicates", "ties", "large_offset",
                                    "descending", "all_equal", "subnormal", "tiny",       "huge"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* to_string(Layout layout) {
  constexpr const char* kNames[] = {"packed", "padded", "column_major", "interleaved"};
  return kNames[static_cast<std::size_t>(layout)];
}

template <Element T>
void make_valid(Matrix<T>& points, const Metric& metric) {
  for (std::int64_t i = 0; i < points.rows(); ++i) {
    T* row = points.row(i);
    const auto [low, high] = std::minmax_element(row, row + points.cols());
    if (metric.kind == MetricKind::cosine && *low == 0 && *high == 0) row[0] = 1;
    if (metric.kind == MetricKind::correlation && *low == *high) {
      row[0] = static_cast<T>(row[0] == 0 ? T{1} : static_cast<T>(row[0] / 2));
    }
  }
}

template <Element T>
Sample<T> generate(Kind kind, Shape shape, const Metric& metric, std::uint64_t seed) {
  // The squares of subnormal doubles vanish, so that double cannot tell such a vector from zero.
  const bool angle = metric.kind == MetricKind::cosine || metric.kind == MetricKind::correlation;
  if (kind == Kind::subnormal && angle && std::is_same_v<T, double>) kind = Kind::tiny;
  Random random(seed);
  Sample<T> sample{Matrix<T>(shape.base_rows, shape.dims), Matrix<T>(shape.queries, shape.dims)};
  switch (kind) {
    case Kind::clustered: fill_clustered(sample, random); break;
    case Kind::duplicates: fill_duplicates(sample, random); break;
    case Kind::descending: fill_descending(sample, random); break;
    case Kind::all_equal: fill_equal(sample, random); break;
    default: fill_independent(sample.base, kind, random); fill_independent(sample.queries, kind, random);
  }
  make_valid(sample.base, metric);
  make_valid(sample.queries, metric);
  return sample;
}

template <Element T>
Points<T>::Points(const Matrix<T>& dense, Layout layout) {
  const std::int64_t rows = dense.rows();
  const std::int64_t cols = dense.cols();
  std::int64_t row_stride = cols;
  std::int64_t col_stride = 1;
  if (layout == Layout::padded) row_stride = cols + 3;
  if (layout == Layout::column_major) std::tie(row_stride, col_stride) = std::pair(std::int64_t{1}, rows);
  if (layout == Layout::interleaved) std::tie(row_stride, col_stride) = std::pair(2 * cols + 1, std::int64_t{2});
  // One element in front, so that rows do not start where the allocator aligned them.
  const std::int64_t last = 1 + (rows - 1) * row_stride + (cols - 1) * col_stride;
  T poison = T(90);
  if constexpr (core::kIsFloating<T>) poison = static_cast<T>(std::numeric_limits<double>::quiet_NaN());
  memory_.assign(static_cast<std::size_t>(last + 1), poison);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t c = 0; c < cols; ++c) {
      memory_[static_cast<std::size_t>(1 + i * row_stride + c * col_stride)] = dense(i, c);
    }
  }
  view_ = MatrixView<T>(memory_.data() + 1, rows, cols, row_stride, col_stride);
}

Options Case::options() const {
  Options options;
  options.metric = metric;
  options.backend = backend;
  options.method = method;
  options.distance = distance;
  options.threads = threads;
  options.memory_budget = budget;
  options.triangle.base_landmarks = base_landmarks;
  options.triangle.query_landmarks = query_landmarks;
  return options;
}

Options options_for(const Metric& metric, DistanceStage stage, int threads) {
  Options options;
  options.metric = metric;
  options.distance = stage;
  options.threads = threads;
  return options;
}

Options options_for(DistanceStage stage, int threads) {
  return options_for(MetricKind::euclidean, stage, threads);
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << kith::to_string(c.metric) << ' ' << kith::to_string(c.dtype) << ' ' << to_string(c.kind)
             << " n=" << c.shape.base_rows << " q=" << c.shape.queries << " d=" << c.shape.dims << " k=" << c.k
             << " base=" << to_string(c.base_layout) << " queries=" << to_string(c.query_layout)
             << " method=" << kith::to_string(c.method) << " distance=" << c.distance << " threads=" << c.threads
             << " budget=" << c.budget << " seed=" << c.seed << " backend=" << c.backend
             << " landmarks=" << c.base_landmarks << ',' << c.query_landmarks;
}

template Sample<float> generate<float>(Kind, Shape, const Metric&, std::uint64_t);
template Sample<double> generate<double>(Kind, Shape, const Metric&, std::uint64_t);
template Sample<std::uint8_t> generate<std::uint8_t>(Kind, Shape, const Metric&, std::uint64_t);
template Sample<std::int8_t> generate<std::int8_t>(Kind, Shape, const Metric&, std::uint64_t);
template void make_valid<float>(Matrix<float>&, const Metric&);
template void make_valid<double>(Matrix<double>&, const Metric&);
template class Points<float>;
template class Points<double>;
template class Points<std::uint8_t>;
template class Points<std::int8_t>;
template class Points<Float16>;
template class Points<BFloat16>;

}  // namespace kith::test
