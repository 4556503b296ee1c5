// shifted_sort.hpp: what method shifted-sort refuses on every backend.
#pragma once

#include "kith/options.hpp"

namespace kith::plan {

// Error(invalid_argument) for what the method does not have: metrics, dimensions, stages, values of the tuning.
void check_shifted_sort(const Options& options, std::int64_t dims);

}  // namespace kith::plan
