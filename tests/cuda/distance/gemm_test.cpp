// Matrix products, the scores made of them, and points rounded to fp16: all errors are within their bounds.
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "core/score_bounds.hpp"
#include "cuda/points/fp16_rows.hpp"
#include "distance/score_problem.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

using core::Form;
using core::Fp16Bounds;
using core::Fp16Norms;
using device::Fp16;
using device::Fp16Rows;
using device::Stream;
using device::Workspace;

using Gemm = DeviceTest;

template <class T>
T converted(double value) {
  if constexpr (std::is_same_v<T, Fp16>)
    return device::fp16_of(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <class T>
double in_double(T value) {
  if constexpr (std::is_same_v<T, Fp16>)
    return static_cast<double>(device::float_of(value));
  else
    return static_cast<double>(value);
}

template <class T>
PointSet<T> matrix(std::int64_t count, std::int64_t dims, std::int64_t gap, const std::function<double()>& draw) {
  PointSet<T> made(count, dims, {1, gap}, converted<T>(std::numeric_limits<double>::quiet_NaN()));
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t c = 0; c < dims; ++c) made.at(i, c) = converted<T>(draw());
  return made;
}

std::function<double()> gaussian(unsigned seed) {
  return
      [random = std::mt19937(seed), normal = std::normal_distribution<double>()]() mutable { return normal(random); };
}

struct Sums {
  long double product = 0, magnitude = 0;
};

template <class T>
Sums sums(const T* x, const T* y, std::int64_t dims) {
  Sums all;
  for (std::int64_t c = 0; c < dims; ++c) {
    const long double term = static_cast<long double>(in_double(x[c])) * static_cast<long double>(in_double(y[c]));
    all.product += term;
    all.magnitude += std::abs(term);
  }
  return all;
}

struct Sizes {
  std::int64_t left, right, inner, gap;
};

constexpr Sizes kSizes[] = {{1, 1, 1, 0}, {3, 5, 7, 2}, {17, 33, 64, 0}, {2, 257, 19, 5}, {40, 31, 130, 1}};

// The relative error that matrix_multiply.hpp promises.
template <class In>
double promised(std::int64_t inner, bool tf32) {
  if constexpr (std::is_same_v<In, Fp16>)
    return static_cast<double>(inner) * 0x1p-22;
  else
    return core::gamma<In>(inner + 4) + (tf32 ? 0x1p-9 + 0x1p-20 : 0.0);
}

template <class In>
void expect_product(const Sizes& sizes, bool with_bias, bool tf32, std::size_t budget = 0) {
  using Out = typename device::ProductOf<In>::Type;
  SCOPED_TRACE(testing::Message() << sizes.left << " x " << sizes.right << " x " << sizes.inner << " + " << sizes.gap
                                  << (with_bias ? ", bias" : "") << (tf32 ? ", tf32" : ""));
  constexpr double kAlpha = -2;
  const Out untouched = 12345;
  const auto left = matrix<In>(sizes.left, sizes.inner, sizes.gap, gaussian(1));
  const auto right = matrix<In>(sizes.right, sizes.inner, sizes.gap, gaussian(2));
  const auto bias = matrix<Out>(1, sizes.right, 0, gaussian(3));
  const std::int64_t stride = sizes.right + sizes.gap;

  const Stream stream;
  Workspace workspace(stream, budget);
  DeviceArray<In> left_there(left.values, stream);
  DeviceArray<In> right_there(right.values, stream);
  DeviceArray<Out> addends_there(bias.values, stream);
  DeviceArray<Out> result(std::vector<Out>(static_cast<std::size_t>(sizes.left * stride), untouched), stream);
  device::multiply(device::MultiplyCall<In>{.left = {left_there.data() + 1, sizes.left, left.stride},
                                            .right = {right_there.data() + 1, sizes.right, right.stride},
                                            .inner = sizes.inner,
                                            .alpha = kAlpha,
                                            .bias = with_bias ? addends_there.data() + 1 : nullptr,
                                            .result = result.data(),
                                            .result_stride = stride,
                                            .tf32 = tf32,
                                            .workspace = workspace});
  const std::vector<Out> found = result.values();
  for (std::int64_t i = 0; i < sizes.left; ++i)
    for (std::int64_t j = 0; j < stride; ++j) {
      const Out value = found[static_cast<std::size_t>(i * stride + j)];
      if (j >= sizes.right) {
        ASSERT_EQ(value, untouched) << "row " << i << " was written behind its end";
        continue;
      }
      const auto [product, magnitude] = sums(left.row(i), right.row(j), sizes.inner);
      const long double added = with_bias ? static_cast<long double>(bias.row(0)[j]) : 0.0L;
      const long double magnitudes = std::abs(kAlpha) * magnitude + std::abs(added);
      const long double bound =
          std::abs(kAlpha) * promised<In>(sizes.inner, tf32) * magnitude + 2 * core::unit_roundoff<Out>() * magnitudes;
      ASSERT_LE(std::abs(static_cast<long double>(value) - (kAlpha * product + added)), bound) << i << ", " << j;
    }
}

TEST_F(Gemm, MultipliesInEveryPrecision) {
  for (const Sizes& sizes : kSizes) {
    for (const bool with_bias : {false, true}) {
      expect_product<float>(sizes, with_bias, false);
      expect_product<double>(sizes, with_bias, false);
      expect_product<Fp16>(sizes, with_bias, false);
    }
    expect_product<float>(sizes, true, true);
  }
}

TEST_F(Gemm, NeedsNoWorkspace) {
  expect_product<float>({8, 24, 300, 0}, true, false, 1);
  expect_product<Fp16>({8, 24, 304, 0}, true, false, 1);
}

TEST_F(Gemm, RefusesSizesByName) {
  const Stream stream;
  Workspace workspace(stream);
  constexpr std::int64_t kTooMany = std::int64_t{1} << 31;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"right rows", "2147483648", "2147483647"}, [&] {
    device::multiply(device::MultiplyCall<float>{
        .left = {nullptr, 1, 4}, .right = {nullptr, kTooMany, 4}, .inner = 4, .workspace = workspace});
  }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"the left stride", "3", "from 4"}, [&] {
    device::multiply(device::MultiplyCall<float>{
        .left = {nullptr, 2, 3}, .right = {nullptr, 1, 4}, .inner = 4, .result_stride = 1, .workspace = workspace});
  }));
}

