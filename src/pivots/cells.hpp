// cells.hpp: distances to pivots as they are kept, and what two of them say of a third distance.
//
// Whole numbers are kept in 8 or 16 bits, those beyond as the largest that fits: differences of numbers that were cut
// off are at most those of the numbers themselves, so bounds stay bounds. Others are kept as they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include "kith/pivots.hpp"

namespace kith::pivots {

template <class Cell>
inline constexpr double kLargest = static_cast<double>(std::numeric_limits<Cell>::max());

template <class Cell>
Cell cell_of(double distance) {
  if constexpr (std::same_as<Cell, double>) {
    return distance;
  } else {
    return static_cast<Cell>(std::min(distance, kLargest<Cell>));
  }
}

// Whether the cell is the distance, not cut off.
template <class Cell>
bool is_distance(Cell cell) {
  return std::same_as<Cell, double> || static_cast<double>(cell) < kLargest<Cell>;
}

// Lower bounds of computed distances. With |d̂ − d| ≤ r d + a for each,
//   d̂(q, x) ≥ (1 − r) (d(q, p) − d(x, p)) − a ≥ (1 − r) ((d̂(q, p) − a) / (1 + r) − (d̂(x, p) + a) / (1 − r)) − a
//           ≥ d̂(q, p) − d̂(x, p) − 2 r (d̂(q, p) + d̂(x, p)) − 3 a   for r ≤ 1/2,
// and what is computed of that is off by less than 8 u (d̂(q, p) + d̂(x, p) + 3 a), u = 2^-53, which is added.
class Bounds {
 public:
  explicit Bounds(const DistanceProperties& properties)
      : symmetric_(properties.symmetric),
        relative_(2 * properties.relative_error + kRounding),
        absolute_(3 * properties.absolute_error * (1 + kRounding)) {}

  // Of an object and a query, by their distances to one pivot.
  template <class Cell>
  Cell by_pivot(Cell query, Cell object) const {
    if constexpr (std::same_as<Cell, double>) {
      const double difference = symmetric_ ? std::abs(query - object) : query - object;
      return difference - relative_ * (query + object) - absolute_;
    } else {
      const Cell above = query > object ? static_cast<Cell>(query - object) : Cell{0};
      if (!symmetric_) return above;
      return query > object ? above : static_cast<Cell>(object - query);
    }
  }

  // raised[i] becomes at least the bound of object i.
  template <class Cell>
  void raise(Cell query, const std::vector<Cell>& column, std::vector<Cell>& raised) const {
    // Not through the vectors: a byte that is written could be part of one.
    const Cell* object = column.data();
    Cell* bound = raised.data();
    const std::size_t count = column.size();
    if (symmetric_) {
      for (std::size_t i = 0; i < count; ++i) bound[i] = std::max(bound[i], both_ways(query, object[i]));
    } else {
      for (std::size_t i = 0; i < count; ++i) bound[i] = std::max(bound[i], by_pivot(query, object[i]));
    }
  }

  // The user's, which is off as distances are.
  template <class Cell>
  Cell by_user(double bound) const {
    if constexpr (std::same_as<Cell, double>) {
      if (std::isnan(bound)) return -std::numeric_limits<double>::infinity();
      if (std::isinf(bound)) return bound;
      return bound - relative_ * std::abs(bound) - absolute_;
    } else {
      return bound > 0 ? cell_of<Cell>(std::floor(bound)) : Cell{0};
    }
  }

 private:
  static constexpr double kRounding = 8 * 0x1p-53;

  // Without a question inside the loop.
  template <class Cell>
  Cell both_ways(Cell query, Cell object) const {
    if constexpr (std::same_as<Cell, double>) {
      return std::abs(query - object) - relative_ * (query + object) - absolute_;
    } else {
      return static_cast<Cell>(std::max(query, object) - std::min(query, object));
    }
  }

  bool symmetric_;
  double relative_;
  double absolute_;
};

}  // namespace kith::pivots
