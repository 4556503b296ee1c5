// cpu_threads.hpp: how many threads work on the CPU is worth.
#pragma once

#include <algorithm>

#include "core/facts.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// A thread must have this much to do. To wake one takes 5 to 10 µs of the caller's time, and until it is there 50 µs
// may pass in a virtual machine: for less work the caller is done as soon alone.
inline constexpr double kSecondsOfAThread = 100e-6;

// Of at most `most` threads, for work that takes one of them so many seconds.
inline int threads_worth(double seconds, int most) {
  return static_cast<int>(std::clamp(seconds / kSecondsOfAThread, 1.0, static_cast<double>(std::max(most, 1))));
}

// Sets plan.threads and why: as many as were asked for by name, else as many as the machine has and the work is worth.
inline void set_threads(Plan& plan, const Options& options, const core::CpuFacts& facts, double seconds) {
  if (options.threads > 0) {
    plan.threads = options.threads;
    plan.threads_reason = "asked for by name";
    return;
  }
  plan.threads = threads_worth(seconds, facts.threads);
  plan.threads_reason = plan.threads < facts.threads ? "the work is worth no more" : facts.threads_source;
}

// Takes half of them away, for memory that holds no more.
inline void halve_threads(Plan& plan) {
  plan.threads /= 2;
  plan.threads_reason = "the memory budget holds no more";
}

}  // namespace kith::plan
