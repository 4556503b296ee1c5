// random.hpp: the random numbers behind every shuffled order.
#pragma once

#include <cstdint>

namespace emulator {

// xorshift64*
class Random {
 public:
  void seed(std::uint64_t seed) {
    state_ = (seed + 1) * 0x9E3779B97F4A7C15U;
    if (state_ == 0) state_ = 1;
    for (int i = 0; i < 8; ++i) next();
  }

  std::uint32_t next() {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return static_cast<std::uint32_t>((state_ * 0x2545F4914F6CDD1DU) >> 32U);
  }

  std::uint64_t next64() {
    const std::uint64_t high = next();
    return high << 32U | next();
  }

  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>((std::uint64_t{next()} * limit) >> 32U);
  }

 private:
  std::uint64_t state_ = 1;
};

extern Random random_source;

}  // namespace emulator
