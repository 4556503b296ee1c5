#include "c/callbacks.hpp"

#include <limits>

#include "c/arguments.hpp"

namespace kith::c {
namespace {

// What a distance is until a callback writes it.
constexpr double kNotWritten = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void CallbackMetric::fill(const RowTile& tile) const {
  const auto* queries = static_cast<const double*>(tile.queries);
  const auto* rows = static_cast<const double*>(tile.rows);
  for (std::int64_t q = 0; q < tile.query_count; ++q)
    for (std::int64_t r = 0; r < tile.row_count; ++r) {
      double distance = kNotWritten;
      check_answer(function_(queries + q * tile.query_stride, rows + r * tile.row_stride, tile.dims, &distance, user_),
                   "the metric's function");
      tile.out[q * tile.out_stride + r] = distance;
    }
}

CallbackSource::CallbackSource(const kith_objects* objects, const char* role) : objects_(need(objects, role)) {
  if (objects_.distance == nullptr)
    throw Error(ErrorCode::invalid_argument, fmt::format("the distance of {} is null", role));
}

double CallbackSource::distance(std::int64_t query, std::int64_t object, double bound) const {
  double distance = kNotWritten;
  check_answer(objects_.distance(query, object, bound, &distance, objects_.user), "the distance of objects");
  return distance;
}

void CallbackSource::lower_bounds(std::int64_t query, std::int64_t first, std::int64_t count, double* out) const {
  check_answer(objects_.lower_bounds(query, first, count, out, objects_.user), "the lower bounds of objects");
}

}  // namespace kith::c
