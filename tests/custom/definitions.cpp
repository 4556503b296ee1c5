#include "definitions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::test {
namespace {

using Wide = long double;

struct Counts {
  Wide both = 0;
  Wide differ = 0;
};

Counts count(const Row& x, const Row& y) {
  Counts counts;
  for (std::size_t c = 0; c < x.size(); ++c) {
    const bool a = x[c] != 0;
    const bool b = y[c] != 0;
    if (a && b) ++counts.both;
    if (a != b) ++counts.differ;
  }
  return counts;
}

Wide minkowski(double p, const Row& weights, const Row& x, const Row& y) {
  Wide sum = 0;
  Wide largest = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    const Wide difference = std::abs(static_cast<Wide>(x[c]) - y[c]);
    sum += weights[c] * std::pow(difference, static_cast<Wide>(p));
    if (weights[c] > 0) largest = std::max(largest, difference);
  }
  return std::isinf(p) ? largest : std::pow(sum, 1 / static_cast<Wide>(p));
}

Wide jensenshannon(const Row& x, const Row& y) {
  Wide sum_x = 0;
  Wide sum_y = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    sum_x += x[c];
    sum_y += y[c];
  }
  Wide sum = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    const Wide a = x[c] / sum_x;
    const Wide b = y[c] / sum_y;
    const Wide middle = (a + b) / 2;
    if (a > 0) sum += a * std::log(a / middle);
    if (b > 0) sum += b * std::log(b / middle);
  }
  return std::sqrt(std::max<Wide>(sum, 0) / 2);
}

Wide mahalanobis(const Row& inverse, const Row& x, const Row& y) {
  Wide sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j)
      sum += (static_cast<Wide>(x[i]) - y[i]) * inverse[i * x.size() + j] * (static_cast<Wide>(x[j]) - y[j]);
  return std::sqrt(sum);
}

Wide haversine(const Row& x, const Row& y) {
  const Wide across = std::sin((static_cast<Wide>(x[0]) - y[0]) / 2);
  const Wide along = std::sin((static_cast<Wide>(x[1]) - y[1]) / 2);
  const Wide square =
      across * across + std::cos(static_cast<Wide>(x[0])) * std::cos(static_cast<Wide>(y[0])) * along * along;
  return 2 * std::asin(std::sqrt(std::min<Wide>(square, 1)));
}

Wide cosine(ZeroVectors policy, const Row& x, const Row& y) {
  Wide product = 0;
  Wide xx = 0;
  Wide yy = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    product += static_cast<Wide>(x[c]) * y[c];
    xx += static_cast<Wide>(x[c]) * x[c];
    yy += static_cast<Wide>(y[c]) * y[c];
  }
  if (xx == 0 || yy == 0) return policy == ZeroVectors::one ? 1 : 0;
  return std::clamp<Wide>(1 - product / std::sqrt(xx * yy), 0, 2);
}

Wide of_terms(const std::string& metric, const MetricParameters& parameters, const Row& x, const Row& y) {
  Wide first = 0;
  Wide second = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    const Wide difference = static_cast<Wide>(x[c]) - y[c];
    if (metric == "braycurtis") {
      first += std::abs(difference);
      second += std::abs(static_cast<Wide>(x[c]) + y[c]);
    } else if (metric == "seuclidean") {
      first += difference * difference / parameters.variances[c];
    } else if (!std::isnan(difference)) {
      first += difference * difference;
      second += 1;
    }
  }
  if (metric == "braycurtis") return first / second;
  if (metric == "seuclidean") return std::sqrt(first);
  return std::sqrt(first / second * static_cast<Wide>(x.size()));
}

}  // namespace

double defined(const std::string& metric, const MetricParameters& parameters, const Row& x, const Row& y) {
  const Counts counts = count(x, y);
  Wide value = 0;
  if (metric == "jaccard") {
    const Wide either = counts.both + counts.differ;
    value = either == 0 ? 0 : counts.differ / either;
  } else if (metric == "dice") {
    value = counts.differ / (2 * counts.both + counts.differ);
  } else if (metric == "russellrao") {
    value = (static_cast<Wide>(x.size()) - counts.both) / static_cast<Wide>(x.size());
  } else if (metric == "minkowski") {
    value = minkowski(parameters.p.value_or(2), parameters.weights, x, y);
  } else if (metric == "jensenshannon") {
    value = jensenshannon(x, y);
  } else if (metric == "mahalanobis") {
    value = mahalanobis(parameters.inverse, x, y);
  } else if (metric == "haversine") {
    value = haversine(x, y);
  } else if (metric == "cosine") {
    value = cosine(parameters.zero_vectors.value_or(ZeroVectors::error), x, y);
  } else {
    value = of_terms(metric, parameters, x, y);
  }
  return static_cast<double>(value);
}

}  // namespace kith::test
