#include "pivots/evaluator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kith/error.hpp"

namespace kith::pivots {
namespace {

constexpr double kLargestWhole = 0x1p53;

}  // namespace

bool Evaluator::is_promised(double distance) const {
  if (properties_.integer_valued) return distance >= 0 && distance <= kLargestWhole && distance == std::floor(distance);
  if (properties_.triangle_inequality) return distance >= 0 && std::isfinite(distance);
  return !std::isnan(distance);
}

void Evaluator::refuse(std::int64_t query, std::int64_t object, double distance) const {
  const char* promise = properties_.integer_valued        ? "promised are whole numbers from 0 to 2^53"
                        : properties_.triangle_inequality ? "those of a metric are finite and not negative"
                                                          : "distances must be comparable";
  throw Error(ErrorCode::bad_data,
              fmt::format("the distance of {} {} to object {} is {}; {}", asked_ == Asked::query ? "query" : "object",
                          query, object, distance, promise));
}

}  // namespace kith::pivots
