// machine.hpp: what the operating system tells of this machine.
#pragma once

#include <cstdint>

namespace kith::backend {

// Threads that this process may use (its CPU affinity counts).
int available_threads();

// Bytes of memory that programs can still get without swapping; a GiB where that is not known.
std::int64_t free_memory();

}  // namespace kith::backend
