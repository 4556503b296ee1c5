// sort_pairs.hpp: sorts pairs of curve code and id by CUB; the emulator sorts on the host.
#pragma once

#include "core/curve.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline primitives {

// Whether codes are wanted in order too, or are of no more use.
enum class SortedCodes { kept, lost };

// Sorts by codes of `bits` bits, ascending, stable, in place, on the workspace's stream. Allocates second buffers of
// the same sizes from the workspace.
void sort_pairs(std::uint64_t* codes, unsigned* ids, std::int64_t count, int bits, Workspace& workspace,
                SortedCodes sorted = SortedCodes::kept);
void sort_pairs(core::Code128* codes, unsigned* ids, std::int64_t count, int bits, Workspace& workspace,
                SortedCodes sorted = SortedCodes::kept);

}  // namespace kith::KITH_BACKEND::inline primitives
