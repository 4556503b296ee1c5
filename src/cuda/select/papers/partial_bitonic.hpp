// partial_bitonic.hpp: partial bitonic sort with a network of one's choice, to compare networks.
#pragma once

#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {

// Where the network's layers are done: all in shared memory; the short strides by shuffles; in registers as far as
// possible.
enum class NetworkKind { shared_memory, shuffles, registers };

// partial_bitonic() without a buffer.
void partial_bitonic_with(NetworkKind kind, const SelectCall<float>& call);

}  // namespace kith::KITH_BACKEND::select