TEST_F(Gemm, MultipliesNothing) {
  const Stream stream;
  Workspace workspace(stream);
  device::multiply(device::MultiplyCall<float>{
      .left = {}, .right = {nullptr, 3, 4}, .inner = 4, .result_stride = 3, .workspace = workspace});
  stream.synchronize();
}

TEST_F(Gemm, RefusesFormsThatAreNoProduct) {
  const Stream stream;
  Workspace workspace(stream);
  const std::pair<Form, std::string> forms[] = {{Form::squared, "squared without bias"},
                                                {Form::absolute, "absolute"},
                                                {Form::maximum, "maximum"},
                                                {Form::power, "power"},
                                                {Form::mismatch, "mismatch"},
                                                {Form::ratio, "ratio"}};
  for (const auto& [form, name] : forms)
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {name}, [&, form = form] {
      device::distance::gemm_scores(
          device::distance::ScoreCall<float>{.queries = {}, .base = {}, .form = form, .workspace = workspace});
    }));
}

template <class F>
void expect_scores() {
  Random random(4);
  auto queries = score_points<F>(13, 37, {1, 3}, random);
  auto base = score_points<F>(90, 37, {1, 0}, random);
  ScoreProblem<F> problem(std::move(queries), std::move(base));
  for (const FormCase& form : kForms)
    if (form.expanded || form.form == Form::dot)
      for (const std::int64_t gap : {0, 3}) problem.check(device::distance::gemm_scores<F>, form, {1, gap});
}

TEST_F(Gemm, ScoresProductsAndExpandedSquares) {
  expect_scores<float>();
  expect_scores<double>();
}

TEST(Fp16Scale, ScalesTheLargestToTheSameRange) {
  for (const float largest : {1.0F, 1e-9F, 3.5e8F, 0.999F, 1e15F}) {
    const double scale = device::fp16_scale(largest);
    EXPECT_GE(largest * scale, 0x1p11) << largest;
    EXPECT_LE(largest * scale, 0x1p12) << largest;
    int exponent = 0;
    EXPECT_EQ(std::frexp(scale, &exponent), 0.5) << largest;
  }
  EXPECT_EQ(device::fp16_scale(0), 1);
  EXPECT_EQ(device::fp16_scale(1e-38F), 0x1p60);
  EXPECT_EQ(device::fp16_scale(std::numeric_limits<float>::infinity()), 0x1p-60);
}

using Fp16Points = DeviceTest;

