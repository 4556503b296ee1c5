// point_store.hpp: points on the device: rows, norms and means for exact keys, and working rows for the distance stages
// (unit vectors under cosine and correlation, else the rows themselves).
#pragma once

#include "cuda/points/point_rows.hpp"
#include "cuda/runtime/memory.hpp"
#include "kith/metric.hpp"

namespace kith::KITH_BACKEND::inline points {

template <class F>
class PointStore {
 public:
  // Allocates `capacity` points. `bias`: squared norms in working precision too, for products. Stores that share a set
  // of points may share max_squared_norm.
  PointStore(std::int64_t capacity, std::int64_t dims, const Metric& metric, bool bias, cudaStream_t stream,
             unsigned long long* max_squared_norm = nullptr);
  // Borrows points that are on the device already; prepare(rows.count) is left to do. rows.stride ≥ dims.
  PointStore(const PointRows<F>& rows, std::int64_t dims, const Metric& metric, bool bias, cudaStream_t stream);

  // Points that are stored in a narrower type, of which this has norms and means, by parts (adopt()).
  PointStore(const StoredRows& rows, std::int64_t count, std::int64_t dims, const Metric& metric, bool bias,
             cudaStream_t stream);

  // Bytes of device memory a point.
  static std::int64_t point_bytes(std::int64_t dims, const Metric& metric, bool bias);

  // The caller writes packed rows here before prepare(), which makes the first `count` of them the set; not where rows
  // are borrowed.
  F* rows() { return rows_.data(); }
  void prepare(std::int64_t count);
  // Takes norms and means of points first … first + part.count() − 1 from a store that has them widened and shares
  // max_squared_norm().
  void adopt(std::int64_t first, const PointStore& part);

  std::int64_t count() const { return count_; }
  std::int64_t dims() const { return dims_; }
  // Points first … first + count − 1.
  ExactSet<F> exact(std::int64_t first, std::int64_t count) const;
  // Not of points that are stored in a narrower type.
  bool has_working() const { return stored_.data == nullptr; }
  PointRows<F> working(std::int64_t first, std::int64_t count) const;
  // Null unless the constructor asked for it.
  const F* bias(std::int64_t first) const { return bias_.size() == 0 ? nullptr : bias_.data() + first; }
  const double* square_norms(std::int64_t first) const {
    return square_norms_.size() == 0 ? nullptr : square_norms_.data() + first;
  }
  // The largest squared norm, as the bits of a double on the device; null where the metric needs no norms.
  unsigned long long* max_squared_norm() const { return max_squared_norm_; }

 private:
  bool directions() const { return work_.size() > 0; }
  PointRows<F> all() const { return borrowed_.data == nullptr ? PointRows<F>{rows_.data(), count_, dims_} : borrowed_; }
  void allocate(std::int64_t capacity, bool bias, unsigned long long* max_squared_norm);

  std::int64_t dims_;
  Metric metric_;
  cudaStream_t stream_;
  std::int64_t count_ = 0;
  DeviceBuffer<F> rows_;
  PointRows<F> borrowed_;
  StoredRows stored_;
  DeviceBuffer<F> work_;
  DeviceBuffer<double> square_norms_;
  DeviceBuffer<double> means_;
  DeviceBuffer<F> bias_;
  DeviceBuffer<unsigned long long> own_max_norm_;
  unsigned long long* max_squared_norm_ = nullptr;
};

}  // namespace kith::KITH_BACKEND::inline points
