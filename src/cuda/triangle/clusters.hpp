// clusters.hpp: points grouped around their landmarks (Chen et al. Sweet KNN, section II-C, step 1).
// Layout  members of a cluster are neighbors in memory, by falling distance to their center, then by id. Distances
//         count as equal when the upper words of their bits are (metric_distance.cuh), so that cluster, distance and id
//         fit the key of one sort. Everything a kernel reads of a point lies at its position in this order.
#pragma once

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/triangle/space.hpp"
#include "cuda/triangle/step_times.hpp"

namespace kith::KITH_BACKEND::triangle {

// Clusters as kernels see them. Cluster c has positions offsets[c] … offsets[c + 1] − 1.
template <class F>
struct ClusterView {
  unsigned count = 0;  // clusters; some may be empty
  unsigned width = 0;  // of rows
  const F* centers = nullptr;
  const double* radii = nullptr;  // no member is farther from its center
  const unsigned* offsets = nullptr;
  // One entry a position:
  const F* rows = nullptr;
  const double* member_distances = nullptr;  // to the center
  const unsigned* ids = nullptr;
  const unsigned* clusters = nullptr;
};

template <class F>
class Clusters {
 public:
  // Enqueues everything on the stream. Points are working rows; `landmarks` ≤ points.count. Rows that are compared, and
  // scores of points and centers, take at most `budget` bytes, 0 for no limit; `mark` is called after each step.
  Clusters(const Space<F>& space, const PointRows<F>& points, std::int64_t landmarks, cudaStream_t stream,
           std::size_t budget, const StepMark& mark);

  // Bytes of device memory a point, and bytes of scratch a point while clusters are made.
  static std::int64_t point_bytes(const Space<F>& space);
  static std::int64_t scratch_bytes();

  std::int64_t points() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t count() const { return static_cast<std::int64_t>(radii_.size()); }
  ClusterView<F> view() const;

 private:
  unsigned width_;
  DeviceBuffer<F> centers_;
  DeviceBuffer<double> radii_;
  DeviceBuffer<unsigned> offsets_;
  DeviceBuffer<F> rows_;
  DeviceBuffer<double> member_distances_;
  DeviceBuffer<unsigned> ids_;
  DeviceBuffer<unsigned> clusters_;
};

}  // namespace kith::KITH_BACKEND::triangle
