// merge_path.cu: partial sorting by merges.
// Idea    chunks of a row are sorted in registers; neighboring lists are merged again and again, never keeping more
//         than k keys of two, until one list is left. A merge is spread over blocks and threads by merge paths.
// Paper   Hanák, 3.4.2 and 3.5 (after Li et al.).
// Cost    1 + log2(n/2048) passes; lists shrink from pass to pass once they are k long. No threshold: every value is
//         sorted. Workspace of about 2n keys a row, at most 1 GiB where a row allows it, by taking rows in turns.
// Limits  any k.
#include <algorithm>
#include <array>

#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/merge_path.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kItems = 8;
constexpr unsigned kTile = kThreads * kItems;
constexpr std::size_t kWorkspaceBytes = std::size_t{1} << 30U;

// Where a pass leaves its lists: in the workspace, or, when it was the last, in the answer.
template <class T>
struct Destination {
  KeyOf<T>* keys;  // null: the answer
  std::int64_t first_row;
  SortedLists lists;
  Output<T> output;

  // `row` counts from first_row.
  __device__ void put(std::int64_t row, std::int64_t list, unsigned place, const KeyOf<T>& key) const {
    if (keys == nullptr)
      output.put(first_row + row, place, key);
    else
      keys[(row * lists.count() + list) * lists.room() + place] = key;
  }
};

// A block a chunk.
template <class T>
__global__ void __launch_bounds__(kThreads) sort_chunks_kernel(Rows<T> rows, Destination<T> to) {
  using Key = KeyOf<T>;
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

// A block a tile of a pair of lists.
template <class T>
__global__ void __launch_bounds__(kThreads)
    merge_lists_kernel(const KeyOf<T>* keys, SortedLists lists, unsigned tiles, Destination<T> to) {
  using Key = KeyOf<T>;
  KITH_SHARED(Key, shared, kTile);
  const std::int64_t pairs = to.lists.count();
  const unsigned tile = blockIdx.x % tiles;
  const std::int64_t pair = blockIdx.x / tiles % pairs;
  const std::int64_t row = blockIdx.x / tiles / pairs;
  const unsigned first = tile * kTile;
  const unsigned size = to.lists.size(pair);
  if (first >= size) return;
  const Key* a = keys + (row * lists.count() + 2 * pair) * lists.room();
  const ListPair<Key> both{a, lists.size(2 * pair), a + lists.room(), lists.size(2 * pair + 1)};
  const unsigned count = size - first < kTile ? size - first : kTile;
  merge_tile<kThreads, kItems>(both, first, count, shared,
                               [&](unsigned place, const Key& key) { to.put(row, pair, place, key); });
}

// Keys of one row in the two buffers that passes write in turns; the last pass writes the answer.
std::array<std::int64_t, 2> row_keys(SortedLists lists) {
  std::array<std::int64_t, 2> keys{0, 0};
  for (unsigned pass = 0; lists.count() > 1; lists = lists.merged(), ++pass)
    keys[pass % 2] = std::max(keys[pass % 2], lists.count() * lists.room());
  return keys;
}

template <class T>
void merge_batch(const SelectCall<T>& call, std::int64_t first_row, std::int64_t rows,
                 const std::array<KeyOf<T>*, 2>& buffers) {
  SortedLists lists{call.rows.length, kTile, call.k()};
  const auto destination = [&](unsigned pass) {
    return Destination<T>{lists.count() > 1 ? buffers[pass % 2] : nullptr, first_row, lists, call.output};
  };
  launch("merge_path sort", sort_chunks_kernel<T>, {.blocks = rows * lists.count(), .threads = kThreads}, call.stream(),
         call.rows, destination(0));
  for (unsigned pass = 1; lists.count() > 1; ++pass) {
    const SortedLists from = lists;
    lists = lists.merged();
    const std::int64_t tiles = ceil_div(lists.room(), kTile);
    launch("merge_path merge", merge_lists_kernel<T>, {.blocks = rows * lists.count() * tiles, .threads = kThreads},
           call.stream(), buffers[(pass + 1) % 2], from, static_cast<unsigned>(tiles), destination(pass));
  }
}

// What may still be taken from the workspace.
template <class T>
std::size_t allowed_bytes(const SelectCall<T>& call) {
  const Workspace& workspace = call.workspace;
  if (workspace.budget() == 0) return kWorkspaceBytes;
  return std::min(kWorkspaceBytes, workspace.budget() - std::min(workspace.budget(), workspace.used()));
}

}  // namespace

namespace methods {

template <class T>
void merge_path(const SelectCall<T>& call) {
  using Key = KeyOf<T>;
  const std::array<std::int64_t, 2> keys = row_keys({call.rows.length, kTile, call.k()});
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
