// Device memory that goes while another device is current stays the memory of its device.
#include <gtest/gtest.h>

#include <optional>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/search_memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

namespace device = KITH_BACKEND;
using device::DeviceBuffer;
using device::KeepSpares;
using device::SearchMemory;

class BuffersOfDevices : public testing::Test {
 protected:
  void TearDown() override { set(0); }
  static void set(int id) { KITH_CUDA(cudaSetDevice(id)); }
};

// The default stream has one handle for all devices.
TEST_F(BuffersOfDevices, IsHandedOnToSearchesOfItsDevice) {
  set(1);
  const KeepSpares keeps_1;
  std::optional<DeviceBuffer<char>> of_1(std::in_place, 5000, nullptr);
  void* const memory = of_1->data();
  const SearchMemory search_1(nullptr, true);
  set(0);
  const KeepSpares keeps_0;
  const SearchMemory search_0(nullptr, true);
  of_1.reset();
  const DeviceBuffer<char> of_0(5000, nullptr);
  EXPECT_NE(of_0.data(), memory);
  set(1);
  const DeviceBuffer<char> again(5000, nullptr);
  EXPECT_EQ(again.data(), memory);
}

// So do lists of what a search leaves, with their events.
TEST_F(BuffersOfDevices, IsLeftToSearchesOfItsDevice) {
  set(1);
  const KeepSpares keeps;
  {
    const SearchMemory search(nullptr, true);
    const DeviceBuffer<char> of_1(5000, nullptr);
    set(0);
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_GT(device::bytes_handed_on(1), 0U);
  EXPECT_EQ(device::bytes_handed_on(0), 0U);
}

// The emulator refuses calls with a stream of another device than the current one.
TEST_F(BuffersOfDevices, IsFreedByItsDevice) {
  set(1);
  const device::Stream stream;
  std::optional<DeviceBuffer<int>> of_1(std::in_place, 1000, stream);
  set(0);
  of_1.reset();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  int current = -1;
  KITH_CUDA(cudaGetDevice(&current));
  EXPECT_EQ(current, 0);
  set(1);
}

TEST_F(BuffersOfDevices, GoWithTheirIndex) {
  const auto sample = generate<float>(Kind::gaussian, {60, 4, 3}, MetricKind::euclidean, 1);
  Options options;
  options.backend = Backend::emulated;
  set(1);
  std::optional<Index<float>> index(std::in_place, sample.base.view(), options);
  const auto found = index->search(sample.queries.view(), 5);
  set(0);
  index.reset();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_TRUE(same_answer(search(sample.base.view(), sample.queries.view(), 5, options), found));
}

}  // namespace
}  // namespace kith::test
