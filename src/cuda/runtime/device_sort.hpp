// device_sort.hpp: CUB's device-wide sorts behind one function; the emulator sorts on the host.
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "cuda/select/key.cuh"

namespace kith::KITH_BACKEND {

// Sorts each of `segments` consecutive runs of `length` keys in place, ascending, on the workspace's stream.
void sort_segments(PackedKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace);
void sort_segments(WideKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace);

}  // namespace kith::KITH_BACKEND
