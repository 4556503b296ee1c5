// least_shared.hpp: the shared memory that kernels may count on. Those whose shapes the compiler knows assert that they
// need no more; others ask device_policy().hardware.
#pragma once

#include <cstddef>

namespace kith::KITH_BACKEND::inline runtime {

// Of a block, where its kernel asks for it, on every chip from compute capability 8.0 on: that of 8.6, 8.9 and 12.x.
inline constexpr std::size_t kLeastShared = 99 << 10;

}  // namespace kith::KITH_BACKEND::inline runtime
