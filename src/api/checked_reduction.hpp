// checked_reduction.hpp: whether a reduction goes with its values and its metric.
#pragma once

#include <cstdint>

#include "core/reduction.hpp"
#include "kith/options.hpp"
#include "kith/reduce.hpp"

namespace kith::api {

// Of k neighbors among so many points. `values` is looked at where the operation has some; Error(invalid_argument)
// where they, or the metric, do not go with it.
template <Element D>
core::Reduction checked_reduction(std::int64_t rows, std::int64_t dims, std::int64_t k, const MatrixView<D>& values,
                                  ReduceOp op, const Options& options);

}  // namespace kith::api
