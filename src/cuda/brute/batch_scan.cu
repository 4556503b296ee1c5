#include "cuda/brute/batch_scan.hpp"

#include <string>

#include "core/periodic.hpp"
#include "cuda/distance/lane_key.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/warp_lists.cuh"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::brute {
namespace {

constexpr unsigned kBatchThreads = 256;
constexpr unsigned kBatchWarps = kBatchThreads / kWarp;

// The batch of a query, by its place among all.
__device__ const BatchRange& batch_of(const BatchRange* batches, unsigned count, std::int64_t query) {
  unsigned first = 0;
  while (count > 1) {
    const unsigned half = count / 2;
    if (batches[first + half].begin <= query) {
      first += half;
      count -= half;
    } else {
      count = half;
    }
  }
  return batches[first];
}

template <bool kSquared, class F>
__device__ __forceinline__ double distance_of(const BatchScan<F>& scan, core::Form form, const F* x, const F* y,
                                              const core::RowFacts& x_facts, const core::RowFacts& y_facts) {
  const auto x_at = [&](unsigned c) { return static_cast<double>(x[c]) - x_facts.mean; };
  const auto y_at = [&](unsigned c) { return static_cast<double>(y[c]) - y_facts.mean; };
  double raw = 0;
  if (scan.periods == nullptr) {
    raw = distance::lane_raw<kSquared, 0>(form, scan.metric.p, scan.dims, x_at, y_at);
  } else {
    const auto difference = [&](unsigned c) { return core::periodic_difference(x_at(c), y_at(c), scan.periods[c]); };
    raw = distance::lane_raw<kSquared, 0>(form, scan.metric.p, scan.dims, difference, [](unsigned) { return 0.0; });
  }
  return distance::finish_key(scan.metric, raw, x_facts, y_facts, scan.dims);
}

template <class F, class List, bool kSquared>
__global__ void __launch_bounds__(kBatchThreads) batch_scan_kernel(const __grid_constant__ BatchScan<F> scan) {
  using Key = KeyOf<F>;
  using Network = typename List::Network;
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * kBatchWarps + warp_id();
  if (place >= scan.query_count) return;
  const BatchRange batch = batch_of(scan.batches, scan.batch_count, place);
  const std::int64_t query = batch.first_query + place - batch.begin;
  const F* const x = scan.queries.rows.data + query * scan.queries.rows.stride;
  const core::RowFacts x_facts = distance::facts_of(scan.queries, query);
  const core::Form form = core::form_of(scan.metric);
  List list(scan.k);
  for (std::int64_t at = 0; at < batch.rows; at += kWarp) {
    const std::int64_t row = batch.first_row + at + lane_id();
    const bool wanted = at + lane_id() < batch.rows && !(scan.exclude_self && row == query);
    Key key = last_key<Key>();
    if (wanted) {
      const double distance = distance_of<kSquared>(scan, form, x, scan.base.rows.data + row * scan.base.rows.stride,
                                                    x_facts, distance::facts_of(scan.base, row));
      key = make_key(ordered_bits(static_cast<F>(distance), false), static_cast<unsigned>(row));
    }
    list.offer(wanted, key);
    list.settle();
  }
  list.finish();
  KITH_UNROLL
  for (unsigned i = 0; i < Network::kEach; ++i) {
    if (Network::rank(i) >= scan.k) continue;
    const Key key = list.keys()[i];
    scan.keys[place * scan.k + Network::rank(i)] = value_of<F>(order_of(key), false);
    scan.ids[place * scan.k + Network::rank(i)] = id_of(key);
  }
}

template <class F, class List>
void launch_batch_scan(const BatchScan<F>& scan, cudaStream_t stream) {
  const LaunchShape shape{.blocks = ceil_div(scan.query_count, kBatchWarps), .threads = kBatchThreads};
  if (core::form_of(scan.metric) == core::Form::squared)
    launch("batch_scan", batch_scan_kernel<F, List, true>, shape, stream, scan);
  else
    launch("batch_scan", batch_scan_kernel<F, List, false>, shape, stream, scan);
}

}  // namespace

template <class F>
void batch_scan(const BatchScan<F>& scan, cudaStream_t stream) {
  using Key = KeyOf<F>;
  if (scan.k < 1 || scan.k > kMostOfBatchScan)
    throw Error(ErrorCode::internal, "k = " + std::to_string(scan.k) + " of a scan of batches; it takes 1 to " +
                                         std::to_string(kMostOfBatchScan));
  if (scan.k <= kWarp) return launch_batch_scan<F, select::ShortWarpList<Key>>(scan, stream);
  if (scan.k <= 4 * kWarp) return launch_batch_scan<F, select::LongWarpList<Key, 4, 3>>(scan, stream);
  launch_batch_scan<F, select::LongWarpList<Key, kMostOfBatchScan / kWarp, 8>>(scan, stream);
}

template void batch_scan(const BatchScan<float>&, cudaStream_t);
template void batch_scan(const BatchScan<double>&, cudaStream_t);

}  // namespace kith::KITH_BACKEND::brute
