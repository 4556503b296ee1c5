// linear_mapping.cpp: images F(x − c), and what rounding did to them and to distances by the definition.
#include "custom/linear_mapping.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace kith::custom {
namespace {

constexpr double kLeast = std::numeric_limits<double>::min();
// Larger powers underflow within a few orders of magnitude.
constexpr double kMostPower = 32;

// At least the norm of power p: norms fall with p.
double norm_above(const double* values, std::int64_t count, double p) {
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += std::abs(values[i]);
    squares += values[i] * values[i];
    largest = std::max(largest, std::abs(values[i]));
  }
  if (std::isinf(p)) return largest;
  return p < 2 ? sum : std::sqrt(squares);
}

class DiagonalMapping final : public RowMapping {
 public:
  DiagonalMapping(std::vector<double> factors, double p, double smallest_terms)
      : factors_(std::move(factors)), p_(p), smallest_terms_(smallest_terms) {}

  Metric metric() const override { return p_ == 2 ? Metric(MetricKind::euclidean) : Metric::minkowski(p_); }
  std::int64_t image_dims() const override { return static_cast<std::int64_t>(factors_.size()); }
  bool is_linear() const override { return true; }
  bool takes_float() const override { return true; }

  // The difference and the product are rounded; what the factor is off by is the same for all rows, and in reach().
  double map(const double* row, double* image) const override {
    for (std::size_t c = 0; c < factors_.size(); ++c) image[c] = row[c] * factors_[c];
    return 12 * kRounding * norm_above(image, image_dims(), p_) + kLeast;
  }

  // Sums have no terms that cancel: relative errors, and what underflows.
  double reach(double distance) const override {
    if (std::isinf(p_)) return distance * (1 + 8 * kRounding);
    const double relative = (static_cast<double>(factors_.size()) + 16) * 4 * kRounding;
    if (p_ == 1) return (distance + smallest_terms_) * (1 + relative);
    // The p-th root of a sum is at most the sum of the roots; a root with 1/p rounded is off by the logarithm too.
    constexpr double kPowers = 0x1p-40;
    return (distance + std::pow(smallest_terms_, 1 / p_)) * (1 + relative + (p_ == 2 ? 0 : kPowers));
  }

 private:
  std::vector<double> factors_;
  double p_;
  double smallest_terms_;
};

class CholeskyMapping final : public RowMapping {
 public:
  // `lower` row by row, with relative error of lengths.
  CholeskyMapping(std::vector<double> lower, std::int64_t dims, double norm, double relative)
      : lower_(std::move(lower)), dims_(dims), norm_(norm), relative_(relative) {}

  Metric metric() const override { return MetricKind::euclidean; }
  std::int64_t image_dims() const override { return dims_; }
  bool is_linear() const override { return true; }
  bool takes_float() const override { return true; }

  // Σ over j of L_ji x_j, a row of L at a time.
  double map(const double* row, double* image) const override {
    std::fill_n(image, dims_, 0.0);
    double squares = 0;
    for (std::int64_t j = 0; j < dims_; ++j) {
      const double* factors = lower_.data() + j * dims_;
      const double x = row[j];
      squares += x * x;
      for (std::int64_t i = 0; i <= j; ++i) image[i] += factors[i] * x;
    }
    return 2 * (static_cast<double>(dims_) + 4) * kRounding * norm_ * std::sqrt(squares) + kLeast;
  }

  double reach(double distance) const override { return distance * (1 + relative_) + std::sqrt(kLeast) * 0x1p10; }

 private:
  std::vector<double> lower_;
  std::int64_t dims_;
  double norm_;
  double relative_;
};

// L of S = L Lᵀ, or false where a pivot is not above 0.
bool factorize(std::vector<double>& lower, std::int64_t dims) {
  const auto n = static_cast<std::size_t>(dims);
  for (std::size_t j = 0; j < n; ++j) {
    double* row = lower.data() + j * n;
    for (std::size_t i = 0; i <= j; ++i) {
      const double* other = lower.data() + i * n;
      double sum = row[i];
      for (std::size_t m = 0; m < i; ++m) sum -= row[m] * other[m];
      if (i < j) {
        row[i] = sum / other[i];
      } else {
        if (!(sum > 0) || std::isinf(sum)) return false;
        row[i] = std::sqrt(sum);
      }
    }
  }
  return true;
}

// ‖L⁻¹‖², by its columns: at least 1 / the least eigenvalue of S.
double inverse_square_norm(const std::vector<double>& lower, std::int64_t dims) {
  const auto n = static_cast<std::size_t>(dims);
  std::vector<double> column(n);
  double squares = 0;
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t i = c; i < n; ++i) {
      double sum = i == c ? 1 : 0;
      for (std::size_t m = c; m < i; ++m) sum -= lower[i * n + m] * column[m];
      column[i] = sum / lower[i * n + i];
      squares += column[i] * column[i];
    }
  }
  return squares;
}

}  // namespace

std::shared_ptr<const RowMapping> diagonal_mapping(std::vector<double> factors, double p, double smallest_terms) {
  if (std::isfinite(p) && p > kMostPower) return nullptr;
  const auto is_usual = [](double factor) { return factor == 0 || (factor > 0x1p-400 && factor < 0x1p400); };
  if (!std::all_of(factors.begin(), factors.end(), is_usual) || !std::isfinite(smallest_terms)) return nullptr;
  if (std::all_of(factors.begin(), factors.end(), [](double factor) { return factor == 0; })) return nullptr;
  return std::make_shared<const DiagonalMapping>(std::move(factors), p, smallest_terms);
}

// With T the trace of S, |δᵀ(L Lᵀ − S)δ| ≤ (n + 1) u T ‖δ‖² (Higham, theorem 10.3), and forms by the definition are off
// by (2n + 4) u ‖S‖ ‖δ‖²; ‖δ‖² is at most ‖L⁻¹‖² times the form. Where that is less than a thousandth, so is the error
// of ‖L⁻¹‖² itself, and twice as much covers it.
std::shared_ptr<const RowMapping> cholesky_mapping(const std::vector<double>& upper, std::int64_t dims) {
  const auto n = static_cast<std::size_t>(dims);
  std::vector<double> lower(n * n, 0.0);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    lower[i * n + i] = upper[i * n + i];
    trace += upper[i * n + i];
    for (std::size_t j = i + 1; j < n; ++j) lower[j * n + i] = upper[i * n + j] / 2;
  }
  if (!(trace > 0x1p-400 && trace < 0x1p400) || !factorize(lower, dims)) return nullptr;
  const double count = static_cast<double>(dims);
  const double relative = 4 * (3 * count + 8) * kRounding * trace * inverse_square_norm(lower, dims);
  if (!(relative * count < 1e-3)) return nullptr;
  return std::make_shared<const CholeskyMapping>(std::move(lower), dims, std::sqrt(trace), relative);
}

}  // namespace kith::custom
