// sum_words.hpp: the sum of 64-bit words modulo 2^64, as fast as memory gives them.
#pragma once

#include <cstdint>

namespace kith::bench {

// Bytes, because the words may lie over elements of any type.
std::uint64_t sum_words(const std::uint8_t* bytes, std::int64_t words);

}  // namespace kith::bench
