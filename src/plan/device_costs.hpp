// device_costs.hpp: how long a device takes for a search, by each stage and method.
#pragma once

#include "core/facts.hpp"
#include "core/key.hpp"
#include "core/scan_plan.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

struct DeviceStageCost {
  double seconds = 0;
  bool fused = false;
};

// Stages that need not store their scores.
bool can_fuse(DistanceStage stage);

// Stages whose scores, products of tensor cores, are never stored on this hardware.
bool tests_products(DistanceStage stage, const core::DeviceHardware& hardware);

// Whether a fused pass of this stage reads the points once for all queries, which are few (core/scan_plan.hpp), and
// how.
bool scans(DistanceStage stage, const Problem& problem, std::int64_t candidates, const core::DeviceHardware& hardware);
core::ScanPlan scan_plan(DistanceStage stage, const Problem& problem, const core::DeviceHardware& hardware);

// The stage's time in the given form of search; for stages that can be fused, `either` takes the faster.
enum class FusedWish { no, yes, either };
DeviceStageCost stage_cost(const core::DeviceFacts& facts, DistanceStage stage, const Problem& problem, core::Form form,
                           std::int64_t candidates, FusedWish wish);

// Sums of differences in registers, which follow products that prove too little.
double differences_seconds(const core::DeviceFacts& facts, const Problem& problem, core::Form form,
                           std::int64_t candidates, bool fused);

// To round the base to fp16, which an index does once.
double fp16_seconds(const core::DeviceProfile& costs, const Problem& problem);

// Without the time of the neighbors: how many there are nobody knows.
double radius_seconds(const core::DeviceFacts& facts, const Problem& problem, core::Form form, DistanceStage stage);

// Given the fraction of pairs of a query and a point whose distance is computed. `has_clusters`: those of the base are
// there, or serve so many searches that making them does not count.
double triangle_seconds(const core::DeviceProfile& costs, const Problem& problem, const Metric& metric,
                        const TriangleTuning& tuning, double surviving, bool has_clusters = false);

// Method tree, for points that fill all their dimensions; the tree included unless the base has one. Worked out from
// the instructions of its kernels, not measured.
double tree_seconds(const core::DeviceFacts& facts, const Problem& problem, const Metric& metric, bool has_tree);

// A sample that tells that fraction.
double sample_seconds(const core::DeviceProfile& costs, const Problem& problem, const Metric& metric,
                      std::int64_t landmarks);

}  // namespace kith::plan
