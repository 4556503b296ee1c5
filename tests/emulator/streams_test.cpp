// Streams: what a program may rely on holds under every seed, and what it may not fails under some.
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "support.hpp"

namespace kith::test {
namespace {

using emulated::Event;
using emulated::Stream;

class Streams : public EmulatorTest {};

__global__ void set_kernel(int* to, int value) {
  *to = value;
}

__global__ void copy_kernel(const int* from, int* to) {
  *to = *from;
}

// One stream writes, another reads and is the one that is waited for.
bool reads_what_was_written(bool with_event) {
  const Stream writer;
  const Stream reader;
  Event written;
  DeviceValues<int> value(std::vector<int>{0});
  DeviceValues<int> copy(std::vector<int>{0});
  launch("set", set_kernel, {.threads = 1}, writer, value.data(), 42);
  written.record(writer);
  if (with_event) written.wait_on(reader);
  launch("copy", copy_kernel, {.threads = 1}, reader, value.data(), copy.data());
  reader.synchronize();
  return copy.values()[0] == 42;
}

TEST_F(Streams, ForgottenDependencyShows) {
  EXPECT_EQ(right_seeds([] { return reads_what_was_written(true); }), kSeeds);
  EXPECT_LT(right_seeds([] { return reads_what_was_written(false); }), kSeeds);
}

TEST_F(Streams, WorkOfOneStreamIsInOrder) {
  EXPECT_EQ(kSeeds, right_seeds([] {
              const Stream stream;
              DeviceValues<int> value(1);
              for (int i = 0; i < 10; ++i) launch("set", set_kernel, {.threads = 1}, stream, value.data(), i);
              stream.synchronize();
              return value.values()[0] == 9;
            }));
}

TEST_F(Streams, NothingRunsBeforeItIsWaitedFor) {
  const Stream stream;
  emulated::PinnedBuffer<int> host(1);
  DeviceValues<int> value(1);
  host.data()[0] = 0;
  launch("set", set_kernel, {.threads = 1}, stream, value.data(), 42);
  KITH_CUDA(cudaMemcpyAsync(host.data(), value.data(), sizeof(int), cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(host.data()[0], 0);
  stream.synchronize();
  EXPECT_EQ(host.data()[0], 42);
}

// The source of an asynchronous copy must stay as it is until the copy is done.
TEST_F(Streams, CopiesReadTheirSourceWhenTheyRun) {
  const Stream stream;
  emulated::PinnedBuffer<int> host(1);
  DeviceValues<int> value(1);
  host.data()[0] = 1;
  KITH_CUDA(cudaMemcpyAsync(value.data(), host.data(), sizeof(int), cudaMemcpyHostToDevice, stream));
  host.data()[0] = 2;
  stream.synchronize();
  EXPECT_EQ(value.values()[0], 2);
}

bool default_stream_waits(unsigned flags) {
  cudaStream_t stream = nullptr;
  KITH_CUDA(cudaStreamCreateWithFlags(&stream, flags));
  DeviceValues<int> value(std::vector<int>{0});
  DeviceValues<int> copy(std::vector<int>{0});
  launch("set", set_kernel, {.threads = 1}, stream, value.data(), 42);
  launch("copy", copy_kernel, {.threads = 1}, nullptr, value.data(), copy.data());
  const bool right = copy.values()[0] == 42;
  KITH_CUDA(cudaStreamDestroy(stream));
  return right;
}

TEST_F(Streams, DefaultStreamWaitsForBlockingStreamsOnly) {
  EXPECT_EQ(right_seeds([] { return default_stream_waits(cudaStreamDefault); }), kSeeds);
  EXPECT_LT(right_seeds([] { return default_stream_waits(cudaStreamNonBlocking); }), kSeeds);
}

TEST_F(Streams, BlockingStreamsWaitForTheDefaultStream) {
  EXPECT_EQ(kSeeds, right_seeds([] {
              cudaStream_t stream = nullptr;
              KITH_CUDA(cudaStreamCreate(&stream));
              DeviceValues<int> value(std::vector<int>{0});
              DeviceValues<int> copy(std::vector<int>{0});
              launch("set", set_kernel, {.threads = 1}, nullptr, value.data(), 42);
              launch("copy", copy_kernel, {.threads = 1}, stream, value.data(), copy.data());
              KITH_CUDA(cudaStreamDestroy(stream));
              return copy.values()[0] == 42;
            }));
}

TEST_F(Streams, EventsTellWhetherTheyHappened) {
  const Stream stream;
  cudaEvent_t event = nullptr;
  KITH_CUDA(cudaEventCreate(&event));
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess) << "never recorded";
  DeviceValues<int> value(1);
  launch("set", set_kernel, {.threads = 1}, stream, value.data(), 1);
  KITH_CUDA(cudaEventRecord(event, stream));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(value.values()[0], 1);
  KITH_CUDA(cudaEventDestroy(event));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Streams, EventsMeasureTime) {
  const Stream stream;
  Event before;
  Event after;
  DeviceValues<int> value(1);
  before.record(stream);
  launch("set", set_kernel, {.blocks = 1000, .threads = 1}, stream, value.data(), 1);
  after.record(stream);
  after.synchronize();
  EXPECT_GT(after.since(before), 0.0F);
}

// Memory that is given back in a stream's order stays until the work before it is done.
TEST_F(Streams, FreeInStreamOrder) {
  const Stream stream;
  DeviceValues<int> copy(1);
  {
    emulated::DeviceBuffer<int> value(1, stream);
    launch("set", set_kernel, {.threads = 1}, stream, value.data(), 42);
    launch("copy", copy_kernel, {.threads = 1}, stream, value.data(), copy.data());
  }
  stream.synchronize();
  EXPECT_EQ(copy.values()[0], 42);
}

TEST_F(Streams, HostWorkIsQueuedToo) {
  const Stream stream;
  DeviceValues<int> value(1);
  launch("set", set_kernel, {.threads = 1}, stream, value.data(), 20);
  ASSERT_EQ(::emulator::enqueue(
                "double", [to = value.data()] { *to *= 2; }, stream),
            cudaSuccess);
  ASSERT_EQ(::emulator::enqueue(
                "throw", [] { throw std::runtime_error("no space"); }, stream),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_NE(::emulator::last_failure().find("throw: no space"), std::string::npos);
  ::emulator::reset();
  EXPECT_EQ(value.values()[0], 40);
}

}  // namespace
}  // namespace kith::test
