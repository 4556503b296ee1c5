// terms.hpp: the named metrics that are sums of terms, as functors of kith/custom_metric.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::custom {

using Pair = std::array<double, 2>;

// Σ|x−y| / Σ|x+y|; NaN of two zero vectors, as SciPy has it.
struct BrayCurtisTerms {
  Pair combine(double x, double y) const { return {std::abs(x - y), std::abs(x + y)}; }
  double finish(const Pair& sums) const { return sums[0] / sums[1]; }
};

// Of coordinates that are 1 or 0: how many are 1 in both, and how many differ.
struct BooleanTerms {
  Pair combine(double x, double y) const { return {x * y, std::abs(x - y)}; }
};

// The share of those that differ among those that are not 0 in both; 0 where there are none.
struct JaccardTerms : BooleanTerms {
  double finish(const Pair& sums) const {
    const double either = sums[0] + sums[1];
    return either == 0 ? 0 : sums[1] / either;
  }
};

// NaN of two zero vectors, as SciPy has it.
struct DiceTerms : BooleanTerms {
  double finish(const Pair& sums) const { return sums[1] / (2 * sums[0] + sums[1]); }
};

struct RussellRaoTerms {
  double combine(double x, double y) const { return x * y; }
  double finish(double both, std::int64_t dims) const {
    const auto all = static_cast<double>(dims);
    return (all - both) / all;
  }
};

// Over coordinates that neither point lacks, scaled up to all of them; NaN where there are none.
struct NanEuclideanTerms {
  Pair combine(double x, double y) const {
    const double difference = x - y;
    const double square = difference * difference;
    const bool there = square == square;
    return {there ? square : 0.0, there ? 1.0 : 0.0};
  }
  double finish(const Pair& sums, std::int64_t dims) const {
    return std::sqrt(sums[0] / sums[1] * static_cast<double>(dims));
  }
};

struct SeuclideanTerms {
  std::vector<double> variances;
  double combine(double x, double y, std::int64_t c) const {
    const double difference = x - y;
    return difference * difference / variances[static_cast<std::size_t>(c)];
  }
  double finish(double sum) const { return std::sqrt(sum); }
};

struct WeightedManhattanTerms {
  std::vector<double> weights;
  double combine(double x, double y, std::int64_t c) const {
    return weights[static_cast<std::size_t>(c)] * std::abs(x - y);
  }
};

struct WeightedEuclideanTerms {
  std::vector<double> weights;
  double combine(double x, double y, std::int64_t c) const {
    const double difference = x - y;
    return weights[static_cast<std::size_t>(c)] * (difference * difference);
  }
  double finish(double sum) const { return std::sqrt(sum); }
};

// Coordinates of weight 0 do not count, the others all alike.
struct WeightedChebyshevTerms {
  std::vector<double> weights;
  double combine(double x, double y, std::int64_t c) const {
    return weights[static_cast<std::size_t>(c)] > 0 ? std::abs(x - y) : 0.0;
  }
  double accumulate(double a, double b) const { return a > b || a != a ? a : b; }
};

struct WeightedMinkowskiTerms {
  double p;
  std::vector<double> weights;
  double combine(double x, double y, std::int64_t c) const {
    return weights[static_cast<std::size_t>(c)] * std::pow(std::abs(x - y), p);
  }
  double finish(double sum) const { return std::pow(sum, 1 / p); }
};

// Of rows that sum to 1.
struct JensenShannonTerms {
  double combine(double x, double y) const {
    const double middle = (x + y) / 2;
    return (x > 0 ? x * std::log(x / middle) : 0.0) + (y > 0 ? y * std::log(y / middle) : 0.0);
  }
  // Rounding may leave a sum below 0 of points that are nearly alike.
  double finish(double sum) const { return std::sqrt(std::max(sum, 0.0) / 2); }
};

// 1 − ⟨x, y⟩ / (‖x‖ ‖y‖); a distance of its own where one of them is 0.
struct CosineTerms {
  using Sums = std::array<double, 3>;
  double of_zero;
  Sums combine(double x, double y) const { return {x * y, x * x, y * y}; }
  double finish(const Sums& sums) const {
    if (sums[1] == 0 || sums[2] == 0) return of_zero;
    const double product = sums[1] * sums[2];
    const bool is_usual = product > 1e-280 && product < 1e280;
    const double lengths = is_usual ? std::sqrt(product) : std::sqrt(sums[1]) * std::sqrt(sums[2]);
    return std::clamp(1 - sums[0] / lengths, 0.0, 2.0);
  }
};

}  // namespace kith::custom
