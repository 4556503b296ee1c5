// environment.hpp: where and with what a run was made: what one must know to compare two of them.
#pragma once

#include "common/run_file.hpp"

namespace kith::bench {

// date, kith (version, commit), compiler, optimized, machine (of the host, with simd_targets that the library uses and
// load_before, the runnable processes of the last minute) and libraries, null where they are not installed.
Json inspect_environment();

}  // namespace kith::bench
