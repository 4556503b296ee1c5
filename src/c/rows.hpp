// rows.hpp: points of a caller, copied.
#pragma once

#include <algorithm>
#include <cstdint>

#include "c/arguments.hpp"

namespace kith::c {

template <Element T>
Matrix<T> copied_rows(const kith_matrix* matrix, const char* role) {
  const MatrixView<T> view = view_of<T>(matrix, role);
  if (view.memory == Memory::device)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} lies on a device; it is copied from host memory", role));
  Matrix<T> copy(view.rows, view.cols);
  for (std::int64_t row = 0; row < view.rows; ++row)
    if (view.col_stride == 1) {
      std::copy_n(view.row(row), view.cols, copy.row(row));
    } else {
      for (std::int64_t col = 0; col < view.cols; ++col) copy(row, col) = view(row, col);
    }
  return copy;
}

}  // namespace kith::c
