// finish_keys.hpp: keys from raw sums: the last step of the metric, by vectors where it is a root or nothing, and one
// rounding.
#pragma once

#include <cstdint>

#include "core/key.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/simd/kernels.hpp"

namespace kith::cpu {

// keys[i] is that of a query and base row row_of(i), whose raw sum is raw[i].
template <Element T, class RowOf>
void finish_keys(const PreparedRows<T>& base, const core::RowFacts& query, RowOf row_of, std::int64_t count,
                 const double* raw, DistanceOf<T>* keys) {
  switch (core::effective_kind(base.metric)) {
    case MetricKind::euclidean: return round_sums(raw, count, true, keys);
    case MetricKind::sqeuclidean:
    case MetricKind::manhattan:
    case MetricKind::chebyshev: return round_sums(raw, count, false, keys);
    default: break;
  }
  for (std::int64_t i = 0; i < count; ++i)
    keys[i] =
        static_cast<DistanceOf<T>>(core::finish(base.metric, raw[i], query, base.facts(row_of(i)), base.view.cols));
}

}  // namespace kith::cpu
