// metrics.hpp: what a kith_metric stands for.
#pragma once

#include <memory>

#include "kith.h"
#include "kith/pair_metric.hpp"

namespace kith::c {

// Throws Error(invalid_argument) for what is no handle of a metric.
std::shared_ptr<const PairMetric> metric_of(const kith_metric* metric);

}  // namespace kith::c
