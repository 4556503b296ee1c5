// triangle_costs.hpp: what method triangle costs, given the share of the work that its bounds leave. The share is of
// the data, not of its shape: a probe estimates it from a sample.
#pragma once

#include <cstdint>
#include <string>

#include "core/facts.hpp"
#include "kith/plan.hpp"
#include "plan/planner.hpp"

namespace kith::plan {

struct SurvivingFractions {
  double points = 1;    // of pairs of a query and a point: distances that are computed
  double clusters = 1;  // of pairs of a query and a cluster: those that are looked at
};

// Where no data is at hand: what is left of data with structure.
inline constexpr SurvivingFractions kUsualSurvivors{0.005, 0.03};

// A prediction must be this much better before triangle is taken: shares are estimates.
inline constexpr double kTriangleMargin = 0.8;

// A probe (core/triangle_probe.hpp) may cost this share of the search it is for. On a device less: what a search takes
// there is not known before fp16 have been tried.
inline constexpr double kSampleCostLimit = 0.05;
inline constexpr double kDeviceSampleCostLimit = 0.035;
// On a device fewer leave it idle, whatever is ruled out.
inline constexpr std::int64_t kTriangleQueries = 256;
inline constexpr std::int64_t kTrianglePoints = 4096;

// Whether these options leave the choice of triangle to the data.
bool may_choose_triangle(const Options& options);

// Seconds, clusters of the base included unless they are there.
double triangle_seconds(const Problem& problem, const Metric& metric, const TriangleTuning& tuning,
                        const SurvivingFractions& share, const core::CpuFacts& facts, int threads, bool clustered);
double triangle_seconds(const Problem& problem, const Metric& metric, const TriangleTuning& tuning, double share,
                        const core::DeviceProfile& profile);
std::string survivors_reason(double share);
double sample_seconds(const Problem& problem, const Metric& metric, std::int64_t landmarks,
                      const core::CpuFacts& facts);
double sample_seconds(const Problem& problem, const Metric& metric, std::int64_t landmarks,
                      const core::DeviceProfile& profile);

}  // namespace kith::plan
