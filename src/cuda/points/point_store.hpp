// point_store.hpp: points on the device with all that a search wants to know of them: their rows, norms and means for
// exact keys, and working rows for the distance stages (of unit length under cosine and correlation).
#pragma once

#include "cuda/points/point_rows.hpp"
#include "cuda/runtime/memory.hpp"
#include "kith/metric.hpp"

namespace kith::KITH_BACKEND::inline points {

template <class F>
class PointStore {
 public:
  // Room for so many points. `bias`: squares of lengths in working precision, for products. Stores that share a set
  // of points may share the place of the longest.
  PointStore(std::int64_t room, std::int64_t dims, const Metric& metric, bool bias, cudaStream_t stream,
             unsigned long long* max_squared_norm = nullptr);
  // Points that lie on the device already and stay there: prepare(rows.count) is left to do. rows.stride ≥ dims.
  PointStore(const PointRows<F>& rows, std::int64_t dims, const Metric& metric, bool bias, cudaStream_t stream);

  // Bytes of device memory that a point takes.
  static std::int64_t point_bytes(std::int64_t dims, const Metric& metric, bool bias);

  // Where points are put, packed, before prepare(): the first `count` of them are then the set. Not of borrowed ones.
  F* rows() { return rows_.data(); }
  void prepare(std::int64_t count);

  std::int64_t count() const { return count_; }
  std::int64_t dims() const { return dims_; }
  // Of points first … first + count − 1.
  ExactSet<F> exact(std::int64_t first, std::int64_t count) const;
  PointRows<F> working(std::int64_t first, std::int64_t count) const;
  // Null where nobody asked for them.
  const F* bias(std::int64_t first) const { return bias_.size() == 0 ? nullptr : bias_.data() + first; }
  const double* square_norms(std::int64_t first) const {
    return square_norms_.size() == 0 ? nullptr : square_norms_.data() + first;
  }
  // The largest square of a length, as the bits of a double, on the device; null where nobody needs it.
  const unsigned long long* max_squared_norm() const { return max_squared_norm_; }

 private:
  bool directions() const { return work_.size() > 0; }
  PointRows<F> all() const { return borrowed_.data == nullptr ? PointRows<F>{rows_.data(), count_, dims_} : borrowed_; }
  void make_room(std::int64_t room, bool bias, unsigned long long* max_squared_norm);

  std::int64_t dims_;
  Metric metric_;
  cudaStream_t stream_;
  std::int64_t count_ = 0;
  DeviceBuffer<F> rows_;
  PointRows<F> borrowed_;
  DeviceBuffer<F> work_;
  DeviceBuffer<double> square_norms_;
  DeviceBuffer<double> means_;
  DeviceBuffer<F> bias_;
  DeviceBuffer<unsigned long long> own_max_norm_;
  unsigned long long* max_squared_norm_ = nullptr;
};

}  // namespace kith::KITH_BACKEND::inline points
