// point_store.cu: norms, means and unit vectors of the points, each in one pass over the rows.
#include "cuda/points/point_store.hpp"

#include "core/key.hpp"
#include "cuda/points/row_norms.hpp"
#include "cuda/runtime/launch.cuh"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline points {
namespace {

constexpr unsigned kPointThreads = 256;

bool has_norms(const Metric& metric, bool bias) {
  return bias || core::form_of(metric) == core::Form::dot;
}

// A warp takes a row, subtracts its mean and scales it to unit length.
template <class F>
__global__ void __launch_bounds__(kPointThreads)
    unit_rows_kernel(PointRows<F> rows, std::int64_t dims, const double* square_norms, const double* means, F* out) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (kPointThreads / kWarp) + warp_id();
  if (row >= rows.count) return;
  const double mean = means == nullptr ? 0.0 : means[row];
  const double scale = 1 / sqrt(square_norms[row]);
  for (std::int64_t c = lane_id(); c < dims; c += kWarp)
    out[row * dims + c] = static_cast<F>((static_cast<double>(rows.data[row * rows.stride + c]) - mean) * scale);
}

// Rounds squared norms to working precision, and finds the largest: the bits of doubles that are not negative have the
// order of the doubles.
template <class F>
__global__ void __launch_bounds__(kPointThreads)
    bias_kernel(const double* square_norms, std::int64_t count, F* bias, unsigned long long* max_squared_norm) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPointThreads + threadIdx.x;
  auto bits = static_cast<unsigned long long>(__double_as_longlong(i < count ? square_norms[i] : 0.0));
  if (bias != nullptr && i < count) bias[i] = static_cast<F>(square_norms[i]);
  for (int step = kWarp / 2; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(kFullMask, bits, step));
  if (lane_id() == 0) atomicMax(max_squared_norm, bits);
}

}  // namespace

template <class F>
PointStore<F>::PointStore(std::int64_t capacity, std::int64_t dims, const Metric& metric, bool bias,
                          cudaStream_t stream, unsigned long long* max_squared_norm)
    : dims_(dims), metric_(metric), stream_(stream), rows_(as_size(capacity * dims), stream) {
  allocate(capacity, bias, max_squared_norm);
}

template <class F>
PointStore<F>::PointStore(const PointRows<F>& rows, std::int64_t dims, const Metric& metric, bool bias,
                          cudaStream_t stream)
    : dims_(dims), metric_(metric), stream_(stream), borrowed_(rows) {
  allocate(rows.count, bias, nullptr);
}

template <class F>
PointStore<F>::PointStore(const StoredRows& rows, std::int64_t count, std::int64_t dims, const Metric& metric,
                          bool bias, cudaStream_t stream)
    : dims_(dims), metric_(metric), stream_(stream), count_(count), stored_(rows) {
  allocate(count, bias, nullptr);
}

// Allocates all but the rows.
template <class F>
void PointStore<F>::allocate(std::int64_t capacity, bool bias, unsigned long long* max_squared_norm) {
  if (!has_norms(metric_, bias)) return;
  square_norms_ = DeviceBuffer<double>(as_size(capacity), stream_);
  max_squared_norm_ = max_squared_norm;
  if (max_squared_norm == nullptr) {
    own_max_norm_ = DeviceBuffer<unsigned long long>(1, stream_);
    max_squared_norm_ = own_max_norm_.data();
    KITH_CUDA(cudaMemsetAsync(max_squared_norm_, 0, sizeof(unsigned long long), stream_));
  }
  if (bias) bias_ = DeviceBuffer<F>(as_size(capacity), stream_);
  if (metric_.kind == MetricKind::correlation) means_ = DeviceBuffer<double>(as_size(capacity), stream_);
  if (core::has_directions(metric_) && stored_.data == nullptr)
    work_ = DeviceBuffer<F>(as_size(capacity * dims_), stream_);
}

template <class F>
std::int64_t PointStore<F>::point_bytes(std::int64_t dims, const Metric& metric, bool bias) {
  constexpr auto kF = static_cast<std::int64_t>(sizeof(F));
  std::int64_t bytes = dims * kF;
  if (has_norms(metric, bias)) bytes += 8;
  if (bias) bytes += kF;
  if (metric.kind == MetricKind::correlation) bytes += 8;
  if (core::has_directions(metric)) bytes += dims * kF;
  return bytes;
}

template <class F>
void PointStore<F>::prepare(std::int64_t count) {
  count_ = count;
  if (square_norms_.size() == 0 || count == 0) return;
  const PointRows<F> rows = all();
  row_facts(rows, dims_, square_norms_.data(), means_.data(), stream_);
  launch("bias", bias_kernel<F>, {.blocks = ceil_div(count, kPointThreads), .threads = kPointThreads}, stream_,
         square_norms_.data(), count, bias_.data(), max_squared_norm_);
  if (directions())
    launch("unit_rows", unit_rows_kernel<F>,
           {.blocks = ceil_div(count, kPointThreads / kWarp), .threads = kPointThreads}, stream_, rows, dims_,
           square_norms_.data(), means_.data(), work_.data());
}

template <class F>
void PointStore<F>::adopt(std::int64_t first, const PointStore& part) {
  const auto copy = [&](const auto& from, auto& to) {
    if (to.size() == 0) return;
    KITH_CUDA(cudaMemcpyAsync(to.data() + first, from.data(), as_size(part.count_) * sizeof(*to.data()),
                              cudaMemcpyDeviceToDevice, stream_));
  };
  copy(part.square_norms_, square_norms_);
  copy(part.means_, means_);
  copy(part.bias_, bias_);
}

template <class F>
ExactSet<F> PointStore<F>::exact(std::int64_t first, std::int64_t count) const {
  ExactSet<F> set;
  if (stored_.data != nullptr) {
    set.rows.count = count;
    set.stored = stored_.from(first);
  } else {
    const PointRows<F> rows = all();
    set.rows = {rows.data + first * rows.stride, count, rows.stride};
  }
  if (core::has_directions(metric_)) set.square_norms = square_norms_.data() + first;
  if (means_.size() > 0) set.means = means_.data() + first;
  return set;
}

template <class F>
PointRows<F> PointStore<F>::working(std::int64_t first, std::int64_t count) const {
  if (stored_.data != nullptr) throw Error(ErrorCode::internal, "points as they are stored have no working rows");
  const PointRows<F> rows = directions() ? PointRows<F>{work_.data(), count_, dims_} : all();
  return {rows.data + first * rows.stride, count, rows.stride};
}

template class PointStore<float>;
template class PointStore<double>;

}  // namespace kith::KITH_BACKEND::inline points
