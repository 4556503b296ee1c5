// warp_roles.hpp: what warps with different tasks need: barriers of some warps, an elected lane, budgets of registers.
#pragma once

#include "emulator/execution.hpp"

namespace emulator {

// bar.sync and bar.arrive: barrier `id` is passed when `threads` have come. Must be called by whole warps.
void named_barrier_sync(unsigned id, unsigned threads, Where where);
void named_barrier_arrive(unsigned id, unsigned threads, Where where);

// True for one lane of the mask, the same one each time.
bool elect_one(unsigned mask, Where where);

// setmaxnreg: the registers that each thread of the warpgroup has from here on. Only sums are checked.
void set_register_limit(unsigned registers, bool raises, Where where);

}  // namespace emulator
