// formula_error.hpp: how far a formula's score in float may be from the distance, which is computed in double, where
// that can be said without looking at more of the data than its largest coordinate. Idea    what has no sign that is
// known, or whose difference may cancel, has no bound: then there are no scores in
//         float. Differences of coordinates themselves are exact but for a rounding, and sums of what is not negative
//         keep relative errors; so there is a bound for sums of |x − y|, of squares, of quotients of such.
#pragma once

#include <cstdint>
#include <optional>

#include "core/expression.hpp"

namespace kith::core {

// |score − distance| ≤ relative · |distance| + absolute.
struct FormulaError {
  double relative = 0;
  double absolute = 0;
};

// For coordinates that are floats of at most `largest`. Coordinates and aggregations are computed in float, what is of
// the pair in double, and the score is rounded to float.
std::optional<FormulaError> formula_error(const Expression& expression, std::int64_t dims, double largest);

// What no distance is below whose score is above `limit`.
double distance_above(float limit, const FormulaError& error);

}  // namespace kith::core
