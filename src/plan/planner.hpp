// planner.hpp: what to do, as a pure function of the problem's shape, the options and the machine.
#pragma once

#include <cstdint>

#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// Seconds of one thread: per pair of points and coordinate, and per pair.
struct StageCost {
  double step;
  double pair;
};

// What the planner needs to know of a CPU. The costs were measured on an x86 server with AVX-512, in single precision.
struct CpuFacts {
  int threads = 1;
  std::int64_t free_memory = 0;
  StageCost gemm{1.85e-11, 4.2e-10};
  StageCost register_tiled{1.77e-11, 1.3e-10};
  StageCost direct{4.4e-11, 1.5e-9};
  double multiply_packing = 5e-10;  // seconds per element of the base and block of queries, inside BLAS
  double panel_packing = 7e-10;     // the same for register-tiled panels
  double read_bandwidth = 16e9;     // bytes per second of one thread
  StageCost key{3e-10, 3e-8};       // of a finalist, whose row is not in cache

  // Of method triangle.
  StageCost center{3e-11, 1e-10};   // a row and a landmark
  StageCost member{5e-9, 1e-7};     // a row that is sorted into its cluster
  double cluster_pair = 2e-8;       // a cluster of queries and one of the base
  double visit = 2e-8;              // a query and a cluster whose members it looks at
  StageCost scanned{6e-11, 4e-10};  // a query and such a member
  double query = 1e-6;              // the rest of a query
};

// This machine.
CpuFacts cpu_facts();

// Bytes that a search may use.
std::int64_t cpu_budget(const Options& options, const CpuFacts& facts);

// Throws Error(invalid_argument) for a stage that cannot do the metric, Error(out_of_memory) when no tiling fits.
// Method automatic is brute here: only the data can tell of another, which this function does not see.
Plan plan_cpu(const Problem& problem, const Options& options, const CpuFacts& facts);

// Whether the stage of this plan, or a metric by itself, needs the norms of rows.
bool needs_norms(const Plan& plan);

}  // namespace kith::plan
