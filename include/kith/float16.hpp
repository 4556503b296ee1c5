// Floating-point numbers of 16 bits, as points are stored: Float16 is IEEE's half precision (a range to 65504, eleven
// binary digits), BFloat16 the upper half of a float (its range, eight digits). There is no arithmetic: they become
// floats, which hold them exactly. The layout is that of __half, _Float16 and __nv_bfloat16, of NumPy's float16 and of
// PyTorch's float16 and bfloat16, so that pointers to those can be taken for these.
#pragma once

#include <bit>
#include <cstdint>

#include "kith/export.hpp"

namespace kith {

namespace detail {

// The bits of the nearest number with so many bits of exponent and mantissa, to the even one where two are as near:
// rounded once. What is too large becomes infinite; NaN stays NaN.
template <int kExponentBits, int kMantissaBits>
constexpr std::uint16_t round_to_16_bits(double value) {
  constexpr int kDoubleMantissa = 52;
  constexpr int kDoubleBias = 1023;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << kExponentBits) - 1) << kMantissaBits;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 63 << 15;
  const auto exponent = static_cast<int>(bits >> kDoubleMantissa & 0x7FF);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << kDoubleMantissa) - 1);
  const auto with_sign = [&](std::uint64_t magnitude) { return static_cast<std::uint16_t>(sign | magnitude); };

  if (exponent == 0x7FF && mantissa != 0) return with_sign(kInfinity | std::uint64_t{1} << (kMantissaBits - 1));
  const int rebiased = exponent - kDoubleBias + kBias;
  if (rebiased >= (1 << kExponentBits) - 1) return with_sign(kInfinity);
  // Digits that are left out; more of them where the number becomes subnormal.
  const int dropped = kDoubleMantissa - kMantissaBits + (rebiased > 0 ? 0 : 1 - rebiased);
  if (exponent == 0 || dropped > kDoubleMantissa + 1) return with_sign(0);
  const std::uint64_t significand = mantissa | std::uint64_t{1} << kDoubleMantissa;
  const std::uint64_t kept = significand >> dropped;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const bool up = rest > half || (rest == half && (kept & 1) != 0);
  // `kept` has its leading one, which adds one to the exponent; so does a carry.
  const std::uint64_t below = rebiased > 0 ? static_cast<std::uint64_t>(rebiased - 1) << kMantissaBits : 0;
  return with_sign(below + kept + (up ? 1 : 0));
}

// Without branches, so that loops of it become vectors; and without subnormal floats, which a processor may be set to
// take for zero.
constexpr float float_of_half(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7FFFU;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t rebiased = (magnitude << 13) + (magnitude >= 0x7C00U ? 0x70000000U : 0x38000000U);
  const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F;
  const std::uint32_t value = magnitude < 0x400U ? std::bit_cast<std::uint32_t>(subnormal) : rebiased;
  return std::bit_cast<float>(value | sign);
}

}  // namespace detail

// Exported: a template of a hidden type is hidden, too.
struct KITH_API Float16 {
  std::uint16_t bits = 0;

  constexpr Float16() = default;
  explicit constexpr Float16(double value) : bits(detail::round_to_16_bits<5, 10>(value)) {}
  static constexpr Float16 from_bits(std::uint16_t bits) {
    Float16 value;
    value.bits = bits;
    return value;
  }
  constexpr operator float() const { return detail::float_of_half(bits); }
};

struct KITH_API BFloat16 {
  std::uint16_t bits = 0;

  constexpr BFloat16() = default;
  explicit constexpr BFloat16(double value) : bits(detail::round_to_16_bits<8, 7>(value)) {}
  static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 value;
    value.bits = bits;
    return value;
  }
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

}  // namespace kith