// A set of points on the device, rounded to fp16.
class Rounded {
 public:
  Rounded(const PointSet<float>& points, const float* center, double scale, cudaStream_t stream)
      : points_(points.values, stream),
        fp16_(std::vector<Fp16>(static_cast<std::size_t>(points.rows * device::fp16_stride(points.dims)),
                                converted<Fp16>(std::numeric_limits<double>::quiet_NaN())),
              stream),
        norms_(std::vector<Fp16Norms>(static_cast<std::size_t>(points.rows)), stream),
        square_norms_(std::vector<float>(static_cast<std::size_t>(points.rows)), stream),
        rows_{fp16_.data(), norms_.data(), points.rows, device::fp16_stride(points.dims), scale} {
    device::round_rows({points_.data() + 1, points.rows, points.stride}, points.dims, center, rows_,
                       square_norms_.data(), stream);
  }

  const Fp16Rows& rows() const { return rows_; }
  const float* square_norms() { return square_norms_.data(); }
  std::vector<Fp16> fp16() const { return fp16_.values(); }
  std::vector<Fp16Norms> norms() const { return norms_.values(); }

 private:
  DeviceArray<float> points_;
  DeviceArray<Fp16> fp16_;
  DeviceArray<Fp16Norms> norms_;
  DeviceArray<float> square_norms_;
  Fp16Rows rows_;
};

// A base and queries, with the base's center and scale as the device computes them.
class Problem {
 public:
  Problem(PointSet<float> queries, PointSet<float> base, bool centered)
      : queries_(std::move(queries)),
        base_(std::move(base)),
        workspace_(stream_),
        center_there_(std::vector<float>(static_cast<std::size_t>(base_.dims)), stream_),
        centered_(centered) {
    DeviceArray<float> points(base_.values, stream_);
    const device::PointRows<float> rows{points.data() + 1, base_.rows, base_.stride};
    if (centered) device::column_means(rows, base_.dims, center_there_.data(), workspace_);
    DeviceArray<float> largest({-1.0F}, stream_);
    device::largest_magnitude(rows, base_.dims, center(), largest.data(), stream_);
    largest_ = largest.values()[0];
    scale_ = device::fp16_scale(largest_);
  }

  const float* center() { return centered_ ? center_there_.data() : nullptr; }
  std::vector<float> center_values() const { return center_there_.values(); }  // zeros without a center
  float largest() const { return largest_; }
  double scale() const { return scale_; }
  const PointSet<float>& queries() const { return queries_; }
  const PointSet<float>& base() const { return base_; }
  Rounded rounded(const PointSet<float>& points) { return Rounded(points, center(), scale_, stream_); }
  Workspace& workspace() { return workspace_; }

 private:
  PointSet<float> queries_, base_;
  Stream stream_;
  Workspace workspace_;
  DeviceArray<float> center_there_;
  bool centered_;
  float largest_ = 0;
  double scale_ = 1;
};

std::vector<long double> centered_row(const PointSet<float>& points, std::int64_t i, const std::vector<float>& center) {
  std::vector<long double> row;
  for (std::size_t c = 0; c < center.size(); ++c)
    row.push_back(static_cast<long double>(points.row(i)[c]) - static_cast<long double>(center[c]));
  return row;
}

long double product_of(const std::vector<long double>& x, const std::vector<long double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0L);
}

void expect_norms(Problem& problem, const PointSet<float>& points) {
  const Rounded rounded = problem.rounded(points);
  const std::vector<Fp16> fp16 = rounded.fp16();
  const std::vector<Fp16Norms> norms = rounded.norms();
  const std::vector<float> center = problem.center_values();
  const std::int64_t stride = device::fp16_stride(points.dims);
  for (std::int64_t i = 0; i < points.rows; ++i) {
    const std::vector<long double> exact = centered_row(points, i, center);
    std::vector<long double> kept, lost;
    for (std::int64_t c = 0; c < stride; ++c) {
      const double rounded_x = in_double(fp16[static_cast<std::size_t>(i * stride + c)]);
      ASSERT_TRUE(std::isfinite(rounded_x)) << "row " << i << ", " << c;
      if (c >= points.dims) {
        ASSERT_EQ(rounded_x, 0.0) << "row " << i << ", " << c;
        continue;
      }
      kept.push_back(static_cast<long double>(rounded_x) / problem.scale());
      lost.push_back(exact[static_cast<std::size_t>(c)] - kept.back());
    }
    const Fp16Norms& norm = norms[static_cast<std::size_t>(i)];
    const auto expect_above = [&](double found, const std::vector<long double>& row, const char* name) {
      const long double exact_norm = std::sqrt(product_of(row, row));
      EXPECT_GE(found, exact_norm) << name << " of row " << i;
      EXPECT_LE(found, exact_norm * (1 + 1e-12L) + std::sqrt(product_of(exact, exact)) * 1e-15L)
          << name << " of row " << i;
    };
    expect_above(norm.exact, exact, "exact");
    const long double square = product_of(exact, exact);
    const double below = Fp16Bounds(stride, true).square_below(norm);
    EXPECT_LE(below, square) << "row " << i;
    EXPECT_GE(below, square * (1 - 1e-12L)) << "row " << i;
    expect_above(norm.rounded, kept, "rounded");
    expect_above(norm.lost, lost, "lost");
  }
}

