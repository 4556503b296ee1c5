// bits_single_row.cu: bitonic select for few, long rows.
// Idea    a row is cut into parts, each selected by a block as in bits.cu; one more block per row merges the k keys of
//         each part. Parts leave their keys interleaved (all first keys, then all second ones, …), so that the merge
//         meets the smallest first and ends as soon as one key of each part is above the threshold: of parts · k keys
//         it reads little more than k.
// Paper   Hanák, 3.6 and 5.4.2. For comparison only: `auto` never chooses it.
// Cost    each value is read once; workspace for rows · parts · k keys.
// Limits  k ≤ 2048; at most 512 parts.
#include <algorithm>

#include "core/limit.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/select/method.hpp"
#include "cuda/select/papers/block_scan.cuh"
#include "cuda/select/papers/running_list.cuh"

namespace kith::KITH_BACKEND::select {
namespace {

struct SingleRowTuning {
  unsigned vectors = 4;           // of a batch, as in bits.cu
  unsigned shortest_part = 8192;  // values; shorter parts spend their time on merges
  unsigned most_parts = 512;      // every batch of the merging block covers that many keys
};
constexpr SingleRowTuning kSingleRowTuning;

template <class T, class Network>
__global__ void __launch_bounds__(Network::kGroup, kResidentBlocks<Network>)
    bits_part_kernel(Rows<T> rows, unsigned k, unsigned parts, KeyOf<T>* partial) {
  const std::int64_t row = blockIdx.x / parts;
  const unsigned part = blockIdx.x % parts;
  const auto begin = static_cast<unsigned>(static_cast<std::uint64_t>(rows.length) * part / parts);
  const auto end = static_cast<unsigned>(static_cast<std::uint64_t>(rows.length) * (part + 1) / parts);
  RunningList<Network> list(k, Network::kSize);
  block_scan<Network::kGroup, kSingleRowTuning.vectors>(ValueSegment<T>(rows, row, begin, end), list);
  // A part shorter than k is padded with last_key().
  list.finish([&](unsigned rank, const KeyOf<T>& key) { partial[(row * k + rank) * parts + part] = key; });
}

template <class T, class Network>
__global__ void __launch_bounds__(Network::kGroup, kResidentBlocks<Network>)
    bits_merge_kernel(const KeyOf<T>* partial, unsigned parts, Output<T> output) {
  using Key = KeyOf<T>;
  static_assert(Network::kGroup * kSingleRowTuning.vectors * (16 / sizeof(Key)) >= kSingleRowTuning.most_parts);
  const std::int64_t row = blockIdx.x;
  RunningList<Network> list(output.k, Network::kSize);
  const KeySegment<Key> keys{partial + row * output.k * parts, output.k * parts};
  block_scan<Network::kGroup, kSingleRowTuning.vectors>(keys, list, parts);
  list.finish([&](unsigned rank, const Key& key) { output.put(row, rank, key); });
}

// The number of parts: enough to fill the device, unless they would become too short.
template <class T>
unsigned parts_of(const SelectCall<T>& call, unsigned threads) {
  const Rows<T>& rows = call.rows;
  if (call.tuning.partitions > 0) return std::min(static_cast<unsigned>(call.tuning.partitions), rows.length);
  const std::int64_t blocks = ceil_div(multiprocessor_count() * device_policy().single_row_threads_each, threads);
  const std::int64_t wanted = ceil_div(blocks, std::max<std::int64_t>(rows.rows, 1));
  const std::int64_t sensible = rows.length / std::max(kSingleRowTuning.shortest_part, 4 * call.k());
  return static_cast<unsigned>(std::clamp<std::int64_t>(std::min(wanted, sensible), 1, kSingleRowTuning.most_parts));
}

}  // namespace

namespace methods {

template <class T>
void bits_single_row(const SelectCall<T>& call) {
  using Key = KeyOf<T>;
  const unsigned k = call.k();
  require_within("bits-single-row", "k", k, 1, kLargestBlockList);
  require_within("bits-single-row", "tuning.partitions", call.tuning.partitions, 0, kSingleRowTuning.most_parts);
  with_network<Key, Bitonic>(k, [&]<class Network>(Network) {
    constexpr unsigned kThreads = Network::kGroup;
    const unsigned parts = parts_of(call, kThreads);
    auto* partial = call.workspace.template allocate<Key>(static_cast<std::size_t>(call.rows.rows) * parts * k);
    launch("bits_part", bits_part_kernel<T, Network>, {.blocks = call.rows.rows * parts, .threads = kThreads},
           call.stream(), call.rows, k, parts, partial);
    launch("bits_merge", bits_merge_kernel<T, Network>, {.blocks = call.rows.rows, .threads = kThreads}, call.stream(),
           partial, parts, call.output);
  });
}

template void bits_single_row(const SelectCall<float>& call);
template void bits_single_row(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
