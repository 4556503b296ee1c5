// cache.hpp: how much the last-level caches hold.
#pragma once

#include <cstdint>

namespace kith::bench {

// All last-level caches together, as Linux tells them; 0 where it does not. (sysconf is no help: on some processors it
// gives the sum over parts of the package that a virtual machine does not have.)
std::int64_t last_level_cache_bytes();

}  // namespace kith::bench
