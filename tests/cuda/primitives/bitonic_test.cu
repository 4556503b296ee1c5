// bitonic_test.cu: the bitonic networks, the bound of the k-th key, and the sorts of a block and of segments.
#include <algorithm>

#include "cuda/primitives/block_merge_sort.cuh"
#include "cuda/primitives/device_sort.hpp"
#include "cuda/primitives/kth_key.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/papers/shared_bitonic.cuh"
#include "device_test.hpp"
#include "support/random.hpp"

namespace kith::KITH_BACKEND {

// Prints keys of failed comparisons.
static void PrintTo(const WideKey& key, std::ostream* out) {
  *out << '(' << key.order << ", " << key.id << ')';
}

}  // namespace kith::KITH_BACKEND

namespace kith::test {
namespace {

using device::kWarp;
using device::launch;
using device::PackedKey;
using device::WideKey;

using Network = DeviceTest;
using Sorts = DeviceTest;

// A key with `distinct` random bits of order: with few, orders repeat and ids decide.
template <class K>
K random_key(Random& random, unsigned distinct) {
  const std::uint64_t order = random.bits() >> (64U - distinct);
  const auto id = static_cast<unsigned>(random.bits());
  if constexpr (std::is_same_v<K, PackedKey>)
    return device::make_key(static_cast<unsigned>(order), id);
  else
    return device::make_key(static_cast<unsigned long long>(order << 31U), id);
}

template <class K>
std::vector<K> random_keys(std::size_t count, std::uint64_t seed, unsigned distinct = 32) {
  Random random(seed);
  std::vector<K> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(random_key<K>(random, distinct));
  return keys;
}

// Sorts each run of `length` keys.
template <class K>
std::vector<K> sorted_runs(std::vector<K> keys, std::size_t length) {
  for (auto first = keys.begin(); first != keys.end(); first += static_cast<std::ptrdiff_t>(length))
    std::sort(first, first + static_cast<std::ptrdiff_t>(length));
  return keys;
}

// Threads of a block: networks of less than 64 threads share one.
template <class N>
constexpr unsigned kBlock = N::kGroup < 64 ? 64 : N::kGroup;

template <class N>
__device__ void load(typename N::Key (&items)[N::kEach], const typename N::Key* keys) {
  for (unsigned i = 0; i < N::kEach; ++i) items[i] = keys[N::rank(i)];
}

enum class Step { sort, merge, keep_smallest };

// Each network works on its own N::kSize keys of `keys` and `others`.
template <class N>
__global__ void network_kernel(Step step, typename N::Key* keys, const typename N::Key* others) {
  KITH_SHARED(typename N::Key, shared, N::kSize);
  const unsigned network = (blockIdx.x * blockDim.x + threadIdx.x) / N::kGroup;
  keys += std::size_t{network} * N::kSize;
  typename N::Key items[N::kEach];
  load<N>(items, keys);
  if (step == Step::sort) N::sort(items, shared);
  if (step == Step::merge) N::merge(items, shared);
  if (step == Step::keep_smallest) {
    typename N::Key more[N::kEach];
    load<N>(more, others + std::size_t{network} * N::kSize);
    N::keep_smallest(items, more, shared);
  }
  for (unsigned i = 0; i < N::kEach; ++i) keys[N::rank(i)] = items[i];
}

template <class N>
std::vector<typename N::Key> run_network(Step step, const std::vector<typename N::Key>& keys,
                                         const std::vector<typename N::Key>& others = {}) {
  const device::Stream stream;
  DeviceArray<typename N::Key> device_keys(keys, stream);
  DeviceArray<typename N::Key> device_others(others, stream);
  const auto blocks = static_cast<std::int64_t>(keys.size() / N::kSize * N::kGroup / kBlock<N>);
  launch("network", network_kernel<N>, {.blocks = blocks, .threads = kBlock<N>}, stream, step, device_keys.data(),
         static_cast<const typename N::Key*>(device_others.data()));
  return device_keys.values();
}

// Keys for three blocks.
template <class N>
constexpr std::size_t kKeys = 3 * std::size_t{kBlock<N>} * N::kEach;

template <class N>
void test_sort() {
  using K = typename N::Key;
  for (const unsigned distinct : {32U, 3U}) {
    const auto keys = random_keys<K>(kKeys<N>, 1, distinct);
    const auto sorted = sorted_runs(keys, N::kSize);
    EXPECT_EQ(run_network<N>(Step::sort, keys), sorted);
    EXPECT_EQ(run_network<N>(Step::sort, sorted), sorted);
    auto descending = sorted;
    for (std::size_t first = 0; first < keys.size(); first += N::kSize)
      std::reverse(descending.begin() + static_cast<std::ptrdiff_t>(first),
                   descending.begin() + static_cast<std::ptrdiff_t>(first + N::kSize));
    EXPECT_EQ(run_network<N>(Step::sort, descending), sorted);
  }
}

// A rotated sequence that ascends and then descends is bitonic, too.
template <class N>
void test_merge() {
  using K = typename N::Key;
  Random random(2);
  auto keys = sorted_runs(random_keys<K>(kKeys<N>, 2, 4), N::kSize);
  const auto sorted = keys;
  for (std::size_t first = 0; first < keys.size(); first += N::kSize) {
    const auto run = keys.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<K> up;
    std::vector<K> down;
    for (std::size_t i = 0; i < N::kSize; ++i)
      (random.below(2) == 0 ? up : down).push_back(run[static_cast<std::ptrdiff_t>(i)]);
    std::copy(down.rbegin(), down.rend(), std::copy(up.begin(), up.end(), run));
    std::rotate(run, run + random.below(N::kSize), run + N::kSize);
  }
  EXPECT_EQ(run_network<N>(Step::merge, keys), sorted);
}

template <class N>
void test_keep_smallest() {
  using K = typename N::Key;
  const auto keys = sorted_runs(random_keys<K>(kKeys<N>, 3, 5), N::kSize);
  const auto others = sorted_runs(random_keys<K>(kKeys<N>, 4, 4), N::kSize);
  std::vector<K> expected;
  for (std::size_t first = 0; first < keys.size(); first += N::kSize) {
    std::vector<K> both(keys.begin() + static_cast<std::ptrdiff_t>(first),
                        keys.begin() + static_cast<std::ptrdiff_t>(first + N::kSize));
    both.insert(both.end(), others.begin() + static_cast<std::ptrdiff_t>(first),
                others.begin() + static_cast<std::ptrdiff_t>(first + N::kSize));
    std::sort(both.begin(), both.end());
    expected.insert(expected.end(), both.begin(), both.begin() + N::kSize);
  }
  EXPECT_EQ(run_network<N>(Step::keep_smallest, keys, others), expected);
}

template <class... N>
void test_networks() {
  for_each_schedule([] {
    (test_sort<N>(), ...);
    (test_merge<N>(), ...);
    (test_keep_smallest<N>(), ...);
  });
}

template <class K>
void test_register_networks() {
  using device::Bitonic;
  test_networks<Bitonic<K, 1, 8>, Bitonic<K, 4, 1>, Bitonic<K, 16, 2>, Bitonic<K, 32, 1>, Bitonic<K, 32, 4>,
                Bitonic<K, 64, 2>, Bitonic<K, 256, 4>>();
}

TEST_F(Network, InRegisters) {
  test_register_networks<PackedKey>();
  test_register_networks<WideKey>();
}

TEST_F(Network, InSharedMemory) {
  test_networks<
      device::select::PlainSharedBitonic<PackedKey, 64, 2>, device::select::ShuffledSharedBitonic<PackedKey, 128, 2>,
      device::select::PlainSharedBitonic<WideKey, 128, 1>, device::select::ShuffledSharedBitonic<WideKey, 64, 4>>();
}

// A network that sorts all sequences of zeros and ones sorts everything (the 0-1 principle).
TEST_F(Network, SortsAllZerosAndOnes) {
  using N = device::Bitonic<PackedKey, 4, 4>;
  std::vector<PackedKey> keys;
  for (unsigned pattern = 0; pattern < 1U << N::kSize; ++pattern)
    for (unsigned bit = 0; bit < N::kSize; ++bit) keys.push_back(pattern >> bit & 1U);
  EXPECT_EQ(run_network<N>(Step::sort, keys), sorted_runs(keys, N::kSize));
}

template <class K, unsigned kItems>
__global__ void rank_kernel(const K* sorted, K* found) {
  K items[kItems];
  for (unsigned i = 0; i < kItems; ++i) items[i] = sorted[threadIdx.x * kItems + i];
  for (unsigned count = 1; count <= kWarp * kItems; ++count)
    found[(count - 1) * kWarp + threadIdx.x] = device::warp_rank(items, count);
}

template <class K, unsigned kItems>
void test_rank() {
  const device::Stream stream;
  const std::vector<K> keys = sorted_runs(random_keys<K>(kWarp * kItems, 5, 4), kWarp * kItems);
  DeviceArray<K> sorted(keys, stream);
  DeviceArray<K> found(std::vector<K>(keys.size() * kWarp, K{}), stream);
  launch("rank", rank_kernel<K, kItems>, {.blocks = 1, .threads = kWarp}, stream, static_cast<const K*>(sorted.data()),
         found.data());
  const std::vector<K> got = found.values();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], keys[i / kWarp]) << "rank " << i / kWarp + 1;
}

