// table.hpp: the distances of all objects to the pivots, a column for each, and how they are prepared.
// Memory  objects × pivots cells: 8 bits for whole numbers below 256, 16 for others, 64 for other distances.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "kith/pivots.hpp"

namespace kith::pivots {

// Column j has the distance of each object, in its order, to pivot j: that of object to pivot where they differ by
// direction.
template <class Cell>
using Columns = std::vector<std::vector<Cell>>;

struct Table {
  std::int64_t objects = 0;
  DistanceProperties properties;
  PivotOptions options;
  std::vector<std::int64_t> pivots;
  std::int64_t build_evaluations = 0;
  std::variant<Columns<double>, Columns<std::uint8_t>, Columns<std::uint16_t>> columns;
};

// Arguments were checked.
Table make_table(const PairSource& base, std::int64_t objects, const DistanceProperties& properties,
                 const PivotOptions& options);

}  // namespace kith::pivots
