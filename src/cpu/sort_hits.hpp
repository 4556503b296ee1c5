// sort_hits.hpp: sorts hits by (key, id). All ids must differ.
#pragma once

#include <vector>

#include "core/order.hpp"

namespace kith::cpu {

void sort_hits(std::vector<core::Hit<float>>& hits);
void sort_hits(std::vector<core::Hit<double>>& hits);

}  // namespace kith::cpu
