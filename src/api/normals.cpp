// The eigenvector of the least eigenvalue of small symmetric matrices, by Jacobi's rotations: exact to rounding for any
// spectrum, also where two eigenvalues are equal.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/fp_environment.hpp"
#include "kith/error.hpp"
#include "kith/reduce.hpp"

namespace kith {
namespace {

constexpr int kMostSweeps = 32;

class SymmetricMatrix {
 public:
  SymmetricMatrix(const std::vector<double>& upper, std::size_t dims)
      : dims_(dims), values_(dims * dims), vectors_(dims * dims) {
    std::size_t at = 0;
    for (std::size_t a = 0; a < dims; ++a) {
      vectors_[a * dims + a] = 1;
      for (std::size_t b = a; b < dims; ++b) values_[a * dims + b] = values_[b * dims + a] = upper[at++];
    }
  }

  std::vector<double> least_direction() {
    for (int sweep = 0; sweep < kMostSweeps && !is_diagonal(); ++sweep)
      for (std::size_t a = 0; a < dims_; ++a)
        for (std::size_t b = a + 1; b < dims_; ++b) rotate(a, b);
    std::size_t least = 0;
    for (std::size_t a = 1; a < dims_; ++a)
      if (at(a, a) < at(least, least)) least = a;
    std::vector<double> direction;
    for (std::size_t a = 0; a < dims_; ++a) direction.push_back(vectors_[a * dims_ + least]);
    return direction;
  }

 private:
  double& at(std::size_t a, std::size_t b) { return values_[a * dims_ + b]; }

  bool is_diagonal() {
    double off = 0;
    double all = 0;
    for (std::size_t a = 0; a < dims_; ++a)
      for (std::size_t b = 0; b < dims_; ++b) {
        all += at(a, b) * at(a, b);
        if (a != b) off += at(a, b) * at(a, b);
      }
    return !(off > 1e-30 * all);
  }

  // Makes element (a, b) zero.
  void rotate(std::size_t a, std::size_t b) {
    if (at(a, b) == 0) return;
    const double ratio = (at(b, b) - at(a, a)) / (2 * at(a, b));
    const double tangent = (ratio >= 0 ? 1 : -1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
    const double cosine = 1 / std::sqrt(tangent * tangent + 1);
    const double sine = tangent * cosine;
    const auto turn = [&](double& x, double& y) {
      const double old = x;
      x = cosine * old - sine * y;
      y = sine * old + cosine * y;
    };
    for (std::size_t i = 0; i < dims_; ++i) turn(at(i, a), at(i, b));
    for (std::size_t i = 0; i < dims_; ++i) turn(at(a, i), at(b, i));
    for (std::size_t i = 0; i < dims_; ++i) turn(vectors_[i * dims_ + a], vectors_[i * dims_ + b]);
  }

  std::size_t dims_;
  std::vector<double> values_;
  std::vector<double> vectors_;
};

bool points_back(const std::vector<double>& direction) {
  for (const double x : direction)
    if (x != 0) return x < 0;
  return false;
}

}  // namespace

template <class D>
Matrix<D> normals(const Matrix<D>& covariances, std::int64_t dims) {
  const core::DefaultFpEnvironment environment;
  if (dims < 1 || covariances.cols() != dims * (dims + 1) / 2)
    throw Error(ErrorCode::invalid_argument, fmt::format("covariances of {} columns; {} dimensions have {}",
                                                         covariances.cols(), dims, dims * (dims + 1) / 2));
  Matrix<D> result(covariances.rows(), dims);
  for (std::int64_t r = 0; r < covariances.rows(); ++r) {
    const std::vector<double> upper(covariances.row(r), covariances.row(r) + covariances.cols());
    const auto direction = SymmetricMatrix(upper, static_cast<std::size_t>(dims)).least_direction();
    const double sign = points_back(direction) ? -1 : 1;
    for (std::int64_t c = 0; c < dims; ++c)
      result(r, c) = static_cast<D>(sign * direction[static_cast<std::size_t>(c)]);
  }
  return result;
}

template KITH_API Matrix<float> normals(const Matrix<float>&, std::int64_t);
template KITH_API Matrix<double> normals(const Matrix<double>&, std::int64_t);

}  // namespace kith
