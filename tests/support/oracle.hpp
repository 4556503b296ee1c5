// The oracle: every distance by the direct formula, every neighbor by sorting them. Obvious loops, nothing shared with
// the library.
//
// The key. Sums are accumulated in double over eight lanes (coordinate c in lane c mod 8; multiply, then add), the
// lanes added as ((0+4)+(2+6))+((1+5)+(3+7)), the metric's last step taken in double, the result rounded once to the
// returned type. precise_distance() is the same mathematics in long double without lanes: it shows that the key is
// right, not only reproducible.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix.hpp"
#include "kith/metric.hpp"
#include "support/problem.hpp"

namespace kith::test {

// All distances of a problem, and the order of one row of them.
template <class D>
struct Truth {
  std::int64_t base_rows = 0;
  std::int64_t queries = 0;
  bool largest_first = false;
  std::vector<D> distances;  // queries × base_rows

  D distance(std::int64_t query, std::int64_t id) const {
    return distances[static_cast<std::size_t>(query * base_rows + id)];
  }
  // The first k ids by (distance, id), `excluded` left out.
  std::vector<std::int64_t> nearest(std::int64_t query, std::int64_t k, std::int64_t excluded = -1) const;
  bool before(std::int64_t query, std::int64_t a, std::int64_t b) const;
};

template <Element T>
Truth<DistanceOf<T>> truth_of(const Matrix<T>& base, const Matrix<T>& queries, const Metric& metric);

template <Element T>
Truth<DistanceOf<T>> truth_of(const Sample<T>& sample, const Metric& metric) {
  return truth_of(sample.base, sample.queries, metric);
}

// Along axes with a period L > 0 differences are |x − y| modulo L, or L minus that where it is less.
template <Element T>
Truth<DistanceOf<T>> periodic_truth_of(const Sample<T>& sample, const Metric& metric,
                                       const std::vector<double>& period);

// The same distances computed in long double and rounded once.
template <Element T>
Truth<DistanceOf<T>> precise_truth_of(const Sample<T>& sample, const Metric& metric);

template <Element T>
long double precise_distance(const T* x, const T* y, std::int64_t dims, const Metric& metric);

// The key before it is rounded to the returned type.
template <Element T>
double key_distance(const T* x, const T* y, std::int64_t dims, const Metric& metric);

// How closely the library must agree with the key: bit for bit, or within an error where the last digits of a sum of
// powers, or of a cosine whose norms leave the range of double, are not settled by the definition.
struct Agreement {
  bool bitwise = true;
  double relative = 0;
  double absolute = 0;
};

Agreement agreement_for(const Case& c);

// What a case is compared with: the key, or its long double twin where double does not hold the norms.
template <Element T>
Truth<DistanceOf<T>> truth_for(const Sample<T>& sample, const Case& c);

}  // namespace kith::test
