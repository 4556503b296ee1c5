// device_sort.hpp: CUB's device-wide sorts behind one function; the emulator sorts on the host.
#pragma once

#include "cuda/primitives/key.cuh"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::inline primitives {

// What is known of the ids within each segment. Where they ascend already, a stable sort need not look at them.
enum class IdOrder { any, ascending };

// Sorts each of `segments` consecutive runs of `length` keys in place, ascending, on the workspace's stream.
// Takes a second buffer of the keys' size from the workspace.
void sort_segments(PackedKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace,
                   IdOrder ids = IdOrder::any);
void sort_segments(WideKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace,
                   IdOrder ids = IdOrder::any);

// A key that knows its segment, so that segments may have any lengths and lie anyhow.
template <class Order>
struct LabeledKey {
  Order order;
  unsigned id;
  unsigned segment;
};

// Sorts by (segment, order, id) on the workspace's stream; segments are below `segments`. `other` has room for as many
// keys: the sorted ones are in what is returned, one of the two.
LabeledKey<unsigned>* sort_labeled(LabeledKey<unsigned>* keys, LabeledKey<unsigned>* other, std::int64_t count,
                                   std::int64_t segments, Workspace& workspace);
LabeledKey<unsigned long long>* sort_labeled(LabeledKey<unsigned long long>* keys,
                                             LabeledKey<unsigned long long>* other, std::int64_t count,
                                             std::int64_t segments, Workspace& workspace);

}  // namespace kith::KITH_BACKEND::inline primitives