struct Seen {
  double error = 0;  // the largest of all pairs
  double bound = 0;  // the largest of all pairs
};

// Computes the scores of all pairs and expects each error to be within its bound.
Seen expect_fp16_scores(Problem& problem, bool expanded) {
  const PointSet<float>& queries = problem.queries();
  const PointSet<float>& base = problem.base();
  Rounded x = problem.rounded(queries);
  Rounded y = problem.rounded(base);
  const std::int64_t stride = base.rows + 1;
  DeviceArray<float> scores(std::vector<float>(static_cast<std::size_t>(queries.rows * stride)),
                            problem.workspace().stream());
  device::distance::fp16_gemm_scores({.queries = x.rows(),
                                      .base = y.rows(),
                                      .bias = expanded ? y.square_norms() : nullptr,
                                      .scores = scores.data(),
                                      .score_stride = stride,
                                      .workspace = problem.workspace()});
  const std::vector<float> found = scores.values();
  const std::vector<Fp16Norms> x_norms = x.norms();
  const std::vector<Fp16Norms> y_norms = y.norms();
  const std::vector<float> center = problem.center_values();
  const Fp16Bounds bounds(y.rows().stride, expanded);
  Fp16Norms tile;
  for (const Fp16Norms& norm : y_norms) tile = core::largest(tile, norm);

  Seen seen;
  for (std::int64_t i = 0; i < queries.rows; ++i) {
    const Fp16Norms& x_norm = x_norms[static_cast<std::size_t>(i)];
    const std::vector<long double> point = centered_row(queries, i, center);
    for (std::int64_t j = 0; j < base.rows; ++j) {
      const std::vector<long double> other = centered_row(base, j, center);
      const long double product = product_of(point, other);
      const long double truth = expanded ? product_of(other, other) - 2 * product : -product;
      const double bound = bounds.error(x_norm, y_norms[static_cast<std::size_t>(j)]);
      EXPECT_LE(bound, bounds.error(x_norm, tile));
      seen.bound = std::max(seen.bound, bound);
      if (std::isinf(bound)) continue;
      const auto score = static_cast<long double>(found[static_cast<std::size_t>(i * stride + j)]);
      EXPECT_LE(std::abs(score - truth), bound) << "query " << i << ", base " << j;
      seen.error = std::max(seen.error, static_cast<double>(std::abs(score - truth)));
    }
  }
  return seen;
}

// Points `scale` · draw + offset, of which the queries are `farther` times as far away.
Problem drawn(std::int64_t dims, double scale, double offset, bool centered, double farther = 1) {
  const auto draw = [&](unsigned seed, double factor) {
    return [normal = gaussian(seed), factor, offset] { return factor * normal() + offset; };
  };
  return Problem(matrix<float>(7, dims, 1, draw(11, scale * farther)), matrix<float>(61, dims, 2, draw(12, scale)),
                 centered);
}

// Points with a spread of 0.1 around a few centers of norm 10 · √dims.
Problem clustered(std::int64_t dims) {
  const auto centers = matrix<double>(5, dims, 0, gaussian(13));
  const auto draw = [&](unsigned seed) {
    return [&centers, dims, normal = gaussian(seed), i = std::int64_t{0}]() mutable {
      const double center = centers.row(i / dims % centers.rows)[i % dims];
      ++i;
      return 10 * center + 0.1 * normal();
    };
  };
  return Problem(matrix<float>(7, dims, 0, draw(14)), matrix<float>(61, dims, 0, draw(15)), true);
}

void expect_bounds(Problem problem) {
  expect_norms(problem, problem.base());
  expect_norms(problem, problem.queries());
  for (const bool expanded : {false, true}) {
    SCOPED_TRACE(expanded ? "expanded" : "dot");
    expect_fp16_scores(problem, expanded);
  }
}