TEST_F(Network, FindsEveryRankOfAWarp) {
  test_rank<PackedKey, 1>();
  test_rank<PackedKey, 4>();
  test_rank<WideKey, 2>();
}

constexpr unsigned kBoundThreads = 128;

template <class K>
__global__ void bound_kernel(const K* keys, unsigned count, const unsigned* ranks, K* bounds) {
  using Scratch = device::KthScratch<K, kBoundThreads>;
  KITH_SHARED(Scratch, scratch, 1);
  const K bound = device::kth_key_bound<kBoundThreads>([keys](unsigned i) { return keys[i]; }, count, ranks[blockIdx.x],
                                                       scratch[0]);
  bounds[blockIdx.x * kBoundThreads + threadIdx.x] = bound;
}

// Every thread must get a bound that exactly k of the keys, which all differ, do not exceed.
template <class K>
void test_bound(std::vector<K> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const auto count = static_cast<unsigned>(keys.size());
  std::vector<unsigned> ranks;
  for (const unsigned k : {1U, 2U, count / 3, count / 2, count - 1, count})
    if (k >= 1 && k <= count) ranks.push_back(k);
  auto shuffled = keys;
  Random random(6);
  for (std::size_t i = shuffled.size(); i > 1; --i)
    std::swap(shuffled[i - 1], shuffled[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);

  const device::Stream stream;
  DeviceArray<K> device_keys(shuffled, stream);
  DeviceArray<unsigned> device_ranks(ranks, stream);
  DeviceArray<K> bounds(std::vector<K>(ranks.size() * kBoundThreads, K{}), stream);
  launch("bound", bound_kernel<K>, {.blocks = static_cast<std::int64_t>(ranks.size()), .threads = kBoundThreads},
         stream, static_cast<const K*>(device_keys.data()), count, static_cast<const unsigned*>(device_ranks.data()),
         bounds.data());
  const std::vector<K> got = bounds.values();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const unsigned k = ranks[i / kBoundThreads];
    const auto passed = std::count_if(keys.begin(), keys.end(), [&](const K& key) { return key <= got[i]; });
    ASSERT_EQ(passed, static_cast<std::ptrdiff_t>(k)) << "of " << count << " keys";
  }
}

