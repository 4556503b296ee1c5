// The runtime's answers: devices, limits, memory, errors; and the device functions that are more than a name.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "cuda/runtime/memory.hpp"
#include "support.hpp"

namespace kith::test {
namespace {

// Before the first call asks for it.
[[maybe_unused]] const int two_devices = setenv("KITH_EMULATOR_DEVICES", "2", 1);

class Runtime : public EmulatorTest {};

__global__ void nothing_kernel() {}

cudaError_t try_shape(dim3 grid, dim3 block, std::size_t shared_bytes) {
  const cudaError_t error = ::emulator::launch("nothing", nothing_kernel, grid, block, shared_bytes, nullptr,
                                               reinterpret_cast<const void*>(nothing_kernel));
  EXPECT_EQ(cudaGetLastError(), error);
  return error;
}

TEST_F(Runtime, ShapesHaveLimits) {
  EXPECT_EQ(try_shape(dim3(1), dim3(1024), 48 << 10), cudaSuccess);
  EXPECT_EQ(try_shape(dim3(2, 3, 4), dim3(8, 8, 16), 0), cudaSuccess);
  EXPECT_EQ(try_shape(dim3(1), dim3(1025), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_shape(dim3(1), dim3(64, 32), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_shape(dim3(1), dim3(0), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_shape(dim3(0), dim3(1), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_shape(dim3(1, 65536), dim3(1), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(try_shape(dim3(1), dim3(32), (227 << 10) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Runtime, StaticSharedMemoryHasALimit) {
  const auto body = [] {
    KITH_SHARED(double, large, 6145);
    large[0] = 1;
  };
  ASSERT_EQ(::emulator::launch("large", body, dim3(1), dim3(32), 0, nullptr), cudaSuccess);
  EXPECT_NE(failure().find("static shared memory of 49160 bytes; the limit is 49152"), std::string::npos);
}

TEST_F(Runtime, EveryThreadOfEveryBlockRunsOnce) {
  DeviceValues<unsigned> counts(std::vector<unsigned>(2 * 3 * 5 * 60, 0));
  const auto body = [to = counts.data()] {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    ++to[block * 60 + thread];
  };
  ASSERT_EQ(::emulator::launch("count", body, dim3(2, 3, 5), dim3(3, 4, 5), 0, nullptr), cudaSuccess);
  EXPECT_EQ(counts.values(), std::vector<unsigned>(2 * 3 * 5 * 60, 1));
}

TEST_F(Runtime, SaysWhatItIs) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_STREQ(properties.name, "Kith emulator");
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.sharedMemPerBlockOptin, 227U << 10U);
  int value = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(value, properties.multiProcessorCount);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing_kernel, 256, 0), cudaSuccess);
  EXPECT_EQ(value, 8);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing_kernel, 256, 40 << 10), cudaSuccess);
  EXPECT_EQ(value, 5);
}

cudaMemoryType type_of(const void* address) {
  cudaPointerAttributes attributes;
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, address), cudaSuccess);
  return attributes.type;
}

TEST_F(Runtime, KnowsWhatMemoryIs) {
  DeviceValues<int> device(3);
  emulated::PinnedBuffer<int> pinned(3);
  std::vector<int> plain(8);
  EXPECT_EQ(type_of(device.data() + 2), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(pinned.data() + 2), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(plain.data()), cudaMemoryTypeUnregistered);
  ASSERT_EQ(cudaHostRegister(plain.data() + 1, 3 * sizeof(int), cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(type_of(plain.data()), cudaMemoryTypeUnregistered);
  EXPECT_EQ(type_of(plain.data() + 3), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(plain.data() + 4), cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaHostRegister(plain.data() + 2, sizeof(int), cudaHostRegisterDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(plain.data()), cudaErrorInvalidValue);
  ASSERT_EQ(cudaHostUnregister(plain.data() + 1), cudaSuccess);
  EXPECT_EQ(type_of(plain.data() + 3), cudaMemoryTypeUnregistered);
  cudaGetLastError();
}

TEST_F(Runtime, DevicesHaveTheirOwnMemoryAndStreams) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const DeviceValues<int> values(1000);
  EXPECT_EQ(::emulator::launch("nothing", nothing_kernel, dim3(1), dim3(1), 0, stream), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before, after);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Runtime, MemoryHasAnEnd) {
  void* address = nullptr;
  EXPECT_EQ(cudaMalloc(&address, std::size_t{1} << 40U), cudaErrorMemoryAllocation);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

// Freed memory may be had again by what comes later in the stream, so it counts no longer, though it is still there.
TEST_F(Runtime, CountsMemoryInTheOrderOfTheStream) {
  const std::size_t before = ::emulator::live_device_bytes();
  ::emulator::restart_peak();
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(cudaMallocAsync(&first, 1000, nullptr), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(first, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&second, 600, nullptr), cudaSuccess);
  EXPECT_EQ(::emulator::live_device_bytes(), before + 600);
  EXPECT_EQ(::emulator::peak_device_bytes(), before + 1000);
  ::emulator::restart_peak();
  EXPECT_EQ(::emulator::peak_device_bytes(), before + 600);
  ASSERT_EQ(cudaFree(second), cudaSuccess);
  EXPECT_EQ(::emulator::live_device_bytes(), before);
}

TEST_F(Runtime, PoolsBelongToADevice) {
  cudaMemPoolProps properties{cudaMemAllocationTypePinned, {cudaMemLocationTypeDevice, 99}};
  cudaMemPool_t pool = nullptr;
  EXPECT_EQ(cudaMemPoolCreate(&pool, &properties), cudaErrorInvalidValue);
  properties.location.id = 0;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  std::uint64_t kept = 12345;
  std::uint64_t found = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &found), cudaSuccess);
  EXPECT_EQ(found, kept);
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocFromPoolAsync(&memory, 100, pool, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);  // it outlives the pool
  EXPECT_EQ(cudaMallocFromPoolAsync(&memory, 100, pool, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
}

TEST_F(Runtime, CopiesKnowTheirSides) {
  DeviceValues<int> device(4);
  std::vector<int> host(8);
  EXPECT_EQ(cudaMemcpy(host.data(), device.data(), 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host.data(), device.data(), 16, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host.data(), device.data(), 20, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device.data(), host.data(), 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host.data(), host.data() + 4, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST_F(Runtime, CopiesInTwoDimensions) {
  DeviceValues<int> device(std::vector<int>{1, 2, 3, 4, 5, 6});
  std::vector<int> host(4, 0);
  ASSERT_EQ(cudaMemcpy2DAsync(host.data(), 8, device.data() + 1, 12, 8, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(host, (std::vector<int>{2, 3, 5, 6}));
}

TEST_F(Runtime, HostThreadsTakeTurns) {
  std::vector<std::thread> threads;
  std::vector<int> sums(4, 0);
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&sums, t] {
      for (int round = 0; round < 20; ++round) {
        DeviceValues<int> value(std::vector<int>{0});
        const auto body = [to = value.data()] {
          __syncthreads();
          atomicAdd(to, 1);
        };
        ::emulator::launch("add", body, dim3(3), dim3(64), 0, nullptr);
        sums[t] += value.values()[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, std::vector<int>(4, 20 * 3 * 64));
}

// Device functions, called where they need no warp.

TEST_F(Runtime, IntegerFunctions) {
  EXPECT_EQ(__popc(0xF0F0U), 8);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__brev(1U), 0x80000000U);
  EXPECT_EQ(__brevll(2ULL), 0x4000000000000000ULL);
  EXPECT_EQ(__byte_perm(0x33221100U, 0x77665544U, 0x7531U), 0x77553311U);
  EXPECT_EQ(__byte_perm(0x00000080U, 0, 0x0008U), 0x808080FFU);
  EXPECT_EQ(__umulhi(0x80000000U, 6U), 3U);
  EXPECT_EQ(min(-1, 2U), 2U) << "compared as unsigned, as CUDA does";
  EXPECT_EQ(max(NAN, 1.0F), 1.0F);
}

TEST_F(Runtime, VectorTypesAreAligned) {
  static_assert(alignof(float4) == 16 && alignof(float2) == 8 && alignof(double2) == 16 && alignof(uchar4) == 4);
  static_assert(alignof(float3) == 4 && sizeof(float3) == 12 && alignof(ulonglong2) == 16 && sizeof(int4) == 16);
  EXPECT_EQ(make_float4(1, 2, 3, 4).z, 3.0F);
}

TEST_F(Runtime, ReductionsAndMatches) {
  DeviceValues<int> out(32 * 6);
  const auto body = [to = out.data()] {
    const int value = static_cast<int>(threadIdx.x) - 10;
    int all = 0;
    to[threadIdx.x] = __reduce_min_sync(kFullMask, value);
    to[32 + threadIdx.x] = __reduce_max_sync(kFullMask, value);
    to[64 + threadIdx.x] = static_cast<int>(__reduce_max_sync(kFullMask, static_cast<unsigned>(value)));
    to[96 + threadIdx.x] = static_cast<int>(__reduce_xor_sync(kFullMask, 1U << threadIdx.x));
    __match_all_sync(kFullMask, 1.5, &all);
    to[128 + threadIdx.x] = all;
    __match_all_sync(kFullMask, value, &all);
    to[160 + threadIdx.x] = all;
  };
  ASSERT_EQ(::emulator::launch("reduce", body, dim3(1), dim3(32), 0, nullptr), cudaSuccess);
  const std::vector<int> values = out.values();
  const std::vector<int> expected = {-10, 21, -1, -1, 1, 0};
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], expected[i / 32]) << i;
}

TEST_F(Runtime, AtomicsGiveTheOldValue) {
  DeviceValues<int> ints(std::vector<int>{5, 0, 0, 0, 0, 0, 0});
  DeviceValues<double> doubles(std::vector<double>{1.5, 0});
  const auto body = [i = ints.data(), d = doubles.data()] {
    i[1] = atomicMin(&i[0], 3);
    i[2] = atomicMax(&i[0], 10);
    i[3] = atomicExch(&i[0], 6);
    i[4] = atomicOr(&i[0], 1);
    i[5] = atomicCAS(&i[0], 7, 8);
    i[6] = atomicSub(&i[0], 9);
    d[1] = atomicAdd(&d[0], 2.0);
  };
  ASSERT_EQ(::emulator::launch("atomics", body, dim3(1), dim3(1), 0, nullptr), cudaSuccess);
  EXPECT_EQ(ints.values(), (std::vector<int>{-1, 5, 3, 10, 6, 7, 8}));
  EXPECT_EQ(doubles.values(), (std::vector<double>{3.5, 1.5}));
}

}  // namespace
}  // namespace kith::test
