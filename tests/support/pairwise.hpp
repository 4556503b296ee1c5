// Pairwise coverage: few combinations of many parameters in which every pair of values of every two parameters occurs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::test {

// `sizes[i]` is the number of values of parameter i; each row of the result gives one value index per parameter.
std::vector<std::vector<std::size_t>> pairwise(const std::vector<std::size_t>& sizes, std::uint64_t seed);

}  // namespace kith::test