template <class K>
void test_bounds() {
  for_each_schedule([] {
    for (const std::size_t count : {1, 2, 3, 100, 127, 129, 1000}) {
      test_bound(random_keys<K>(count, count));
      test_bound(random_keys<K>(count, count, 1));  // two orders: ids decide
    }
    std::vector<K> close;    // differ in the last bits only
    std::vector<K> extreme;  // includes the smallest and the largest key
    for (unsigned i = 0; i < 300; ++i) close.push_back(device::make_key(device::order_of(K{}), 70000 + i));
    extreme = random_keys<K>(50, 9);
    extreme.push_back(K{});
    extreme.push_back(device::last_key<K>());
    test_bound(extreme);
    test_bound(close);
  });
}

TEST_F(Sorts, BoundOfTheKthKey) {
  test_bounds<PackedKey>();
  test_bounds<WideKey>();
}

template <class K, unsigned kThreads, unsigned kItems>
__global__ void merge_sort_kernel(K* keys, K* spare, unsigned size, K* sorted) {
  KITH_SHARED(K, shared, kThreads * kItems);
  const K* result = device::block_merge_sort<K, kThreads, kItems>(keys, spare, size, shared);
  for (unsigned i = threadIdx.x; i < size; i += kThreads) sorted[i] = result[i];
}

