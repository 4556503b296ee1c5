#include "plan/select.hpp"

namespace kith::plan {

// Candidates of a threshold are sorted to be cut off at k, which pays only where they are few or the order is asked
// for.
SelectMethod choose_select(std::int64_t rows, std::int64_t length, std::int64_t k, TopkOutput output,
                           const core::DevicePolicy& policy) {
  const bool sorted = output == TopkOutput::sorted || output == TopkOutput::values_only;
  const bool many = rows / policy.hardware.multiprocessors >= policy.radix_select_rows_each &&
                    k >= policy.radix_select_min_k && k * policy.radix_select_divisor >= length;
  return !sorted && many ? SelectMethod::radix_select : SelectMethod::threshold_filter;
}

}  // namespace kith::plan
