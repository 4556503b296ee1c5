// definitions.hpp: the named metrics once more, as plain loops over two rows in long double.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kith/named_metric.hpp"

namespace kith::test {

using Row = std::vector<double>;

// The distance of two rows by the definition.
double defined(const std::string& metric, const MetricParameters& parameters, const Row& x, const Row& y);

}  // namespace kith::test
