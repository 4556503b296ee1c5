// sort_hits.hpp: hits in the order of the result, (key, id). Their ids are different.
#pragma once

#include <cstdint>
#include <vector>

#include "core/order.hpp"

namespace kith::cpu {

void sort_hits(std::vector<core::Hit<float>>& hits);
void sort_hits(std::vector<core::Hit<double>>& hits);

}  // namespace kith::cpu
