// device_sort.hpp: CUB's device-wide sorts behind one function; the emulator sorts on the host.
#pragma once

#include "cuda/primitives/labeled_key.cuh"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline primitives {

// The order of ids within each segment. If they ascend already, a stable sort can ignore them.
enum class IdOrder { any, ascending };

// Sorts each of `segments` consecutive runs of `length` keys in place, ascending, on the workspace's stream.
// Allocates a second buffer of the keys' size from the workspace.
void sort_segments(PackedKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace,
                   IdOrder ids = IdOrder::any);
void sort_segments(WideKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace,
                   IdOrder ids = IdOrder::any);

// Sorts by (segment, order, id) on the workspace's stream; segments are below `segments`. Returns the sorted array,
// which is `keys` or `other`, both of `count` keys.
LabeledKey<unsigned>* sort_labeled(LabeledKey<unsigned>* keys, LabeledKey<unsigned>* other, std::int64_t count,
                                   std::int64_t segments, Workspace& workspace);
LabeledKey<unsigned long long>* sort_labeled(LabeledKey<unsigned long long>* keys,
                                             LabeledKey<unsigned long long>* other, std::int64_t count,
                                             std::int64_t segments, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::inline primitives
