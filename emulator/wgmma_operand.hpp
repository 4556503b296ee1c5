// wgmma_operand.hpp: operands of wgmma in shared memory, and elements as numbers.
#pragma once

#include <string>
#include <vector>

#include "emulator/wgmma.hpp"

namespace emulator {

constexpr unsigned kUnitBytes = 16;
constexpr unsigned kStepBytes = 32;  // of a row, that one product takes

// Where 16 bytes of a row are; `unit` is 0 or 1.
const unsigned char* unit_address(const OperandTile& tile, unsigned row, unsigned unit);

// What is wrong with the tile; empty if nothing.
std::string problem_of(const OperandTile& tile, unsigned rows);

// The bytes of `rows` rows from `first` on, each row's 32 together.
std::vector<unsigned char> gather(const OperandTile& tile, unsigned first, unsigned rows);

// Rows of elements as numbers: float holds fp16 and bf16, int the others.
template <class Number>
std::vector<Number> decode(const std::vector<unsigned char>& bytes, Element element);

inline unsigned element_bytes(Element element) {
  return element == Element::fp16 || element == Element::bf16 ? 2 : 1;
}

}  // namespace emulator
