// clusters.hpp: points grouped around their landmarks (Chen et al., section II-C, step 1).
// The members of a cluster lie next to each other by falling length to their center, those of equal length by number;
// lengths count as equal when the upper halves of their bits are (lengths.cuh), so that cluster, length and number fit
// the key of one sort. What a kernel reads of a point lies at its position in this order.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/triangle/space.hpp"
#include "cuda/triangle/step_times.hpp"

namespace kith::KITH_BACKEND::triangle {

// As kernels see them. Positions of cluster c are offsets[c] … offsets[c + 1] − 1.
template <class F>
struct ClusterView {
  unsigned count = 0;  // of clusters; some may be empty
  unsigned width = 0;  // of rows
  const F* centers = nullptr;
  const double* radii = nullptr;  // no member's length is above
  const unsigned* offsets = nullptr;
  const F* rows = nullptr;             // of positions
  const double* lengths = nullptr;     // of positions
  const unsigned* ids = nullptr;       // of positions: which point it is
  const unsigned* clusters = nullptr;  // of positions
};

template <class F>
class Clusters {
 public:
  // Everything is enqueued on the stream. Points are working rows; `landmarks` ≤ points.count. Rows
  // that are compared, and scores of points and centers, take no more than `budget` bytes, 0 for no limit; `mark` is
  // called after each step.
  Clusters(const Space<F>& space, const PointRows<F>& points, std::int64_t landmarks, cudaStream_t stream,
           std::size_t budget, const StepMark& mark);

  // Bytes of device memory of so many points, and of scratch while clusters are made.
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
  DeviceBuffer<double> lengths_;
  DeviceBuffer<unsigned> ids_;
  DeviceBuffer<unsigned> clusters_;
};

// Of an index: made for the first search that wants them, and kept. Thread-safe.
template <class F>
class CachedClusters {
 public:
  // The same points every time, and there already. Ready when this returns; `steps` gets the time of what was done.
  const Clusters<F>& get(const Space<F>& space, const PointRows<F>& points, std::int64_t landmarks, std::size_t budget,
                         std::vector<TriangleStatistics::Step>& steps) {
    std::call_once(made_, [&] {
      StepTimes times(stream_);
      clusters_.emplace(space, points, landmarks, stream_, budget, times.mark());
      steps = times.steps();
    });
    return *clusters_;
  }

 private:
  Stream stream_;
  std::once_flag made_;
  std::optional<Clusters<F>> clusters_;
};

}  // namespace kith::KITH_BACKEND::triangle