template <class K, unsigned kThreads, unsigned kItems>
void test_merge_sort() {
  const device::Stream stream;
  constexpr unsigned kTile = kThreads * kItems;
  for (const unsigned size :
       {0U, 1U, 2U, kTile - 1, kTile, kTile + 1, 2 * kTile, 3 * kTile + 5, 7 * kTile, 8 * kTile}) {
    SCOPED_TRACE(testing::Message() << size << " keys in tiles of " << kTile);
    const auto keys = random_keys<K>(size, size, 6);
    DeviceArray<K> device_keys(keys, stream);
    DeviceArray<K> spare(std::vector<K>(size, K{}), stream);
    DeviceArray<K> sorted(std::vector<K>(size, K{}), stream);
    launch("merge sort", merge_sort_kernel<K, kThreads, kItems>, {.blocks = 1, .threads = kThreads}, stream,
           device_keys.data(), spare.data(), size, sorted.data());
    auto expected = keys;
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(sorted.values(), expected);
  }
}

TEST_F(Sorts, OfABlock) {
  for_each_schedule([] {
    test_merge_sort<PackedKey, 64, 2>();
    test_merge_sort<WideKey, 64, 4>();
    test_merge_sort<PackedKey, 256, 1>();
  });
}

template <class K>
void test_segments(std::int64_t segments, std::int64_t length) {
  SCOPED_TRACE(testing::Message() << segments << " segments of " << length);
  const device::Stream stream;
  device::Workspace workspace(stream);
  const auto count = static_cast<std::size_t>(segments * length);
  const auto keys = random_keys<K>(count, count, 7);
  auto numbered = keys;  // ids ascend within a segment
  for (std::size_t i = 0; i < count; ++i) {
    const auto column = static_cast<unsigned>(i % static_cast<std::size_t>(length));
    numbered[i] = device::make_key(device::order_of(keys[i]), column);
  }
  DeviceArray<K> any(keys, stream);
  DeviceArray<K> ascending(numbered, stream);
  device::sort_segments(any.data(), segments, length, workspace);
  device::sort_segments(ascending.data(), segments, length, workspace, device::IdOrder::ascending);
  EXPECT_EQ(any.values(), sorted_runs(keys, static_cast<std::size_t>(length)));
  EXPECT_EQ(ascending.values(), sorted_runs(numbered, static_cast<std::size_t>(length)));
}

template <class K>
void test_all_segments() {
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {{1, 1}, {5, 1}, {1, 1000}, {3, 777}, {200, 33}};
  if (!small_problems()) shapes.insert(shapes.end(), {{3, 300007}, {1, 1 << 20}, {5000, 41}, {70000, 3}, {40, 20000}});
  for (const auto& [segments, length] : shapes) test_segments<K>(segments, length);
}

TEST_F(Sorts, OfSegments) {
  test_all_segments<PackedKey>();
  test_all_segments<WideKey>();
}

}  // namespace
}  // namespace kith::test
