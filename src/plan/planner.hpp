// planner.hpp: what to do, as a pure function of the problem's shape, the options and the machine.
#pragma once

#include <cstdint>

#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// What the planner needs to know of a CPU; the rates are per thread, measured on x86 servers with AVX-512.
struct CpuFacts {
  int threads = 1;
  std::int64_t free_memory = 0;
  double gemm_flops = 85e9;        // single precision, tiles of a few hundred
  double tiled_steps = 42e9;       // register-tiled coordinates per second, single precision, squares
  double direct_steps = 24e9;      // the same read row by row
  double read_bandwidth = 12e9;    // bytes per second of one thread
  double filter_rate = 5e9;        // scores per second through the filter
  double finalist_seconds = 8e-8;  // one key, its row not in cache, without its coordinates
};

// This machine.
CpuFacts cpu_facts();

// Throws Error(invalid_argument) for a stage that cannot do the metric, Error(out_of_memory) when no tiling fits.
Plan plan_cpu(const Problem& problem, const Options& options, const CpuFacts& facts);

// Whether the stage of this plan, or a metric by itself, needs the norms of rows.
bool needs_norms(const Plan& plan);

}  // namespace kith::plan
