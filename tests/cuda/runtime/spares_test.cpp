// Spares: memory and streams are handed on while somebody keeps them, and go with the last who does.
#include "cuda/runtime/spares.hpp"

#include <set>
#include <thread>

#include "device_test.hpp"

namespace kith::test {
namespace {

using device::KeepSpares;
using device::PinnedLoan;
using device::Stream;

using Spares = DeviceTest;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

TEST_F(Spares, PinnedMemoryIsHandedOn) {
  const KeepSpares keep;
  const PinnedLoan other(3 * kMiB);
  void* first = nullptr;
  {
    const PinnedLoan loan(3 * kMiB);
    first = loan.as<void>();
    EXPECT_NE(first, other.as<void>());
    EXPECT_GE(loan.size(), 3 * kMiB);
  }
  EXPECT_EQ(PinnedLoan(3 * kMiB - 1).as<void>(), first);
  EXPECT_NE(PinnedLoan(kMiB).as<void>(), first);
}

// Whether a block that was returned is still page-locked.
bool stays_pinned(std::size_t bytes) {
  void* memory = nullptr;
  {
    const PinnedLoan loan(bytes);
    memory = loan.as<void>();
  }
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) return attributes.type == cudaMemoryTypeHost;
  cudaGetLastError();
  return false;
}

TEST_F(Spares, NothingLargeStaysWhenNobodyKeepsIt) {
  EXPECT_FALSE(stays_pinned(8 * kMiB));
  EXPECT_TRUE(stays_pinned(64));
  {
    const KeepSpares keep;
    EXPECT_TRUE(stays_pinned(8 * kMiB));
    EXPECT_FALSE(stays_pinned(256 * kMiB));
  }
  EXPECT_FALSE(stays_pinned(8 * kMiB));
}

TEST_F(Spares, StreamsAreHandedOnWithWhatTheyHaveToDo) {
  const KeepSpares keep;
  const Stream own;
  device::DeviceBuffer<int> value(1, own);
  own.synchronize();
  cudaStream_t first = nullptr;
  {
    const Stream stream;
    first = stream;
    KITH_CUDA(cudaMemsetAsync(value.data(), 7, sizeof(int), stream));
  }
  const Stream again;
  EXPECT_EQ(static_cast<cudaStream_t>(again), first);
  int found = 0;
  KITH_CUDA(cudaMemcpyAsync(&found, value.data(), sizeof(int), cudaMemcpyDeviceToHost, again));
  again.synchronize();
  EXPECT_EQ(found, 0x07070707);
}

TEST_F(Spares, MemoryOutlivesThePoolItCameFrom) {
  const Stream stream;
  device::DeviceBuffer<int> value;
  {
    const KeepSpares keep;
    const KeepSpares twice;
    value = device::DeviceBuffer<int>(1, stream);
  }
  EXPECT_EQ(device::spare_device_bytes(), 0U);
  KITH_CUDA(cudaMemsetAsync(value.data(), 1, sizeof(int), stream));
  stream.synchronize();
}

TEST_F(Spares, ThreadsNeverShareALoan) {
  const KeepSpares keep;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      for (int turn = 0; turn < 200; ++turn) {
        const PinnedLoan loan(4096);
        *loan.as<int>() = thread;
        std::this_thread::yield();
        EXPECT_EQ(*loan.as<int>(), thread);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kith::test
