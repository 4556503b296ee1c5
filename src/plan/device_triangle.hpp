// device_triangle.hpp: what method triangle will do on a device.
#pragma once

#include "core/facts.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

// Completes a plan that has its problem, metric, backend and budget. The time is that of data with structure, since no
// data is at hand. Throws Error(out_of_memory) where the base, of so many bytes a point, is not `resident` or its
// clusters do not fit the budget beside it.
void plan_device_triangle(Plan& plan, const Options& options, const core::DeviceFacts& facts, double point_bytes,
                          bool resident);

// What the paper's form does where nobody says so (Chen et al., section IV-D and figure 8).
TriangleTuning adapt_sweet_knn(const TriangleTuning& asked, const Problem& problem, int processors);

}  // namespace kith::plan
