// The whole matrix of distances: both sets are brought to the device, keys are computed for tiles of queries and go to
// the host one after the other.
#include <algorithm>

#include "core/elements.hpp"
#include "core/instantiate.hpp"
#include "cuda/brute/candidates.hpp"
#include "cuda/distance/exact_keys.hpp"
#include "cuda/functions.hpp"
#include "cuda/host_data/host_link.hpp"
#include "cuda/points/check_points.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

constexpr std::int64_t kTileBytes = 256 << 20;

template <Element T>
auto bring_checked(const MatrixView<T>& points, const Options& options, const char* role, host_data::HostLink& link) {
  auto store = link.bring_points(points, options.metric, false, host_data::RowGaps::allowed);
  const bool values = options.check_finite && core::kIsFloating<T>;
  PointCheck<DistanceOf<T>>(store, options.metric, values, link.stream()).refuse_faults(role);
  return store;
}

}  // namespace

template <Element T>
void distances(const MatrixView<T>& base, const MatrixView<T>& queries, const Options& options, void* caller_stream,
               DistanceOf<T>* out) {
  using F = DistanceOf<T>;
  std::optional<Stream> own;
  const bool on_device = base.memory == Memory::device || queries.memory == Memory::device;
  cudaStream_t stream = on_device ? static_cast<cudaStream_t>(caller_stream) : cudaStream_t(own.emplace());
  const std::int64_t values = std::max((base.rows + queries.rows) * base.cols, queries.rows * base.rows);
  host_data::HostLink link(stream, values * static_cast<std::int64_t>(sizeof(F)));
  const PointStore<F> base_points = bring_checked(base, options, "base", link);
  const PointStore<F> query_points = bring_checked(queries, options, "query", link);
  const std::int64_t tile =
      std::clamp<std::int64_t>(kTileBytes / (base.rows * static_cast<std::int64_t>(sizeof(F))), 1, queries.rows);
  DeviceBuffer<F> keys(as_size(tile * base.rows), stream);
  for (std::int64_t first = 0; first < queries.rows; first += tile) {
    const std::int64_t count = std::min(tile, queries.rows - first);
    distance::all_keys(distance::KeyCall<F>{query_points.exact(first, count), base_points.exact(0, base.rows),
                                            base.cols, options.metric, stream},
                       keys.data(), base.rows);
    brute::return_values(options.metric, keys.data(), count * base.rows, stream);
    link.take(keys.data(), count * base.rows, Memory::host, out + first * base.rows);
    if (options.progress && !options.progress({(first + count) * base.rows, queries.rows * base.rows}))
      throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }
}

#define KITH_INSTANTIATE(T) \
  template void distances(const MatrixView<T>&, const MatrixView<T>&, const Options&, void*, DistanceOf<T>*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
