// device_plans.hpp: plans of each method on a device. They throw Error(invalid_argument) for options that a method does
// not have, Error(out_of_memory) when no tiling fits.
#pragma once

#include <string>

#include "core/facts.hpp"
#include "kith/plan.hpp"
#include "plan/choose.hpp"

namespace kith::plan {

// Bytes of a base point on the device: its coordinates, under cosine and correlation once more as a direction, its
// norms, and the same in fp16 where searches may want that.
double point_bytes(const Problem& problem, const Options& options, const core::DevicePolicy& policy);

// Whether searches of this base are likely to want its fp16, however many queries they have.
bool may_use_fp16(const Problem& problem, const Options& options, const core::DevicePolicy& policy);

// For a distance stage that was asked for and that cannot compute the metric, or has no use for the data type.
[[noreturn]] void refuse_stage(const Problem& problem, const Options& options, const core::DeviceHardware& hardware);

// Whether points of 16-bit floats or bytes are kept on the device as they are stored: where searches multiply them as
// such, or rounded to fp16.
bool stays_narrow(const Problem& problem, const Options& options, const core::DevicePolicy& policy);

// Whether half of the budget, which the base may have, holds all points in working precision.
bool has_room_for_all(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// Whether the base stays on the device, in working precision or narrower; else every search streams it through.
bool is_resident(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// Points that are on the device at a time: all where they stay, else one of the two tiles that share half of the
// budget.
std::int64_t points_at_once(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// A plan that has its problem, metric, backend, profile and budget. Refuses more points than a device can number.
Plan begin_device_plan(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// By the method that was asked for; automatic is two-stage or fused here, since only the data can tell of another.
Plan plan_device(const Problem& problem, const Options& options, const core::DeviceFacts& facts,
                 const IndexFacts& index = {});

// Brute force where only so many rows differ: a plan for these, of the problem that was asked for.
Plan plan_device_distinct(const Problem& problem, const Options& options, const core::DeviceFacts& facts,
                          const IndexFacts& index, std::int64_t distinct_rows);

// IndexFacts::distinct_limit: half of the rows at most, and their copy must fit beside the base.
std::int64_t distinct_limit(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// The time is that of data with structure, since no data is at hand.
Plan plan_device_triangle(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// Of a radius search where problem.k is 0: plan.candidates hits are sorted at a time. The time is that of points that
// fill all their dimensions; `has_tree`: the base's is there.
Plan plan_device_tree(const Problem& problem, const Options& options, const core::DeviceFacts& facts,
                      bool has_tree = false);

// A list of query_block × candidates pairs holds what a tile's scores cannot rule out; tiles for which it is too small
// are cut.
Plan plan_device_radius(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

Plan plan_device_shifted_sort(const Problem& problem, const Options& options, const core::DeviceFacts& facts);

// For the reason of a plan whose time is not a prediction.
std::string took_before(double seconds);

// The passes of a plan of two-stage or fused, from its first stage to exact distances.
std::vector<Plan::Pass> fallback_chain(const Plan& plan, const core::DevicePolicy& policy);

}  // namespace kith::plan
