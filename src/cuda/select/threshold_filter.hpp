// threshold_filter.hpp: selection by a threshold that a sample of each row gives.
#pragma once

#include "cuda/select/method.hpp"
#include "cuda/select/threshold_plan.hpp"

namespace kith::KITH_BACKEND::select {

// The method threshold-filter with a given plan; tests pass plans that make rows fail.
template <class T>
void select_by_threshold(const SelectCall<T>& call, const ThresholdPlan& plan);

}  // namespace kith::KITH_BACKEND::select
