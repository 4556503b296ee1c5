// Memory that searches hand on: it serves the same stream at once, another one after the search, and goes with the last
// who keeps spares.
#include "cuda/runtime/search_memory.hpp"

#include <thread>

#include "cuda/runtime/stream.hpp"
#include "device_test.hpp"

namespace kith::test {
namespace {

using device::DeviceBuffer;
using device::KeepSpares;
using device::SearchMemory;
using device::Stream;

using SearchMemoryTest = DeviceTest;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

int current_device() {
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  return device;
}

void* address_of(std::size_t bytes, cudaStream_t stream) {
  return DeviceBuffer<char>(bytes, stream).data();
}

TEST_F(SearchMemoryTest, ServesTheSearchThatFreedIt) {
  const KeepSpares keep;
  const Stream stream;
  const SearchMemory memory(stream, true);
  void* const first = address_of(5000, stream);
  const DeviceBuffer<char> again(5000, stream);
  EXPECT_EQ(again.data(), first);
  EXPECT_NE(address_of(5000, stream), first);  // it is in use
  EXPECT_NE(address_of(9000, stream), first);
}

TEST_F(SearchMemoryTest, ServesTheNextSearchOnAnotherStream) {
  const KeepSpares keep;
  const Stream one;
  const Stream other;
  void* first = nullptr;
  {
    const SearchMemory memory(one, true);
    DeviceBuffer<int> values(1000, one);
    first = values.data();
    KITH_CUDA(cudaMemsetAsync(values.data(), 1, 1000 * sizeof(int), one));
  }
  EXPECT_EQ(device::bytes_handed_on(current_device()), device::size_handed_on(1000 * sizeof(int)));
  const SearchMemory memory(other, true);
  EXPECT_EQ(device::bytes_handed_on(current_device()), 0U);
  DeviceBuffer<int> values(1000, other);
  EXPECT_EQ(values.data(), first);
  KITH_CUDA(cudaMemsetAsync(values.data(), 2, 1000 * sizeof(int), other));
  std::vector<int> found(1000);
  KITH_CUDA(cudaMemcpyAsync(found.data(), values.data(), 1000 * sizeof(int), cudaMemcpyDeviceToHost, other));
  other.synchronize();
  EXPECT_EQ(found, std::vector<int>(1000, 0x02020202));  // the first search had written before
}

TEST_F(SearchMemoryTest, IsNotOfOtherStreamsDuringTheSearch) {
  const KeepSpares keep;
  const Stream one;
  const Stream other;
  const SearchMemory memory(one, true);
  const SearchMemory of_other(other, true);
  EXPECT_NE(address_of(5000, one), DeviceBuffer<char>(5000, other).data());
}

TEST_F(SearchMemoryTest, IsSharedByTheSearchesOfAStream) {
  const KeepSpares keep;
  const Stream stream;
  std::optional<SearchMemory> one;
  one.emplace(stream, true);
  void* first = nullptr;
  {
    const SearchMemory two(stream, true);
    first = address_of(5000, stream);
  }
  EXPECT_EQ(device::bytes_handed_on(current_device()), 0U);  // the first goes on
  EXPECT_EQ(address_of(5000, stream), first);
  one.reset();
  EXPECT_GE(device::bytes_handed_on(current_device()), 5000U);
}

TEST_F(SearchMemoryTest, GoesWithTheLastWhoKeepsSpares) {
  const Stream stream;
  {
    const KeepSpares keep;
    const SearchMemory memory(stream, true);
    address_of(5000, stream);
  }
  EXPECT_EQ(device::bytes_handed_on(current_device()), 0U);
  const SearchMemory memory(stream, true);  // nobody keeps
  address_of(5000, stream);
  const KeepSpares keep;
  EXPECT_EQ(device::bytes_handed_on(current_device()), 0U);
}

TEST_F(SearchMemoryTest, HasLimits) {
  const KeepSpares keep;
  const Stream stream;
  {
    const SearchMemory memory(stream, true);
    address_of(20 * kMiB, stream);
    std::vector<DeviceBuffer<char>> many;
    for (int i = 0; i < 10; ++i) many.emplace_back(10 * kMiB, stream);
  }
  EXPECT_GE(device::bytes_handed_on(current_device()), 50 * kMiB);
  EXPECT_LE(device::bytes_handed_on(current_device()), 64 * kMiB);
  device::free_handed_on(current_device());
  EXPECT_EQ(device::bytes_handed_on(current_device()), 0U);
}

// What is allocated for a size serves every size that is allocated so.
TEST_F(SearchMemoryTest, AllocatesLittleMore) {
  for (std::size_t bytes = 1; bytes < 40 * kMiB; bytes += bytes / 7 + 1) {
    const std::size_t size = device::size_handed_on(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size, bytes + std::max<std::size_t>(511, bytes / 16)) << bytes;
    EXPECT_EQ(device::size_handed_on(size), size) << bytes;
  }
}

TEST_F(SearchMemoryTest, ThreadsNeverShareABlock) {
  const KeepSpares keep;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      for (int turn = 0; turn < 20; ++turn) {
        const Stream stream;
        const SearchMemory memory(stream, true);
        DeviceBuffer<int> value(1, stream);
        int found = -1;
        KITH_CUDA(cudaMemcpyAsync(value.data(), &thread, sizeof(int), cudaMemcpyHostToDevice, stream));
        std::this_thread::yield();
        KITH_CUDA(cudaMemcpyAsync(&found, value.data(), sizeof(int), cudaMemcpyDeviceToHost, stream));
        stream.synchronize();
        EXPECT_EQ(found, thread);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kith::test
