// bits.hpp: plans of searches of packed bits: nothing is to be chosen but tiles, threads and memory.
#pragma once

#include "core/facts.hpp"
#include "kith/bits.hpp"

namespace kith::plan {

// What is searched for.
struct BitProblem {
  std::int64_t base_rows = 0;
  std::int64_t queries = 0;
  std::int64_t bits = 0;
  std::int64_t k = 0;  // 0: within a radius
  bool self = false;
  BitMetric metric = BitMetric::hamming;
};

// A plan that has its problem and what the options say.
BitPlan begin_bits(const BitProblem& problem, const Options& options);

// `cost`: of a pair of 32 bits and the rest of a pair. Fewer queries at a time, then fewer parts of the base, then
// fewer threads make it fit; else Error(out_of_memory) names the least budget.
BitPlan plan_cpu_bits(const BitProblem& problem, const Options& options, const core::CpuFacts& facts,
                      const core::StageCost& cost);

// Of a base that stays on the device: Error(out_of_memory) where the budget has no room for it and a tile.
BitPlan plan_device_bits(const BitProblem& problem, const Options& options, const core::DeviceFacts& facts);

}  // namespace kith::plan
