// wgmma_operand.cpp: addresses within operands of wgmma, as their descriptors give them.
#include "wgmma_operand.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "async.hpp"
#include "emulator/bulk_copy.hpp"

namespace emulator {

namespace {

float float_of_fp16(std::uint16_t bits) {
  const unsigned exponent = bits >> 10U & 31U;
  const auto fraction = static_cast<float>(bits & 1023U);
  float value = 0;
  if (exponent == 31)
    value = fraction != 0 ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(fraction, -24);
  else
    value = std::ldexp(fraction + 1024, static_cast<int>(exponent) - 25);
  return (bits & 0x8000U) != 0 ? -value : value;
}

template <class Number>
Number number_at(const unsigned char* byte, Element element) {
  std::uint16_t pair = 0;
  switch (element) {
    case Element::fp16: std::memcpy(&pair, byte, 2); return static_cast<Number>(float_of_fp16(pair));
    case Element::bf16:
      std::memcpy(&pair, byte, 2);
      return static_cast<Number>(std::bit_cast<float>(static_cast<std::uint32_t>(pair) << 16U));
    case Element::int8: return static_cast<Number>(static_cast<signed char>(*byte));
    default: return static_cast<Number>(*byte);
  }
}

}  // namespace

const unsigned char* unit_address(const OperandTile& tile, unsigned row, unsigned unit) {
  const std::size_t group = std::size_t{row / 8} * tile.stride_bytes;
  if (tile.swizzle_bytes == 0)
    return tile.start + group + std::size_t{row % 8} * kUnitBytes + std::size_t{unit} * tile.leading_bytes;
  const auto start = reinterpret_cast<std::uintptr_t>(tile.start);
  const std::uintptr_t plain =
      start + group + std::size_t{row % 8} * tile.swizzle_bytes + std::size_t{unit} * kUnitBytes;
  return tile.start + static_cast<std::ptrdiff_t>(swizzled(plain, tile.swizzle_bytes) - start);
}

std::string problem_of(const OperandTile& tile, unsigned rows) {
  const auto start = reinterpret_cast<std::uintptr_t>(tile.start);
  const unsigned span = tile.swizzle_bytes;
  if (start % kUnitBytes != 0) return "is not aligned to 16 bytes";
  if (tile.stride_bytes % kUnitBytes != 0 || tile.leading_bytes % kUnitBytes != 0)
    return "has strides that are no multiples of 16 bytes";
  if (tile.stride_bytes >= 1U << 18U || tile.leading_bytes >= 1U << 18U) return "has strides beyond 2^18 bytes";
  if (span != 0 && start % (std::size_t{8} * span) >= span)
    return "does not start in the first row of a tile aligned to " + std::to_string(8 * span) + " bytes";
  if (span != 0 && start % span + kStepBytes > span) return "goes beyond the end of its swizzled rows";
  if (span != 0 && tile.stride_bytes % (8 * span) != 0)
    return "has groups of 8 rows that are not aligned to " + std::to_string(8 * span) + " bytes";
  const SharedRange range = shared_range(tile.start);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned unit = 0; unit < 2; ++unit)
      if (const unsigned char* address = unit_address(tile, row, unit);
          address < range.begin || address + kUnitBytes > range.begin + range.bytes)
        return "goes beyond its array of shared memory";
  return {};
}

std::vector<unsigned char> gather(const OperandTile& tile, unsigned first, unsigned rows) {
  std::vector<unsigned char> bytes(std::size_t{rows} * kStepBytes);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned unit = 0; unit < 2; ++unit)
      std::memcpy(&bytes[std::size_t{row} * kStepBytes + std::size_t{unit} * kUnitBytes],
                  unit_address(tile, first + row, unit), kUnitBytes);
  return bytes;
}

template <class Number>
std::vector<Number> decode(const std::vector<unsigned char>& bytes, Element element) {
  const unsigned size = element_bytes(element);
  std::vector<Number> numbers(bytes.size() / size);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number_at<Number>(&bytes[i * size], element);
  return numbers;
}

template std::vector<float> decode<float>(const std::vector<unsigned char>& bytes, Element element);
template std::vector<int> decode<int>(const std::vector<unsigned char>& bytes, Element element);

}  // namespace emulator
