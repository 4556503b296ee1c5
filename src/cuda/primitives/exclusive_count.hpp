// exclusive_count.hpp: a prefix sum by CUB; the emulator adds on the host.
#pragma once

#include <cstdint>

#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline primitives {

// before[i]: how many of ids[0 … i − 1] are not below `first`. count < 2^32.
void exclusive_count(const unsigned* ids, std::int64_t count, unsigned first, unsigned* before, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::inline primitives
