// threshold_filter.hpp: selection by a threshold that a sample of each row gives.
#pragma once

#include "core/threshold_plan.hpp"
#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {

using core::ThresholdPlan;

// The method threshold-filter with a given plan; tests pass plans that make rows fail.
template <class T>
void select_by_threshold(const SelectCall<T>& call, const ThresholdPlan& plan);

}  // namespace kith::KITH_BACKEND::select
