// mbarrier.hpp: barriers in shared memory that count arrivals and bytes of copies, phase after phase.
// A phase ends when all arrivals have come and the bytes that they announced have landed. A wait names the parity of
// the phase that it wants to see ended: the current one, or the one before, which has.
#pragma once

#include "emulator/execution.hpp"

namespace emulator {

void mbarrier_init(std::uint64_t* barrier, unsigned arrivals, Where where);
// One arrival, which announces that `bytes` more will land in this phase.
void mbarrier_arrive(std::uint64_t* barrier, unsigned bytes, Where where);
// Returns false after letting others run.
bool mbarrier_try_wait(std::uint64_t* barrier, unsigned parity, Where where);
void mbarrier_wait(std::uint64_t* barrier, unsigned parity, Where where);

// Shows copies the barriers that this thread initialized.
void fence_mbarrier_init();
// Shows copies and wgmma what was written to shared memory, and the barriers that this thread initialized.
void fence_proxy_async();

}  // namespace emulator
