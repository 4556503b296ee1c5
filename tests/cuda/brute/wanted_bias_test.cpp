// Points without a bit get an infinite bias, wherever a tile begins; the others keep theirs.
#include "cuda/brute/wanted_bias.hpp"

#include <limits>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "device_test.hpp"

namespace kith::test {
namespace {

using device::DeviceBuffer;
using device::Stream;

using WantedBias = DeviceTest;

template <class V>
DeviceBuffer<V> brought(const std::vector<V>& values, const Stream& stream) {
  DeviceBuffer<V> there(values.size(), stream);
  KITH_CUDA(cudaMemcpyAsync(there.data(), values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice, stream));
  return there;
}

TEST_F(WantedBias, IsInfiniteForOtherPoints) {
  constexpr std::int64_t kFirst = 37;
  constexpr std::int64_t kCount = 200;
  const Stream stream;
  std::vector<unsigned> bits((kFirst + kCount + 31) / 32);
  const auto is_wanted = [](std::int64_t point) { return point % 3 == 0 || point % 64 == 63; };
  for (std::int64_t point = 0; point < kFirst + kCount; ++point)
    if (is_wanted(point)) bits[static_cast<std::size_t>(point / 32)] |= 1U << (point % 32);
  std::vector<float> biases;
  for (std::int64_t i = 0; i < kCount; ++i) biases.push_back(static_cast<float>(i) - 50);
  const DeviceBuffer<unsigned> wanted = brought(bits, stream);
  const DeviceBuffer<float> bias = brought(biases, stream);
  DeviceBuffer<float> out(biases.size(), stream);
  for (const bool has_bias : {true, false}) {
    device::brute::bias_of_wanted({has_bias ? bias.data() : nullptr, wanted.data(), kFirst, kCount}, out.data(),
                                  stream);
    std::vector<float> found(biases.size());
    KITH_CUDA(cudaMemcpyAsync(found.data(), out.data(), found.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
    stream.synchronize();
    for (std::int64_t i = 0; i < kCount; ++i) {
      const float own = has_bias ? biases[static_cast<std::size_t>(i)] : 0;
      EXPECT_EQ(found[static_cast<std::size_t>(i)],
                is_wanted(kFirst + i) ? own : std::numeric_limits<float>::infinity())
          << "point " << i;
    }
  }
}

}  // namespace
}  // namespace kith::test
