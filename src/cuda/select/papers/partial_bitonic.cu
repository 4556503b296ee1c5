// partial_bitonic.cu: partial sorting with bitonic networks.
// Idea    one block per row keeps the k smallest keys sorted and reads the row in segments of as many keys: each is
//         sorted, the reversed separator keeps the smaller half of both, and separators sort that again.
//         tuning.buffered collects only keys below the k-th so far, and sorts when the buffer is full
//         (running_list.cuh); a thread still reads one value at a time.
// Paper   Hanák, 3.5.1 (after Kruliš et al.), 5.3.1 and 5.3.2. For comparison only: `auto` never chooses it.
// Cost    Θ(n log² k) comparisons on any data; buffered as bits.cu.
// Limits  k ≤ 2048, rounded up to a power of two from 128 on; tuning.buffer_size at most that.
#include "cuda/select/papers/partial_bitonic.hpp"

#include "core/limit.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/papers/block_scan.cuh"
#include "cuda/select/papers/running_list.cuh"
#include "cuda/select/papers/shared_bitonic.cuh"

namespace kith::KITH_BACKEND::select {
namespace {

template <class T, class Network>
__global__ void __launch_bounds__(Network::kGroup, kResidentBlocks<Network>)
    partial_bitonic_kernel(Rows<T> rows, Output<T> output) {
  using Key = KeyOf<T>;
  KITH_SHARED(Key, shared, Network::kSize);
  const std::int64_t row = blockIdx.x;
  Key kept[Network::kEach];
  KITH_UNROLL
  for (unsigned i = 0; i < Network::kEach; ++i) kept[i] = last_key<Key>();
  for (unsigned first = 0; first < rows.length; first += Network::kSize) {
    Key segment[Network::kEach];
    KITH_UNROLL
    for (unsigned i = 0; i < Network::kEach; ++i) {
      const unsigned column = first + i * Network::kGroup + threadIdx.x;
      segment[i] = column < rows.length ? rows.key(row, column) : last_key<Key>();
    }
    Network::sort(segment, shared);
    Network::keep_smallest(kept, segment, shared);
  }
  KITH_UNROLL
  for (unsigned i = 0; i < Network::kEach; ++i)
    if (Network::rank(i) < output.k) output.put(row, Network::rank(i), kept[i]);
}

template <class T, class Network>
__global__ void __launch_bounds__(Network::kGroup, kResidentBlocks<Network>)
    buffered_bitonic_kernel(Rows<T> rows, Output<T> output, unsigned buffer) {
  const std::int64_t row = blockIdx.x;
  const ValueSegment<T> values(rows, row, 0, rows.length);
  RunningList<Network> list(output.k, buffer);
  for (unsigned first = 0; first < rows.length; first += Network::kGroup) {
    const unsigned column = first + threadIdx.x;
    const bool wanted = column < rows.length && values.may_pass(values.data[column], values.limit(list.threshold()));
    offer(
        values, wanted ? 1U : 0U, [&](unsigned) { return column; }, list);
  }
  list.finish([&](unsigned rank, const KeyOf<T>& key) { output.put(row, rank, key); });
}

template <class T, template <class, unsigned, unsigned> class Network>
void run_partial(const SelectCall<T>& call) {
  require_within("partial-bitonic", "k", call.k(), 1, kLargestBlockList);
  with_network<KeyOf<T>, Network>(call.k(), [&]<class Chosen>(Chosen) {
    launch("partial_bitonic", partial_bitonic_kernel<T, Chosen>, {.blocks = call.rows.rows, .threads = Chosen::kGroup},
           call.stream(), call.rows, call.output);
  });
}

template <class T>
void run_buffered(const SelectCall<T>& call) {
  require_within("partial-bitonic", "k", call.k(), 1, kLargestBlockList);
  with_network<KeyOf<T>, Bitonic>(call.k(), [&]<class Chosen>(Chosen) {
    require_within("partial-bitonic", "tuning.buffer_size", call.tuning.buffer_size, 0, Chosen::kSize);
    const unsigned asked = static_cast<unsigned>(call.tuning.buffer_size);
    launch("buffered partial_bitonic", buffered_bitonic_kernel<T, Chosen>,
           {.blocks = call.rows.rows, .threads = Chosen::kGroup}, call.stream(), call.rows, call.output,
           asked == 0 ? Chosen::kSize : asked);
  });
}

}  // namespace

void partial_bitonic_with(NetworkKind kind, const SelectCall<float>& call) {
  switch (kind) {
    case NetworkKind::shared_memory: return run_partial<float, PlainSharedBitonic>(call);
    case NetworkKind::shuffles: return run_partial<float, ShuffledSharedBitonic>(call);
    case NetworkKind::registers: return run_partial<float, Bitonic>(call);
  }
}

namespace methods {

template <class T>
void partial_bitonic(const SelectCall<T>& call) {
  if (call.tuning.buffered)
    run_buffered(call);
  else
    run_partial<T, Bitonic>(call);
}

template void partial_bitonic(const SelectCall<float>& call);
template void partial_bitonic(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
