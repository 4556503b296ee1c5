// bits.cu: bitonic select, the k smallest keys of each row in one pass over it.
// Idea    one block per row; the k smallest keys so far stay in the block's registers, sorted; values below the k-th
//         are collected in shared memory and merged in by a bitonic network when the buffer is full (running_list.cuh).
//         Several 16-byte loads of each thread are in flight while the previous batch is compared with the k-th value.
// Paper   Hanák, 4.1; tuning.transposed is the layout of 4.1.3. For comparison only: `auto` never chooses it.
// Cost    each value is read once; 3 + 2 ln(n/k) merges of Θ(k log² k) on rows in random order.
// Limits  k ≤ 2048. Descending rows merge at every full buffer, unless tuning.scattered reads them out of order. Few
//         rows leave the device idle: bits_single_row.cu.
#include "core/limit.hpp"
#include "cuda/primitives/strided_bitonic.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/method.hpp"
#include "cuda/select/papers/block_scan.cuh"
#include "cuda/select/papers/running_list.cuh"

namespace kith::KITH_BACKEND::select {
namespace {

// Vectors of a batch: 2 · 4 · 16 bytes of each thread are in flight or being compared.
constexpr unsigned kBitsVectors = 4;

template <class T, class Network>
__global__ void __launch_bounds__(Network::kGroup, kResidentBlocks<Network>)
    bits_kernel(Rows<T> rows, bool scattered, Output<T> output) {
  const std::int64_t row = blockIdx.x;
  RunningList<Network> list(output.k, Network::kSize);
  block_scan<Network::kGroup, kBitsVectors>(ValueSegment<T>(rows, row, 0, rows.length), list, 0, scattered);
  list.finish([&](unsigned rank, const KeyOf<T>& key) { output.put(row, rank, key); });
}

template <class T, template <class, unsigned, unsigned> class Network>
void run_bits(const SelectCall<T>& call) {
  with_network<KeyOf<T>, Network>(call.k(), [&]<class Chosen>(Chosen) {
    launch("bits", bits_kernel<T, Chosen>, {.blocks = call.rows.rows, .threads = Chosen::kGroup}, call.stream(),
           call.rows, call.tuning.scattered, call.output);
  });
}

}  // namespace

namespace methods {

template <class T>
void bits(const SelectCall<T>& call) {
  require_within("bits", "k", call.k(), 1, kLargestBlockList);
  if (call.tuning.transposed)
    run_bits<T, StridedBitonic>(call);
  else
    run_bits<T, Bitonic>(call);
}

template void bits(const SelectCall<float>& call);
template void bits(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
