// runtime_test.cu: buffers, streams, events, launches, the workspace, and the errors of failed calls.
#include <numeric>
#include <set>
#include <string>

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/least_shared.hpp"
#include "cuda/runtime/shared.cuh"
#include "device_test.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

using device::DeviceBuffer;
using device::Event;
using device::launch;
using device::PinnedBuffer;
using device::Stream;
using device::Workspace;

using Runtime = DeviceTest;

__global__ void fill_kernel(int* values, int count, int first) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] = first + i;
}

__global__ void add_kernel(int* values, int count, int more) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] += more;
}

__global__ void reverse_kernel(int* values) {
  int* kept = device::dynamic_shared<int>();
  kept[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}

std::vector<int> numbers(int count, int first) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Runs without a device, too.
TEST(RuntimeAnywhere, NamesItsDevices) {
  const auto devices = device::devices();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i].id, static_cast<int>(i));
    EXPECT_FALSE(devices[i].name.empty());
    EXPECT_GT(devices[i].hardware.compute_major, 0);
    EXPECT_GT(devices[i].hardware.multiprocessors, 0);
    EXPECT_GT(devices[i].memory, 0U);
    EXPECT_LE(devices[i].free_memory, devices[i].memory);
    EXPECT_GT(devices[i].hardware.l2_bytes, 0);
    EXPECT_GE(devices[i].hardware.shared_per_block, 48 << 10);
  }
}

TEST_F(Runtime, CountsTheMultiprocessorsOfTheCurrentDevice) {
  for (const auto& one : device::devices()) {
    KITH_CUDA(cudaSetDevice(one.id));
    EXPECT_EQ(device::multiprocessor_count(), one.hardware.multiprocessors);
  }
  KITH_CUDA(cudaSetDevice(0));
}

TEST_F(Runtime, AsksForDevicesWithoutChangingTheCurrentOne) {
  int before = -1;
  int after = -2;
  KITH_CUDA(cudaGetDevice(&before));
  (void)device::devices();
  KITH_CUDA(cudaGetDevice(&after));
  EXPECT_EQ(before, after);
}

TEST_F(Runtime, CopiesThereAndBack) {
  for_each_schedule([] {
    const Stream stream;
    DeviceBuffer<int> buffer(1000, stream);
    PinnedBuffer<int> pinned(1000);
    std::iota(pinned.data(), pinned.data() + 1000, 5);
    KITH_CUDA(cudaMemcpyAsync(buffer.data(), pinned.data(), 4000, cudaMemcpyHostToDevice, stream));
    launch("add", add_kernel, {.blocks = 4, .threads = 256}, stream, buffer.data(), 1000, 2);
    KITH_CUDA(cudaMemcpyAsync(pinned.data(), buffer.data(), 4000, cudaMemcpyDeviceToHost, stream));
    stream.synchronize();
    EXPECT_EQ(std::vector<int>(pinned.data(), pinned.data() + 1000), numbers(1000, 7));
  });
}

TEST_F(Runtime, MovesBuffersWithTheirMemory) {
  const Stream stream;
  DeviceBuffer<int> a(10, stream);
  int* const address = a.data();
  EXPECT_EQ(a.size(), 10U);
  DeviceBuffer<int> b(std::move(a));
  EXPECT_EQ(b.data(), address);
  EXPECT_EQ(b.size(), 10U);
  DeviceBuffer<int> c(20, stream);
  c = std::move(b);
  EXPECT_EQ(c.data(), address);
  EXPECT_EQ(c.size(), 10U);

  PinnedBuffer<int> p(10);
  int* const pinned = p.data();
  PinnedBuffer<int> q(std::move(p));
  EXPECT_EQ(q.data(), pinned);
  PinnedBuffer<int> r(3);
  r = std::move(q);
  EXPECT_EQ(r.data(), pinned);
  EXPECT_EQ(r.size(), 10U);
}

TEST_F(Runtime, NeedsNoMemoryForNothing) {
  const Stream stream;
  EXPECT_EQ(DeviceBuffer<int>(0, stream).data(), nullptr);
  EXPECT_EQ(PinnedBuffer<int>(0).data(), nullptr);
  EXPECT_EQ(DeviceBuffer<int>().size(), 0U);
  EXPECT_EQ(PinnedBuffer<int>().size(), 0U);
}

TEST_F(Runtime, SaysHowMuchMemoryWasNotThere) {
  const Stream stream;
  const std::size_t bytes = std::size_t{1} << 46U;
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"cudaMallocAsync", std::to_string(bytes), "device 0"},
                         [&] { DeviceBuffer<char>(bytes, stream); }));
  // Later calls work.
  EXPECT_NE(DeviceBuffer<char>(1, stream).data(), nullptr);
}

