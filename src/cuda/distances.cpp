// The whole matrix of distances of points of the host: both sets go to the device, keys are computed for tiles of
// queries and come back one after the other.
#include <algorithm>

#include "backend/contract.hpp"
#include "cuda/brute/candidates.hpp"
#include "cuda/distance/exact_keys.hpp"
#include "cuda/host_data/staging.hpp"
#include "cuda/points/point_store.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

constexpr std::int64_t kTileBytes = 256 << 20;

template <Element T, class F>
void fill(PointStore<F>& store, const MatrixView<T>& points, host_data::Staging& staging) {
  staging.upload(points, store.rows());
  store.prepare(points.rows);
}

}  // namespace

template <Element T>
void distances(const MatrixView<T>& base, const MatrixView<T>& queries, const Metric& metric,
               const ProgressCallback& progress, DistanceOf<T>* out) {
  using F = DistanceOf<T>;
  const Stream stream;
  const std::int64_t values = std::max((base.rows + queries.rows) * base.cols, queries.rows * base.rows);
  host_data::Staging staging(host_data::staging_shape(values * static_cast<std::int64_t>(sizeof(F))), stream);
  PointStore<F> base_points(base.rows, base.cols, metric, false, stream);
  PointStore<F> query_points(queries.rows, queries.cols, metric, false, stream);
  fill(base_points, base, staging);
  fill(query_points, queries, staging);
  const std::int64_t tile =
      std::clamp<std::int64_t>(kTileBytes / (base.rows * static_cast<std::int64_t>(sizeof(F))), 1, queries.rows);
  DeviceBuffer<F> keys(static_cast<std::size_t>(tile * base.rows), stream);
  for (std::int64_t first = 0; first < queries.rows; first += tile) {
    const std::int64_t count = std::min(tile, queries.rows - first);
    distance::all_keys(distance::KeyCall<F>{query_points.exact(first, count), base_points.exact(0, base.rows),
                                            base.cols, metric, stream},
                       keys.data(), base.rows);
    brute::return_values(metric, keys.data(), count * base.rows, stream);
    staging.download(keys.data(), count * base.rows, out + first * base.rows);
    if (progress && !progress({(first + count) * base.rows, queries.rows * base.rows}))
      throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }
}

#define KITH_INSTANTIATE(T)                                                                                   \
  template void distances(const MatrixView<T>&, const MatrixView<T>&, const Metric&, const ProgressCallback&, \
                          DistanceOf<T>*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
