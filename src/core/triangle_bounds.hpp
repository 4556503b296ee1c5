// triangle_bounds.hpp: the triangle inequality for computed distances: only points that are provably too far are ruled
// out (Chen et al. Sweet KNN, section II).
//
// A metric distance obeys the triangle inequality: the metric itself, √ of squared Euclidean distances, the count of
// differing coordinates (hamming), and for cosine and correlation the Euclidean distance of the unit vectors, whose
// half square is the metric. It is called distance below; what is returned is the key. A computed distance ã of a true
// one a is
//
//   (1−ε)a − η ≤ ã ≤ (1+ε)a + η,   hence |ã − a| ≤ error(ã) = ε′ã + η′  with ε′ = ε/(1−ε), η′ = η/(1−ε).
//
// ε: a coordinate's difference, its square (or its sum and quotient) and the sums in any order are fewer than dims + 8
// roundings, and the root halves them. η: each of dims terms may vanish below the smallest normal number, and roots are
// subadditive, so that √(2·dims·min) covers the sum; unit vectors rounded to F are off by u in length, each. Distances
// that are not finite rule nothing out.
//
// Three deductions follow. d(q,t), d(q,c), d(c,t) are true distances; a, b computed ones.
//   interval  d(q,t) ≥ |d(q,c) − d(c,t)| ≥ |a − b| − error(a) − error(b), so t is within θ only if b lies in
//             [(a − θ − error(a) − η′)/(1+ε′), (a + θ + error(a) + η′)/(1−ε′)]: one interval of sorted distances.
//   apart     no t of a base cluster is within θ of a query of another when d(cq,ct), less its error, exceeds both
//             radii, θ and their errors.
//   above     d(q,t) ≤ d(q,cq) + d(cq,ct) + d(ct,t) ≤ the computed sum plus errors.
//
// θ is the search bound of a query: points at a true distance above search_bound(key) have keys strictly above `key`,
// so ties survive. Keys are rounded sums in double, so an upper bound of distances becomes a search bound through the
// largest key that it allows (search_bound_of_distance). A few roundings of these formulas themselves, in double, are
// covered by 16 units in ε′ and in search bounds.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/bounds.hpp"
#include "core/key.hpp"

namespace kith::core {

// All metrics but the inner product, and Minkowski's with p < 1, obey the triangle inequality.
KITH_HOST_DEVICE inline bool has_triangle_inequality(const Metric& metric) {
  switch (metric.kind) {
    case MetricKind::inner_product: return false;
    case MetricKind::minkowski: return metric.p >= 1;
    case MetricKind::sqeuclidean:  // of the root
    case MetricKind::euclidean:
    case MetricKind::manhattan:
    case MetricKind::chebyshev:
    case MetricKind::cosine:  // of unit vectors
    case MetricKind::correlation:
    case MetricKind::hamming:
    case MetricKind::canberra: return true;
  }
  return false;
}

// The raw sum that a metric distance is made of; cosine and correlation take the distance of unit vectors (of centered
// rows under correlation).
KITH_HOST_DEVICE inline Form metric_distance_form(const Metric& metric) {
  return has_directions(metric) ? Form::squared : form_of(metric);
}

// A metric distance from the raw sum of metric_distance_form(); infinite where the sum is not a number.
KITH_HOST_DEVICE inline double metric_distance_of_raw(const Metric& metric, double raw) {
  if (!(raw >= 0)) return std::numeric_limits<double>::infinity();
  switch (metric_distance_form(metric)) {
    case Form::squared: return std::sqrt(raw);
    case Form::power: return std::pow(raw, 1 / metric.p);
    default: return raw;
  }
}

// Members of a cluster whose computed distance to its center lies outside are ruled out.
struct DistanceInterval {
  double low;
  double high;
};

// Raw sums of distances are computed in F, which is at least as exact as the points; distances are stored in F or
// double. Keys are of type D.
template <class F, class D = F>
class TriangleBounds {
 public:
  // `scale`: a power of two that coordinates were multiplied by; distances and search bounds are of scaled points, keys
  // are not. Other than 1 for squares only.
  TriangleBounds(const Metric& metric, std::int64_t dims, double scale = 1)
      : metric_(metric), dims_(dims), scale_(scale), directions_(has_directions(metric)) {
    const Form form = metric_distance_form(metric);
    double relative = gamma<F>(dims + 8) + gamma<double>(dims + 8);
    // exp(p·log|x−y|) in the precision of the sums, and the root of the sum by a rounded exponent.
    if (form == Form::power)
      relative += (16 * (sizeof(F) == 4 ? 88.0 : 709.0) + 4 * metric.p) * unit_roundoff<F>() + 4e-13;
    double absolute = smallest_distance<F>();
    if (directions_) absolute += 2 * (unit_roundoff<F>() + gamma<double>(dims + 16)) * 1.01;
    const double least = 1 - relative;
    relative_ = least > 0.5 ? relative / least + kSlack : kInfinity;
    absolute_ = least > 0.5 ? absolute / least : kInfinity;
    shrink_ = (1 - kSlack) / (1 + relative_);
    grow_ = (1 + kSlack) / (1 - relative_);
    key_relative_ = gamma<double>(dims + 8) * (1 + 1e-3);
    key_absolute_ = smallest_distance<double>();
    direction_error_ = gamma<double>(4 * dims + 16);
  }

