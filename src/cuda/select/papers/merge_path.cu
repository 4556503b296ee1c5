// merge_path.cu: partial sorting by merges.
// Idea    chunks of a row are sorted in registers; neighboring lists are merged pairwise, keeping at most k keys of
//         each pair, until one list is left. A merge is distributed over blocks and threads by merge paths.
// Paper   Hanák, 3.4.2 and 3.5 (after Li et al.). For comparison only: `auto` never chooses it.
// Cost    1 + log2(n/2048) passes, of fewer keys each once lists are k long. No threshold: every value is sorted.
//         Workspace of about 2n keys per row; rows are done in batches so that it stays below 1 GiB if one row does.
// Limits  any k.
#include <algorithm>
#include <array>

#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/merge_path.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {
namespace {

struct MergePathShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kItems = 8;
  static constexpr unsigned kTile = kThreads * kItems;
};
constexpr std::size_t kMergeWorkspaceBytes = std::size_t{1} << 30U;

// The destination of a pass: lists in the workspace or, for the last pass, the output.
template <class T>
struct Destination {
  KeyOf<T>* keys;  // null: the output
  std::int64_t first_row;
  SortedLists lists;
  Output<T> output;

  // `row` counts from first_row.
  __device__ void put(std::int64_t row, std::int64_t list, unsigned position, const KeyOf<T>& key) const {
    if (keys == nullptr)
      output.put(first_row + row, position, key);
    else
      keys[(row * lists.count() + list) * lists.capacity() + position] = key;
  }
};

// One block per chunk.
template <class T>
__global__ void __launch_bounds__(MergePathShape::kThreads) sort_chunks_kernel(Rows<T> rows, Destination<T> to) {
  using Key = KeyOf<T>;
  constexpr unsigned kThreads = MergePathShape::kThreads;
  constexpr unsigned kItems = MergePathShape::kItems;
  constexpr unsigned kTile = MergePathShape::kTile;
  KITH_SHARED(Key, shared, kTile);
  const std::int64_t row = blockIdx.x / to.lists.count();
  const std::int64_t chunk = blockIdx.x % to.lists.count();
  Key items[kItems];
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) {
    const std::int64_t column = chunk * kTile + i * kThreads + threadIdx.x;
    items[i] = column < rows.length ? rows.key(to.first_row + row, static_cast<unsigned>(column)) : last_key<Key>();
  }
  using Network = Bitonic<Key, kThreads, kItems>;
  Network::sort(items, shared);
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i)
    if (Network::rank(i) < to.lists.size(chunk)) to.put(row, chunk, Network::rank(i), items[i]);
}

// One block per tile of a pair of lists.
template <class T>
__global__ void __launch_bounds__(MergePathShape::kThreads)
    merge_lists_kernel(const KeyOf<T>* keys, SortedLists lists, unsigned tiles, Destination<T> to) {
  using Key = KeyOf<T>;
  constexpr unsigned kTile = MergePathShape::kTile;
  KITH_SHARED(Key, shared, kTile);
  const std::int64_t pairs = to.lists.count();
  const unsigned tile = blockIdx.x % tiles;
  const std::int64_t pair = blockIdx.x / tiles % pairs;
  const std::int64_t row = blockIdx.x / tiles / pairs;
  const unsigned first = tile * kTile;
  const unsigned size = to.lists.size(pair);
  if (first >= size) return;
  const Key* a = keys + (row * lists.count() + 2 * pair) * lists.capacity();
  const ListPair<Key> both{a, lists.size(2 * pair), a + lists.capacity(), lists.size(2 * pair + 1)};
  const unsigned count = size - first < kTile ? size - first : kTile;
  merge_tile<MergePathShape::kThreads, MergePathShape::kItems>(
      both, first, count, shared, [&](unsigned position, const Key& key) { to.put(row, pair, position, key); });
}

// Keys of one row in the two buffers that passes write alternately; the last pass writes the output.
std::array<std::int64_t, 2> row_keys(SortedLists lists) {
  std::array<std::int64_t, 2> keys{0, 0};
  for (unsigned pass = 0; lists.count() > 1; lists = lists.merged(), ++pass)
    keys[pass % 2] = std::max(keys[pass % 2], lists.count() * lists.capacity());
  return keys;
}

template <class T>
void merge_batch(const SelectCall<T>& call, std::int64_t first_row, std::int64_t rows,
                 const std::array<KeyOf<T>*, 2>& buffers) {
  SortedLists lists{call.rows.length, MergePathShape::kTile, call.k()};
  const auto destination = [&](unsigned pass) {
    return Destination<T>{lists.count() > 1 ? buffers[pass % 2] : nullptr, first_row, lists, call.output};
  };
  launch("merge_path sort", sort_chunks_kernel<T>,
         {.blocks = rows * lists.count(), .threads = MergePathShape::kThreads}, call.stream(), call.rows,
         destination(0));
  for (unsigned pass = 1; lists.count() > 1; ++pass) {
    const SortedLists from = lists;
    lists = lists.merged();
    const std::int64_t tiles = ceil_div(lists.capacity(), MergePathShape::kTile);
    launch("merge_path merge", merge_lists_kernel<T>,
           {.blocks = rows * lists.count() * tiles, .threads = MergePathShape::kThreads}, call.stream(),
           buffers[(pass + 1) % 2], from, static_cast<unsigned>(tiles), destination(pass));
  }
}

// Bytes of the workspace that this method may use.
template <class T>
std::size_t allowed_bytes(const SelectCall<T>& call) {
  const Workspace& workspace = call.workspace;
  if (workspace.budget() == 0) return kMergeWorkspaceBytes;
  return std::min(kMergeWorkspaceBytes, workspace.budget() - std::min(workspace.budget(), workspace.used()));
}

}  // namespace

namespace methods {

template <class T>
void merge_path(const SelectCall<T>& call) {
  using Key = KeyOf<T>;
  const std::array<std::int64_t, 2> keys = row_keys({call.rows.length, MergePathShape::kTile, call.k()});
  const auto row_bytes = static_cast<std::size_t>(keys[0] + keys[1]) * sizeof(Key);
  const std::size_t fitting = std::max<std::size_t>(1, allowed_bytes(call) / std::max<std::size_t>(1, row_bytes));
  const std::int64_t batch = std::min(call.rows.rows, static_cast<std::int64_t>(fitting));
  const std::array<Key*, 2> buffers{call.workspace.template allocate<Key>(static_cast<std::size_t>(batch * keys[0])),
                                    call.workspace.template allocate<Key>(static_cast<std::size_t>(batch * keys[1]))};
  for (std::int64_t first = 0; first < call.rows.rows; first += batch)
    merge_batch(call, first, std::min(batch, call.rows.rows - first), buffers);
}

template void merge_path(const SelectCall<float>& call);
template void merge_path(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
