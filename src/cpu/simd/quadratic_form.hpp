// quadratic_form.hpp: δᵀ S δ for the differences δ of a query and the rows of a panel (kith/pair_metric.hpp).
#pragma once

#include <cstdint>

namespace kith::cpu {

// `upper`: dims × dims, row-major, with S on the diagonal, twice S above and zeros below. `deltas`: room for
// dims × kPanelRows numbers. Writes kPanelRows numbers to `out`.
void quadratic_forms(const double* upper, const double* query, const double* panel, std::int64_t dims, double* deltas,
                     double* out);

}  // namespace kith::cpu
