// matrix_of.hpp: points whose coordinates are a function of their row and column.
#pragma once

#include <cstdint>

#include "kith/matrix.hpp"

namespace kith::test {

template <Element T, class Coordinate>
Matrix<T> matrix_of(std::int64_t rows, std::int64_t dims, Coordinate coordinate) {
  Matrix<T> points(rows, dims);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < dims; ++c) points(r, c) = static_cast<T>(coordinate(r, c));
  return points;
}

}  // namespace kith::test