// The second stream must see all work of the first one before the event, in every order of the streams.
TEST_F(Runtime, OrdersStreamsByEvents) {
  for_each_schedule([] {
    const Stream first;
    const Stream second;
    DeviceBuffer<int> buffer(5000, first);
    Event written;
    launch("fill", fill_kernel, {.blocks = 20, .threads = 256}, first, buffer.data(), 5000, 0);
    launch("add", add_kernel, {.blocks = 20, .threads = 256}, first, buffer.data(), 5000, 3);
    written.record(first);
    written.wait_on(second);
    launch("add", add_kernel, {.blocks = 20, .threads = 256}, second, buffer.data(), 5000, 4);
    std::vector<int> values(5000);
    KITH_CUDA(cudaMemcpyAsync(values.data(), buffer.data(), 20000, cudaMemcpyDeviceToHost, second));
    second.synchronize();
    EXPECT_EQ(values, numbers(5000, 7));
  });
}

TEST_F(Runtime, TellsTheTimeBetweenEvents) {
  const Stream stream;
  DeviceBuffer<int> buffer(1000, stream);
  Event before;
  Event after;
  before.record(stream);
  launch("fill", fill_kernel, {.blocks = 4, .threads = 256}, stream, buffer.data(), 1000, 0);
  after.record(stream);
  after.synchronize();
  EXPECT_GE(after.since(before), 0.0F);
  Event moved(std::move(after));
  EXPECT_GE(moved.since(before), 0.0F);
}

TEST_F(Runtime, MovesStreams) {
  Stream a;
  cudaStream_t raw = a;
  Stream b(std::move(a));
  EXPECT_EQ(static_cast<cudaStream_t>(b), raw);
  Stream c;
  c = std::move(b);
  EXPECT_EQ(static_cast<cudaStream_t>(c), raw);
  c.synchronize();
}

TEST_F(Runtime, GivesKernelsTheirSharedMemory) {
  for_each_schedule([] {
    const Stream stream;
    DeviceArray<int> values(numbers(512, 0), stream);
    // More than 48 KiB need the kernel's attribute; the kernel uses the first bytes.
    const auto most = static_cast<std::size_t>(device::device_policy().hardware.shared_per_block);
    EXPECT_GE(most, device::kLeastShared);
    for (const std::size_t bytes : {std::size_t{2048}, most})
      launch("reverse", reverse_kernel, {.blocks = 1, .threads = 512, .shared_bytes = bytes}, stream, values.data());
    EXPECT_EQ(values.values(), numbers(512, 0));
    launch("reverse", reverse_kernel, {.blocks = 1, .threads = 512, .shared_bytes = 2048}, stream, values.data());
    std::vector<int> expected = numbers(512, 0);
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(values.values(), expected);
  });
}

TEST_F(Runtime, LaunchesNothingForNoBlocks) {
  const Stream stream;
  launch("fill", fill_kernel, {.blocks = 0, .threads = 64}, stream, static_cast<int*>(nullptr), 0, 0);
  stream.synchronize();
}

TEST_F(Runtime, NamesTheKernelThatCannotStart) {
  const Stream stream;
  DeviceArray<int> values(numbers(64, 0), stream);
  const auto start = [&](const device::LaunchShape& shape) {
    launch("my fill", fill_kernel, shape, stream, values.data(), 64, 0);
  };
  EXPECT_TRUE(fails_with(ErrorCode::internal, {"my fill"}, [&] { start({.blocks = 1, .threads = 4096}); }));
  EXPECT_TRUE(fails_with(ErrorCode::internal, {"my fill"}, [&] { start({.blocks = 1, .threads = 0}); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::internal, {"my fill"}, [&] { start({.blocks = std::int64_t{1} << 31U, .threads = 32}); }));
  const std::size_t bytes = std::size_t{1} << 20U;
  EXPECT_TRUE(fails_with(ErrorCode::internal, {"my fill", std::to_string(bytes)},
                         [&] { start({.blocks = 1, .threads = 32, .shared_bytes = bytes}); }));
  // None of these is reported again.
  start({.blocks = 1, .threads = 64});
  stream.synchronize();
  EXPECT_EQ(values.values(), numbers(64, 0));
}

TEST_F(Runtime, TurnsCodesIntoErrors) {
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"cudaErrorMemoryAllocation", "call", "12345 bytes"},
                         [] { device::raise(cudaErrorMemoryAllocation, "call", 12345); }));
  EXPECT_TRUE(fails_with(ErrorCode::no_device, {"call"}, [] { device::raise(cudaErrorNoDevice, "call", 0); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::no_device, {"call"}, [] { device::raise(cudaErrorInsufficientDriver, "call", 0); }));
  EXPECT_TRUE(fails_with(ErrorCode::internal, {"cudaErrorInvalidValue", "call"},
                         [] { device::raise(cudaErrorInvalidValue, "call", 0); }));
  EXPECT_TRUE(fails_with(ErrorCode::no_device, {"cudaSetDevice(1000)"}, [] { KITH_CUDA(cudaSetDevice(1000)); }));
  EXPECT_NO_THROW(device::check(cudaSuccess, "call"));
}

