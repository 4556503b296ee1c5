// How far approximate neighbors are from the true ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/export.hpp"

namespace kith {

// Of queries, ε = d_k / true d_k: the distance of the last neighbor that was found over that of the true last one.
// 1 where both are 0; queries for which only the true one is 0 are unbounded, and counted apart.
struct DistanceRatios {
  struct Bin {
    double from = 1;  // to the next one's; the last has no end
    std::int64_t queries = 0;
  };

  std::int64_t queries = 0;  // with a bounded ratio
  std::int64_t unbounded = 0;
  double mean = 1;
  double p99 = 1;   // the smallest value that at least 99 % do not exceed
  double p999 = 1;  // the same for 99.9 %
  double max = 1;
  std::vector<Bin> histogram;  // steps of 0.05 from 1 to 3

  // The share of all queries whose ratio is at least a limit, from 0 to 1; limits are multiples of 0.05, as the bins
  // are.
  double share_from(double limit) const {
    std::int64_t above = unbounded;
    for (const Bin& bin : histogram)
      if (bin.from >= limit - 1e-9) above += bin.queries;
    const std::int64_t all = queries + unbounded;
    return all == 0 ? 0 : static_cast<double>(above) / static_cast<double>(all);
  }
};

// What is not finite is unbounded.
KITH_API DistanceRatios summarize_ratios(std::vector<double> ratios);

// The histogram as text, a line for each bin up to the last that is not empty, with bars on a logarithmic scale.
KITH_API std::string histogram_text(const DistanceRatios& ratios);

// Of a sample of an approximate search's queries, which were searched exactly too.
struct SearchQuality {
  std::int64_t queries = 0;
  double recall = 1;  // neighbors no farther than the true k-th, over queries × k
  DistanceRatios ratios;
};

}  // namespace kith
