#include "kith/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/fp_environment.hpp"

namespace kith {
namespace {

constexpr int kBins = 40;
constexpr double kBinsPerUnit = 20;

// The smallest value that at least `permille` of 1000 of the sorted values do not exceed.
double quantile(const std::vector<double>& sorted, std::size_t permille) {
  return sorted[(sorted.size() * permille + 999) / 1000 - 1];
}

std::size_t bin_of(double ratio) {
  return static_cast<std::size_t>(std::clamp((ratio - 1) * kBinsPerUnit, 0.0, static_cast<double>(kBins)));
}

}  // namespace

DistanceRatios summarize_ratios(std::vector<double> ratios) {
  const core::DefaultFpEnvironment environment;
  DistanceRatios result;
  const auto bounded = std::partition(ratios.begin(), ratios.end(), [](double r) { return std::isfinite(r); });
  result.unbounded = ratios.end() - bounded;
  ratios.erase(bounded, ratios.end());
  result.queries = static_cast<std::int64_t>(ratios.size());
  for (int i = 0; i <= kBins; ++i) result.histogram.push_back({1 + i / kBinsPerUnit, 0});
  if (ratios.empty()) return result;
  std::sort(ratios.begin(), ratios.end());
  double sum = 0;
  for (const double ratio : ratios) {
    sum += ratio;
    ++result.histogram[bin_of(ratio)].queries;
  }
  result.mean = sum / static_cast<double>(ratios.size());
  result.p99 = quantile(ratios, 990);
  result.p999 = quantile(ratios, 999);
  result.max = ratios.back();
  return result;
}

std::string histogram_text(const DistanceRatios& ratios) {
  const core::DefaultFpEnvironment environment;
  std::size_t last = 0;
  for (std::size_t i = 0; i < ratios.histogram.size(); ++i)
    if (ratios.histogram[i].queries > 0) last = i;
  std::string text;
  for (std::size_t i = 0; i <= last && i < ratios.histogram.size(); ++i) {
    const DistanceRatios::Bin& bin = ratios.histogram[i];
    constexpr double kBarPerDecade = 6;
    const int bar = bin.queries == 0 ? 0 : 1 + static_cast<int>(kBarPerDecade * std::log10(bin.queries));
    std::string line = fmt::format("{:4.2f} {:>10} ", bin.from, bin.queries);
    for (int b = 0; b < bar; ++b) line += '#';
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

}  // namespace kith