  // How far a computed distance may be from the true one.
  KITH_HOST_DEVICE double error(double distance) const { return relative_ * distance + absolute_; }

  // No true sum of `terms` distances is above this, their computed sum being `sum`.
  KITH_HOST_DEVICE double above(double sum, int terms) const { return sum + relative_ * sum + terms * absolute_; }

  // Points at a true distance above this have keys strictly above `key`.
  KITH_HOST_DEVICE double search_bound(D key) const {
    const double raw = raw_ceiling(metric_, key, dims_);
    if (directions_) return std::sqrt(2 * (raw + direction_error_)) * (1 + kSlack);
    return (metric_distance_of_raw(metric_, raw * (1 + 2 * key_relative_)) * (1 + power_slack()) + key_absolute_) *
           scale_;
  }

  // No point at this true distance, or nearer, has a larger key.
  KITH_HOST_DEVICE D key_above(double distance) const {
    if (!(distance < kInfinity)) return std::numeric_limits<D>::infinity();
    if (directions_) {
      const double cosine = distance * distance / 2 * (1 + kSlack) + direction_error_;
      return round_up<D>(cosine < 2 ? cosine : 2.0);
    }
    double key = distance / scale_ * (1 + power_slack()) + key_absolute_;
    if (metric_.kind == MetricKind::sqeuclidean) key = key * key * (1 + kSlack);
    if (metric_.kind == MetricKind::hamming) key = key / static_cast<double>(dims_) * (1 + kSlack);
    return round_up<D>(key * (1 + 2 * key_relative_));
  }

  // The search bound of a query that has at least k points within `distance`.
  KITH_HOST_DEVICE double search_bound_of_distance(double distance) const { return search_bound(key_above(distance)); }

  // The computed distances to the center that points within `theta` of the query can have. The query is at the computed
  // distance `a` from the center, and no member is at more than `radius`.
  KITH_HOST_DEVICE DistanceInterval interval(double a, double radius, double theta) const {
    if (!(a < kInfinity) || !(radius < kInfinity) || !(theta < kInfinity) || !(relative_ < 1))
      return {-kInfinity, kInfinity};
    const double slack = theta + error(a) + absolute_;
    return {(a - slack) * shrink_, (a + slack) * grow_};
  }

  // apart() for one query in F: where a − apart_radius(radius) is above apart_bound(theta), `a` being finite.
  KITH_HOST_DEVICE F apart_radius(double radius) const {
    if (!(relative_ < 1)) return std::numeric_limits<F>::infinity();
    return round_up<F>((radius * (1 + relative_) + 3 * absolute_) * grow_);
  }
  KITH_HOST_DEVICE F apart_bound(double theta) const {
    return round_up<F>(theta * grow_ * (1 + 4 * unit_roundoff<F>()));
  }

  // Raw sums computed in F above this belong to points beyond `theta`.
  KITH_HOST_DEVICE F raw_limit(double theta) const {
    if (!(theta < kInfinity) || !(relative_ < 1)) return std::numeric_limits<F>::infinity();
    const double distance = (theta + absolute_) * grow_;
    switch (metric_distance_form(metric_)) {
      case Form::squared: return round_up<F>(distance * distance * (1 + kSlack));
      case Form::power: {
        const double raw = std::pow(distance, metric_.p) * (1 + 2e-13 + metric_.p * 1e-15);
        return raw < kMaxPower ? round_up<F>(raw) : std::numeric_limits<F>::infinity();
      }
      default: return round_up<F>(distance);
    }
  }

  // Whether no point of a base cluster is within `theta` of any query of a cluster. The distance of the centers and the
  // radii are computed ones.
  KITH_HOST_DEVICE bool apart(double centers, double query_radius, double base_radius, double theta) const {
    const double radii = query_radius + base_radius;
    return centers - radii - relative_ * (centers + radii) - 3 * absolute_ > theta;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kSlack = 16 * unit_roundoff<double>();
  static constexpr double kMaxPower = 1e306;  // vector exponentials overflow beyond it

  // The largest distance whose terms may all have underflowed.
  template <class G>
  double smallest_distance() const {
    return metric_distance_of_raw(metric_,
                                  2 * static_cast<double>(dims_) * static_cast<double>(std::numeric_limits<G>::min())) *
           (1 + kSlack);
  }

  // Roots other than √ carry the error of their rounded exponent.
  KITH_HOST_DEVICE double power_slack() const { return form_of(metric_) == Form::power ? 4e-13 : kSlack; }

  Metric metric_;
  std::int64_t dims_;
  double scale_;
  bool directions_;
  double relative_ = 0;         // ε′, and the slack of these formulas
  double absolute_ = 0;         // η′
  double shrink_ = 0;           // 1/(1+ε′), rounded down
  double grow_ = 0;             // 1/(1−ε′), rounded up; valid where ε′ < 1
  double key_relative_ = 0;     // error of raw sums of keys
  double key_absolute_ = 0;     // distances whose keys may have underflowed
  double direction_error_ = 0;  // error of cosine distances
};

}  // namespace kith::core
