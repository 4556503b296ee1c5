// check_points.cu: one kernel looks for values that are too large or not finite, one for rows without a direction;
// atomics keep the first index of each fault. Cost    the rows are read once, and once more under correlation.
#include "cuda/points/check_points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/bounds.hpp"
#include "core/key.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline points {
namespace {

constexpr unsigned kCheckThreads = 256;

// Packed rows are passed as one long row, which saves a division a value.
template <class F>
__global__ void __launch_bounds__(kCheckThreads)
    find_beyond_kernel(PointRows<F> rows, std::int64_t dims, F largest, PointFaults* faults) {
  const std::int64_t count = rows.count * dims;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kCheckThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kCheckThreads + threadIdx.x; i < count; i += step) {
    const F value = rows.count == 1 ? rows.data[i] : rows.data[i / dims * rows.stride + i % dims];
    if (fabs(value) <= largest) continue;
    atomicMin(&faults->beyond, static_cast<unsigned long long>(i));
    return;  // later faults of this thread have larger indices
  }
}

// Must be called by all lanes of the warp.
template <class F>
__device__ bool is_constant(const F* row, std::int64_t dims) {
  bool differs = false;
  for (std::int64_t c = lane_id(); c < dims; c += kWarp) differs = differs || row[c] != row[0];
  return __ballot_sync(kFullMask, differs) == 0;
}

// A warp takes a row. `varying`: a constant row is a fault too.
template <class F>
__global__ void __launch_bounds__(kCheckThreads)
    find_no_direction_kernel(PointRows<F> rows, std::int64_t dims, const double* square_norms, double least,
                             bool varying, PointFaults* faults) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (kCheckThreads / kWarp) + warp_id();
  if (row >= rows.count) return;
  const double square_norm = square_norms[row];
  bool fault = !(square_norm >= least && square_norm <= std::numeric_limits<double>::max());
  if (varying && is_constant(rows.data + row * rows.stride, dims)) fault = true;
  if (fault && lane_id() == 0) atomicMin(&faults->no_direction, static_cast<unsigned long long>(row));
}

std::string to_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

std::string name_row(const char* role, std::int64_t row) {
  return std::string(role) + " row " + std::to_string(row);
}

template <class V>
V copy_to_host(const V* index, cudaStream_t stream) {
  V value;
  KITH_CUDA(cudaMemcpyAsync(&value, index, sizeof(V), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return value;
}

}  // namespace

template <class F>
PointCheck<F>::PointCheck(const PointStore<F>& points, const Metric& metric, bool finite, cudaStream_t stream,
                          DeviceBuffer<PointFaults> faults)
    : points_(points), metric_(metric), stream_(stream), faults_(std::move(faults)) {
  if (!finite && !core::has_directions(metric)) return;
  if (faults_.size() == 0) faults_ = DeviceBuffer<PointFaults>(1, stream);
  KITH_CUDA(cudaMemsetAsync(faults_.data(), 0xFF, sizeof(PointFaults), stream));
  const PointRows<F> rows = points.exact(0, points.count()).rows;
  const std::int64_t dims = points.dims();
  if (finite) {
    const bool packed = rows.stride == dims;
    const std::int64_t blocks = std::min<std::int64_t>(ceil_div(rows.count * dims, kCheckThreads),
                                                       multiprocessor_count() * device_policy().check_blocks_each);
    launch("find_beyond", find_beyond_kernel<F>, {.blocks = blocks, .threads = kCheckThreads}, stream,
           packed ? PointRows<F>{rows.data, 1, rows.count * dims} : rows, packed ? rows.count * dims : dims,
           static_cast<F>(core::largest_coordinate<F>(metric, dims)), faults_.data());
  }
  if (core::has_directions(metric)) {
    constexpr double kSmallest = 1e-307;  // squares of a coordinate below it lose digits
    launch("find_no_direction", find_no_direction_kernel<F>,
           {.blocks = ceil_div(rows.count, kCheckThreads / kWarp), .threads = kCheckThreads}, stream, rows, dims,
           points.square_norms(0), kSmallest * static_cast<double>(dims), metric.kind == MetricKind::correlation,
           faults_.data());
  }
  answer_ = PinnedLoan(sizeof(PointFaults));
  KITH_CUDA(cudaMemcpyAsync(answer_.as<void>(), faults_.data(), sizeof(PointFaults), cudaMemcpyDeviceToHost, stream));
  answered_.record(stream);
}

template <class F>
PointCheck<F>::~PointCheck() {
  if (answer_.size() > 0) answered_.synchronize_quietly();  // without refuse_faults() the copy may be on its way
}

template <class F>
void PointCheck<F>::refuse_faults(const char* role, std::int64_t first) const {
  if (answer_.size() == 0) return;
  answered_.synchronize();
  const PointFaults faults = *answer_.as<PointFaults>();
  if (faults.beyond != PointFaults::kNothing) refuse_value(role, first, static_cast<std::int64_t>(faults.beyond));
  if (faults.no_direction != PointFaults::kNothing)
    refuse_direction(role, first, static_cast<std::int64_t>(faults.no_direction));
}

template <class F>
void PointCheck<F>::refuse_value(const char* role, std::int64_t first, std::int64_t index) const {
  const std::int64_t row = index / points_.dims();
  const std::int64_t column = index % points_.dims();
  const F value = copy_to_host(points_.exact(row, 1).rows.data + column, stream_);
  const std::string where =
      name_row(role, first + row) + ", column " + std::to_string(column) + " is " + to_text(static_cast<double>(value));
  if (!std::isfinite(value)) throw Error(ErrorCode::bad_data, where + "; values must be finite (check_finite)");
  throw Error(ErrorCode::bad_data, where + "; squares of euclidean distances overflow beyond " +
                                       to_text(core::largest_coordinate<F>(metric_, points_.dims())) +
                                       " (check_finite)");
}

template <class F>
void PointCheck<F>::refuse_direction(const char* role, std::int64_t first, std::int64_t row) const {
  const std::string metric = metric_.kind == MetricKind::cosine ? "cosine" : "correlation";
  const double square_norm = copy_to_host(points_.square_norms(row), stream_);
  const auto dims = static_cast<std::size_t>(points_.dims());
  std::vector<F> values(dims);
  KITH_CUDA(cudaMemcpyAsync(values.data(), points_.exact(row, 1).rows.data, dims * sizeof(F), cudaMemcpyDeviceToHost,
                            stream_));
  KITH_CUDA(cudaStreamSynchronize(stream_));
  const bool constant = std::all_of(values.begin(), values.end(), [&](F value) { return value == values[0]; });
  if (constant && metric_.kind == MetricKind::correlation)
    throw Error(ErrorCode::bad_data, name_row(role, first + row) + " is constant; correlation needs a varying vector");
  if (square_norm == 0)
    throw Error(ErrorCode::bad_data,
                name_row(role, first + row) + " has length zero; " + metric + " needs a direction");
  throw Error(ErrorCode::bad_data, "the squared length of " + name_row(role, first + row) + " is " +
                                       to_text(square_norm) + ", outside what double holds in full precision; " +
                                       metric + " cannot use it");
}

template class PointCheck<float>;
template class PointCheck<double>;

}  // namespace kith::KITH_BACKEND::inline points
