// The SIMD sums must equal core::raw_sum bit for bit: ids and returned distances depend on it.
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "core/key.hpp"
#include "cpu/simd/kernels.hpp"
#include "simd_targets.hpp"

namespace kith::cpu {
namespace {

constexpr core::Form kForms[] = {core::Form::squared, core::Form::absolute, core::Form::maximum,
                                 core::Form::power,   core::Form::mismatch, core::Form::dot};

// Values whose sums round differently in every other order of summation.
template <class T>
std::vector<T> rough_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      const double magnitude = std::exp2(static_cast<double>(random() % 40) - 20);
      value = static_cast<T>((static_cast<double>(random()) / 4294967296.0 - 0.5) * magnitude);
    } else {
      value = static_cast<T>(random());
    }
  }
  return values;
}

template <class T>
void expect_same_bits(std::int64_t dims, std::int64_t col_stride, bool means) {
  constexpr std::int64_t kRows = 11;
  const std::int64_t row_stride = dims * col_stride + 3;
  const std::vector<T> base = rough_values<T>(static_cast<std::size_t>(kRows * row_stride), 1);
  const std::vector<double> query = rough_values<double>(static_cast<std::size_t>(dims), 2);
  std::vector<double> mean(kRows);
  std::iota(mean.begin(), mean.end(), 0.1);
  const ExactBase<T> view{base.data(), row_stride, col_stride, dims, means ? mean.data() : nullptr};
  const std::vector<std::int64_t> ids{3, 0, 10, 7, 7, 1, 2};
  for (const core::Form form : kForms) {
    if (means && form != core::Form::dot) continue;
    std::vector<double> raw(ids.size());
    exact_sums(form, 2.5, query.data(), view, ids.data(), static_cast<std::int64_t>(ids.size()), raw.data());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const T* row = base.data() + ids[i] * row_stride;
      const double expected = core::raw_sum(form, 2.5, query.data(), 1, 0.0, row, col_stride,
                                            means ? mean[static_cast<std::size_t>(ids[i])] : 0.0, dims);
      ASSERT_EQ(std::memcmp(&raw[i], &expected, sizeof expected), 0)
          << "form " << static_cast<int>(form) << ", dims " << dims << ": " << raw[i] << " is not " << expected;
    }
  }
}

TEST(ExactSums, EqualTheScalarKeyBitForBit) {
  test::on_every_target([] {
    for (const std::int64_t dims : {1, 2, 7, 8, 9, 15, 16, 17, 31, 64, 100, 257})
      for (const std::int64_t stride : {1, 2}) {
        expect_same_bits<float>(dims, stride, false);
        expect_same_bits<double>(dims, stride, false);
        expect_same_bits<std::uint8_t>(dims, stride, false);
        expect_same_bits<std::int8_t>(dims, stride, false);
        expect_same_bits<float>(dims, stride, true);
      }
  });
}

}  // namespace
}  // namespace kith::cpu
