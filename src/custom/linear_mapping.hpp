// linear_mapping.hpp: metrics that are a norm of a linear map of x − y.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "custom/row_mapping.hpp"

namespace kith::custom {

// A factor for each dimension, 0 where it does not count, under minkowski's metric of power p; `smallest_terms`: what
// terms that underflow may have added up to, in powers of the distance. Null for factors far from 1, and where p is so
// large that powers of usual numbers underflow.
std::shared_ptr<const RowMapping> diagonal_mapping(std::vector<double> factors, double p, double smallest_terms);

// √(δᵀ S δ) = ‖Lᵀδ‖. `upper` is dims × dims with S on the diagonal, twice S above and zeros below. Null where S is not
// positive definite, or so nearly that rounding decides about it.
std::shared_ptr<const RowMapping> cholesky_mapping(const std::vector<double>& upper, std::int64_t dims);

}  // namespace kith::custom