TEST_F(Fp16Points, FindsTheCenterAndTheLargest) {
  for_each_schedule([] {
    for (const std::int64_t dims : {1, 40}) {
      const Problem problem = drawn(dims, 3, 100, true);
      const PointSet<float>& base = problem.base();
      const std::vector<float> center = problem.center_values();
      double largest = 0;
      for (std::int64_t c = 0; c < dims; ++c) {
        double sum = 0;
        for (std::int64_t i = 0; i < base.rows; ++i) sum += static_cast<double>(base.row(i)[c]);
        const double mean = sum / static_cast<double>(base.rows);
        EXPECT_NEAR(static_cast<double>(center[static_cast<std::size_t>(c)]), mean, 1e-5);
        for (std::int64_t i = 0; i < base.rows; ++i)
          largest = std::max(largest, std::abs(static_cast<double>(base.row(i)[c]) - mean));
      }
      EXPECT_NEAR(static_cast<double>(problem.largest()), largest, 1e-4);
    }
  });
}

TEST_F(Fp16Points, BoundsGaussiansTightly) {
  for (const std::int64_t dims : {5, 64, 131}) {
    SCOPED_TRACE(dims);
    Problem problem = drawn(dims, 1, 0, true);
    for (const bool expanded : {false, true}) {
      const Seen seen = expect_fp16_scores(problem, expanded);
      EXPECT_GT(seen.error, 0);
      EXPECT_LT(seen.bound, 50 * seen.error);
    }
  }
}

TEST_F(Fp16Points, BoundsGaussians) {
  for_each_schedule([] { expect_bounds(drawn(33, 1, 0, false)); });
}

TEST_F(Fp16Points, BoundsOffsets) {
  expect_bounds(drawn(24, 1, 1e6, true));
  expect_bounds(drawn(24, 1, 1e6, false));
  expect_bounds(drawn(24, 1e-3, -1e6, true));
}

TEST_F(Fp16Points, BoundsTightClusters) {
  expect_bounds(clustered(17));
  expect_bounds(clustered(128));
}

TEST_F(Fp16Points, BoundsAllScales) {
  for (const double scale : {1e-44, 1e-30, 1e-20, 1e-12, 1e-5, 1e5, 1e12, 1e17, 1e19, 1e30, 1e37}) {
    SCOPED_TRACE(scale);
    expect_bounds(drawn(20, scale, 0, false));
    expect_bounds(drawn(20, scale, 0, true));
  }
}

// Points beyond the range of fp16 at the base's scale.
TEST_F(Fp16Points, BoundsFarQueries) {
  for (const double farther : {1e-6, 10.0, 1e3, 1e6}) {
    SCOPED_TRACE(farther);
    expect_bounds(drawn(20, 1, 0, true, farther));
  }
}

// Small integers are exact in fp16, and sums of their products in float: there is no error.
TEST_F(Fp16Points, IsExactWithSmallIntegers) {
  const auto draw = [](unsigned seed) {
    return [random = std::mt19937(seed)]() mutable { return static_cast<double>(random() % 200); };
  };
  Problem problem(matrix<float>(7, 32, 0, draw(16)), matrix<float>(50, 32, 0, draw(17)), false);
  for (const bool expanded : {false, true}) EXPECT_EQ(expect_fp16_scores(problem, expanded).error, 0);
}

// Points whose fp16 and products are exact, so that only sums and squares are rounded.
TEST_F(Fp16Points, BoundsErrorsOfSums) {
  const auto draw = [](unsigned seed) {
    return [random = std::mt19937(seed)]() mutable { return static_cast<double>(1024 + random() % 1024); };
  };
  constexpr std::int64_t kDims = 1000;
  Problem sums(matrix<float>(3, kDims, 0, draw(18)), matrix<float>(20, kDims, 0, draw(19)), false);
  Problem squares(matrix<float>(1, kDims, 0, [] { return 0.0; }), matrix<float>(20, kDims, 0, draw(20)), false);
  EXPECT_GT(expect_fp16_scores(sums, false).error, 0);
  EXPECT_GT(expect_fp16_scores(sums, true).error, 0);
  EXPECT_GT(expect_fp16_scores(squares, true).error, 0);
}

// 1024 − 1e-14 is 1024 in double, which fp16 holds: the error of subtracting the center still counts.
TEST_F(Fp16Points, CountsErrorsOfCentering) {
  const Stream stream;
  DeviceArray<float> center({1e-14F}, stream);
  const Rounded rounded(matrix<float>(1, 1, 0, [] { return 1024.0; }), center.data(), 1, stream);
  EXPECT_GE(rounded.norms()[0].lost, 1e-14);
  EXPECT_LE(rounded.norms()[0].lost, 1e-12);
}

TEST_F(Fp16Points, NamesRowsThatAreTooShort) {
  const Stream stream;
  Workspace workspace(stream);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"16", "24"}, [&] {
    device::distance::fp16_gemm_scores({.queries = {.stride = 24}, .base = {.stride = 16}, .workspace = workspace});
  }));
}

}  // namespace
}  // namespace kith::test
