// radix_sort.hpp: a stable radix sort of codes along a curve with their ids, from the last digit on.
// Cost    a pass of reading and writing for each digit of 11 bits, except for digits that all codes share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/curve.hpp"

namespace kith::cpu {

inline constexpr int kDigitBits = 11;

inline std::uint32_t digit_of(std::uint64_t code, int first) {
  return static_cast<std::uint32_t>(code >> static_cast<unsigned>(first)) & ((1U << kDigitBits) - 1);
}

inline std::uint32_t digit_of(const core::Code128& code, int first) {
  if (first >= 64) return digit_of(code.high, first - 64);
  std::uint64_t bits = code.low >> static_cast<unsigned>(first);
  if (first > 64 - kDigitBits) bits |= code.high << static_cast<unsigned>(64 - first);
  return static_cast<std::uint32_t>(bits) & ((1U << kDigitBits) - 1);
}

template <class Code>
struct CodesWithIds {
  std::vector<Code> codes;
  std::vector<std::uint32_t> ids;

  void resize(std::size_t count) {
    codes.resize(count);
    ids.resize(count);
  }
};

// `other` is scratch. Codes have `bits` bits.
template <class Code>
void radix_sort(CodesWithIds<Code>& sorted, CodesWithIds<Code>& other, int bits) {
  const std::size_t count = sorted.codes.size();
  other.resize(count);
  for (int first = 0; first < bits; first += kDigitBits) {
    std::array<std::size_t, std::size_t{1} << kDigitBits> starts{};
    for (const Code& code : sorted.codes) ++starts[digit_of(code, first)];
    if (count == 0 || starts[digit_of(sorted.codes.front(), first)] == count) continue;
    std::size_t sum = 0;
    for (std::size_t& start : starts) sum += std::exchange(start, sum);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t to = starts[digit_of(sorted.codes[i], first)]++;
      other.codes[to] = sorted.codes[i];
      other.ids[to] = sorted.ids[i];
    }
    std::swap(sorted, other);
  }
}

}  // namespace kith::cpu
