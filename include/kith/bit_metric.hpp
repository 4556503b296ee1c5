// Metrics of packed bits (kith/bits.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"

namespace kith {

// With what is returned, rounded once from double to float.
enum class BitMetric {
  hamming,  // the share of bits that differ: the bits of MetricKind::hamming on rows of zeros and ones
  jaccard,  // 1 − |x ∧ y| / |x ∨ y|, 0 where neither has a bit; chemists' "tanimoto"
};

// The canonical name.
KITH_API const char* to_string(BitMetric metric) noexcept;
// A name or alias ("tanimoto"), any case. Throws Error(invalid_argument) listing the names.
KITH_API BitMetric parse_bit_metric(std::string_view name);
// The canonical names, in the order of BitMetric.
KITH_API std::vector<std::string> bit_metric_names();

}  // namespace kith
