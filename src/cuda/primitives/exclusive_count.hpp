// exclusive_count.hpp: for each id, how many ids before it are not below a bound: an exclusive prefix sum.
#pragma once

#include <cstdint>

#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline primitives {

// Sets before[i] to the number of ids[0 … i − 1] that are not below `first`. count < 2^32.
void exclusive_count(const unsigned* ids, std::int64_t count, unsigned first, unsigned* before, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::inline primitives
