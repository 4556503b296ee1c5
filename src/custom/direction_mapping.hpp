// direction_mapping.hpp: vectors scaled to length 1, whose distances grow with their angles.
#pragma once

#include <cstdint>
#include <memory>

#include "custom/row_mapping.hpp"

namespace kith::custom {

// For cosine as terms.hpp computes it. Zero vectors have no image.
std::shared_ptr<const RowMapping> direction_mapping(std::int64_t dims);

}  // namespace kith::custom
