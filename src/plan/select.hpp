// select.hpp: how the k smallest values of each row are found on a device: pure functions of shape and policy.
#pragma once

#include "core/device_policy.hpp"
#include "core/threshold_plan.hpp"
#include "kith/topk.hpp"

namespace kith::plan {

// The fastest method for rows × length values of which k are wanted in this form.
SelectMethod choose_select(std::int64_t rows, std::int64_t length, std::int64_t k, TopkOutput output,
                           const core::DevicePolicy& policy);

// How method threshold-filter selects k of `length` values of `value_bytes` bytes per row.
core::ThresholdPlan plan_threshold(std::int64_t rows, unsigned length, unsigned k, unsigned value_bytes,
                                   const core::DevicePolicy& policy);

}  // namespace kith::plan