// A block of the workspace.
struct Block {
  unsigned char* first;
  std::size_t bytes;
};

std::vector<Block> allocate_blocks(Workspace& workspace) {
  std::vector<Block> blocks;
  for (const std::size_t count : {100U, 1U, 100U, 4096U, 7U, 0U, 100U}) {
    int* const address = workspace.allocate<int>(count);
    blocks.push_back({reinterpret_cast<unsigned char*>(address), count * sizeof(int)});
  }
  return blocks;
}

TEST_F(Runtime, WorkspaceBlocksDoNotOverlap) {
  const Stream stream;
  Workspace workspace(stream);
  std::vector<Block> blocks = allocate_blocks(workspace);
  EXPECT_EQ(workspace.used(), (100 + 1 + 100 + 4096 + 7 + 100) * sizeof(int));
  for (const Block& block : blocks) {
    ASSERT_NE(block.first, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.first) % 16, 0U);
  }
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < blocks.size(); ++i) EXPECT_LE(blocks[i - 1].first + blocks[i - 1].bytes, blocks[i].first);
}

TEST_F(Runtime, WorkspaceAllocatesNothingTheSecondTime) {
  const Stream stream;
  Workspace workspace(stream);
  const auto addresses = [&] {
    std::vector<unsigned char*> all;
    for (const Block& block : allocate_blocks(workspace)) all.push_back(block.first);
    return all;
  };
  const std::vector<unsigned char*> first = addresses();
  for (int round = 0; round < 3; ++round) {
    workspace.reset();
    EXPECT_EQ(workspace.used(), 0U);
    EXPECT_EQ(addresses(), first);
  }
}

// A round of other sizes may free blocks of the last one; its own blocks still do not overlap.
TEST_F(Runtime, WorkspaceChangesSizes) {
  const Stream stream;
  Workspace workspace(stream);
  for (std::size_t round = 1; round < 6; ++round) {
    workspace.reset();
    std::set<void*> blocks;
    for (std::size_t i = 0; i < round; ++i) blocks.insert(workspace.allocate<double>(round * 100));
    blocks.insert(workspace.allocate<double>(1));
    EXPECT_EQ(blocks.size(), round + 1);
    EXPECT_EQ(workspace.used(), (round * round * 100 + 1) * sizeof(double));
  }
}

TEST_F(Runtime, WorkspaceHoldsNoMoreThanItsBudget) {
  Stream stream;
  Workspace workspace(stream, 1000);
  for (const std::size_t bytes : {900, 800, 950, 10}) {
    workspace.allocate<char>(bytes);
    EXPECT_LE(workspace.held(), workspace.budget());
    workspace.reset();
  }
  workspace.allocate<char>(600);
  workspace.clear();
  EXPECT_EQ(workspace.held(), 0U);
  workspace.allocate<char>(900);
  EXPECT_EQ(workspace.held(), 900U);
}

TEST_F(Runtime, WorkspaceNamesNeedAndBudget) {
  const Stream stream;
  Workspace workspace(stream, 1000);
  EXPECT_EQ(workspace.budget(), 1000U);
  (void)workspace.allocate<char>(600);
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"1200", "1000"}, [&] { workspace.allocate<int>(150); }));
  // A refused allocation is not counted.
  EXPECT_NE(workspace.allocate<char>(400), nullptr);
  EXPECT_EQ(workspace.used(), 1000U);
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"1001", "1000"}, [&] { workspace.allocate<char>(1); }));
  workspace.reset();
  EXPECT_NE(workspace.allocate<char>(1000), nullptr);
}

#if defined(KITH_IS_EMULATED)
__global__ void divided_kernel() {
  if (threadIdx.x < 16) __syncthreads();
}

// Emulated only: on a device a failing kernel destroys the context.
TEST_F(Runtime, NamesTheKernelThatFails) {
  const Stream stream;
  launch("divided", divided_kernel, {.blocks = 1, .threads = 32}, stream);
  EXPECT_TRUE(fails_with(ErrorCode::internal, {"divided", "__syncthreads"}, [&] { stream.synchronize(); }));
}
#endif

}  // namespace
}  // namespace kith::test
