// int8_product.hpp: how fast the device multiplies matrices of int8.
#pragma once

#include <optional>

#include "device/harness/ceilings.hpp"

namespace kith::bench::device {

// Product of two side × side matrices by cuBLASLt, sums in int32 (TOP/s). None where cuBLASLt has no way, or is not
// there.
std::optional<Ceiling> int8_ceiling(std::int64_t side, cudaStream_t stream);

}  // namespace kith::bench::device
