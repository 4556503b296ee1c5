// bit_metric.cpp: names of the metrics of packed bits.
#include "kith/bit_metric.hpp"

#include "core/names.hpp"

namespace kith {
namespace {

constexpr std::array<core::Name<BitMetric>, 3> kBitMetrics{{
    {"hamming", BitMetric::hamming},
    {"jaccard", BitMetric::jaccard},
    {"tanimoto", BitMetric::jaccard},
}};

}  // namespace

const char* to_string(BitMetric metric) noexcept {
  return core::name_of(kBitMetrics, metric);
}

BitMetric parse_bit_metric(std::string_view name) {
  return core::parse_name(kBitMetrics, "metric of packed bits", name);
}

std::vector<std::string> bit_metric_names() {
  std::vector<std::string> names;
  for (const auto& [name, metric] : kBitMetrics)
    if (name == core::name_of(kBitMetrics, metric)) names.emplace_back(name);
  return names;
}

}  // namespace kith
