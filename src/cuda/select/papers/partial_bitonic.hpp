// partial_bitonic.hpp: partial bitonic sort with a given network, to compare networks as Hanák does (5.3.1).
#pragma once

#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {

// How the network exchanges keys: all in shared memory; short strides by shuffles; in registers as far as possible.
enum class NetworkKind { shared_memory, shuffles, registers };

// The method partial-bitonic, unbuffered.
void partial_bitonic_with(NetworkKind kind, const SelectCall<float>& call);

}  // namespace kith::KITH_BACKEND::select
