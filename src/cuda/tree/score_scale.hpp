// score_scale.hpp: TreeView::scale of points on a device (core/score_scale.hpp).
#pragma once

#include <vector>

#include "core/score_scale.hpp"
#include "cuda/points/point_rows.hpp"

namespace kith::KITH_BACKEND::tree {

// Writes the largest magnitudes of core::kScaleSample rows, 0 where there are fewer.
template <class F>
void sample_magnitudes(const PointRows<F>& rows, unsigned dims, F* sample, cudaStream_t stream);

// `sample` on the host; largest() is the largest magnitude of all rows.
template <class F, class Largest>
F scale_of(const Metric& metric, const F* sample, Largest largest) {
  if (sizeof(F) == 8 || !core::has_scaled_scores(metric)) return 1;
  return static_cast<F>(core::score_scale_of(std::vector<double>(sample, sample + core::kScaleSample), largest));
}

}  // namespace kith::KITH_BACKEND::tree
