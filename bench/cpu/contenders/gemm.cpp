// gemm.cpp: the matrix product queries · baseᵀ in one call of OpenBLAS on all threads, into memory that has been
// written before. No search that computes its distances by a matrix product and keeps them can be faster. float64 rows
// take dgemm; bytes are converted to float32 beforehand, for the product that a float search would do.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "cpu/contenders/contenders.hpp"
#include "support/machine.hpp"

namespace kith::bench {
namespace {

void multiply(blasint m, blasint n, blasint k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, a, k, b, k, 0, c, n);
}
void multiply(blasint m, blasint n, blasint k, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, a, k, b, k, 0, c, n);
}

template <Element T>
class Gemm final : public Contender {
 public:
  using Real = DistanceOf<T>;

  explicit Gemm(const Problem<T>& problem)
      : problem_(problem),
        products_(static_cast<std::size_t>(problem.queries().rows() * problem.base.rows()), Real{1}) {
    if constexpr (!std::is_same_v<T, Real>) {
      base_.assign(problem.base.data(), problem.base.row(problem.base.rows()));
      queries_.assign(problem.queries().data(), problem.queries().row(problem.queries().rows()));
    }
  }

  void run() override {
    multiply(static_cast<blasint>(problem_.queries().rows()), static_cast<blasint>(problem_.base.rows()),
             static_cast<blasint>(problem_.row.dims), reals(problem_.queries(), queries_), reals(problem_.base, base_),
             products_.data());
  }

  // The corners of the product are dot products of the first and last rows.
  std::string fault() const override {
    for (const std::int64_t q : {std::int64_t{0}, problem_.queries().rows() - 1})
      for (const std::int64_t b : {std::int64_t{0}, problem_.base.rows() - 1}) {
        double expected = 0;
        for (std::int64_t c = 0; c < problem_.row.dims; ++c)
          expected += static_cast<double>(problem_.queries()(q, c)) * static_cast<double>(problem_.base(b, c));
        const auto got = static_cast<double>(products_[static_cast<std::size_t>(q * problem_.base.rows() + b)]);
        if (!(std::abs(got - expected) <= 1e-4 * std::abs(expected)))
          return fmt::format("product ({}, {}) is {} instead of {}", q, b, got, expected);
      }
    return {};
  }

  Work work() const override {
    const std::int64_t pairs = problem_.queries().rows() * problem_.base.rows();
    return {2.0 * static_cast<double>(pairs) * static_cast<double>(problem_.row.dims), "GFLOP/s"};
  }

 private:
  static const Real* reals(const Matrix<T>& points, const std::vector<Real>& converted) {
    if constexpr (std::is_same_v<T, Real>)
      return points.data();
    else
      return converted.data();
  }

  const Problem<T>& problem_;
  std::vector<Real> products_;
  std::vector<Real> base_;
  std::vector<Real> queries_;
};

}  // namespace

template <Element T>
std::unique_ptr<Contender> make_gemm(const Problem<T>& problem) {
  const std::int64_t bytes =
      problem.queries().rows() * problem.base.rows() * static_cast<std::int64_t>(sizeof(DistanceOf<T>));
  if (bytes > support::inspect_machine().available_bytes / 2) return nullptr;
  return std::make_unique<Gemm<T>>(problem);
}

template std::unique_ptr<Contender> make_gemm(const Problem<float>&);
template std::unique_ptr<Contender> make_gemm(const Problem<double>&);
template std::unique_ptr<Contender> make_gemm(const Problem<std::uint8_t>&);
template std::unique_ptr<Contender> make_gemm(const Problem<Float16>&);

}  // namespace kith::bench
