// evaluator.hpp: calls of the user's distance: each is counted, and its value is what was promised.
#pragma once

#include <cstdint>

#include "kith/pivots.hpp"

namespace kith::pivots {

// What is evaluated, for messages.
enum class Asked { query, object };

class Evaluator {
 public:
  Evaluator(const PairSource& source, const DistanceProperties& properties, Asked asked)
      : source_(source), properties_(properties), asked_(asked) {}

  // Anything above `bound` where the distance is above it. Throws Error(bad_data) for a value that was not promised.
  double operator()(std::int64_t query, std::int64_t object, double bound) {
    ++count_;
    const double distance = source_.distance(query, object, bound);
    if (distance > bound) return distance;
    if (!is_promised(distance)) refuse(query, object, distance);
    return distance;
  }

  std::int64_t count() const { return count_; }

 private:
  bool is_promised(double distance) const;
  [[noreturn]] void refuse(std::int64_t query, std::int64_t object, double distance) const;

  const PairSource& source_;
  const DistanceProperties& properties_;
  Asked asked_;
  std::int64_t count_ = 0;
};

}  // namespace kith::pivots
