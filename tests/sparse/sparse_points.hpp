// sparse_points.hpp: points that are mostly zeros, dense and as compressed rows.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "kith/matrix.hpp"
#include "kith/sparse.hpp"
#include "support/random.hpp"

namespace kith {

inline void PrintTo(SparseMetric metric, std::ostream* out) {
  *out << to_string(metric);
}

}  // namespace kith

namespace kith::test {

inline const std::vector<SparseMetric> kSparseMetrics{SparseMetric::euclidean, SparseMetric::sqeuclidean,
                                                      SparseMetric::cosine,    SparseMetric::inner_product,
                                                      SparseMetric::manhattan, SparseMetric::jaccard};

// Compressed rows of their own.
template <class T>
struct Csr {
  std::int64_t cols = 0;
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<T> values;

  std::int64_t rows() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
  CsrView<T> view() const {
    return {rows(), cols, static_cast<std::int64_t>(values.size()), indptr.data(), indices.data(), values.data()};
  }
  void end_row() { indptr.push_back(static_cast<std::int64_t>(values.size())); }
};

// Those of a dense matrix. Every `stored_zeros`-th zero is stored, where that is not 0.
template <class T>
Csr<T> csr_of(const Matrix<T>& dense, int stored_zeros = 0) {
  Csr<T> sparse;
  sparse.cols = dense.cols();
  int zeros = 0;
  for (std::int64_t r = 0; r < dense.rows(); ++r) {
    for (std::int64_t c = 0; c < dense.cols(); ++c) {
      if (dense(r, c) == 0 && (stored_zeros == 0 || ++zeros % stored_zeros != 0)) continue;
      sparse.indices.push_back(static_cast<std::int32_t>(c));
      sparse.values.push_back(dense(r, c));
    }
    sparse.end_row();
  }
  return sparse;
}

enum class Values { real, counts, binary, unit, tiny, huge, mixed };

inline void PrintTo(Values values, std::ostream* out) {
  const char* const names[] = {"real", "counts", "binary", "unit", "tiny", "huge", "mixed"};
  *out << names[static_cast<int>(values)];
}

template <class T>
T value_of(Values kind, Random& random) {
  switch (kind) {
    case Values::counts: return static_cast<T>(1 + random.below(5));
    case Values::binary: return T{1};
    case Values::tiny: return static_cast<T>(random.gaussian() * 1e-30);
    case Values::huge: return static_cast<T>(random.gaussian() * 1e30);
    case Values::mixed:
      return static_cast<T>(random.gaussian() * std::pow(10.0, static_cast<double>(random.below(12))));
    case Values::real:
    case Values::unit: break;
  }
  return static_cast<T>(random.gaussian());
}

struct SparseShape {
  std::int64_t rows;
  std::int64_t dims;
  double density;
};

// Columns are as popular as 1 / (column + 1) where `zipf`. Every seventh row copies the one before, every eleventh is
// without entries unless `directed`, when it has one.
template <class T>
Matrix<T> sparse_points(const SparseShape& shape, Values kind, std::uint64_t seed, bool directed, bool zipf = false) {
  Random random(seed);
  Matrix<T> points(shape.rows, shape.dims);
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    for (std::int64_t c = 0; c < shape.dims; ++c) {
      const double share = zipf ? std::min(1.0, shape.density * 20 / (static_cast<double>(c) + 1)) : shape.density;
      if (random.uniform() < share) points(r, c) = value_of<T>(kind, random);
    }
    if (r % 7 == 6)
      for (std::int64_t c = 0; c < shape.dims; ++c) points(r, c) = points(r - 1, c);
    if (r % 11 == 10)
      for (std::int64_t c = 0; c < shape.dims; ++c) points(r, c) = 0;
    double squares = 0;
    for (std::int64_t c = 0; c < shape.dims; ++c) squares += static_cast<double>(points(r, c)) * points(r, c);
    if (directed && squares == 0) points(r, random.below(shape.dims)) = value_of<T>(kind, random);
    if (kind == Values::unit && squares > 0)
      for (std::int64_t c = 0; c < shape.dims; ++c)
        points(r, c) = static_cast<T>(static_cast<double>(points(r, c)) / std::sqrt(squares));
  }
  return points;
}

}  // namespace kith::test
