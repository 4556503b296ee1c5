// host_link.hpp: what one call brings from the host's memory and takes back there. Pinned memory is asked for only
// where something is of the host.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "cuda/host_data/staging.hpp"
#include "cuda/points/narrow_points.hpp"
#include "cuda/points/pack_rows.hpp"
#include "cuda/points/point_store.hpp"

namespace kith::KITH_BACKEND::host_data {

// Whether searches may leave gaps between rows as they are: those that gather queries may not.
enum class RowGaps { allowed, closed };

class HostLink {
 public:
  // All copies are of this stream. `bytes`: the most that is brought or taken at a time, as far as that is known.
  HostLink(cudaStream_t stream, std::int64_t bytes) : stream_(stream), bytes_(bytes) {}

  cudaStream_t stream() const { return stream_; }
  Staging& staging() {
    if (!staging_) staging_.emplace(staging_shape(bytes_), stream_);
    return *staging_;
  }

  // Points, prepared once the stream comes to it. Those of the device are used where they lie if they can be.
  template <Element T, class F = DistanceOf<T>>
  PointStore<F> bring_points(const MatrixView<T>& points, const Metric& metric, bool bias, RowGaps gaps) {
    if (can_borrow(points, gaps)) {
      if constexpr (std::is_same_v<T, F>) {
        PointStore<F> store({points.data, points.rows, points.row_stride}, points.cols, metric, bias, stream_);
        store.prepare(points.rows);
        return store;
      }
    }
    PointStore<F> store(points.rows, points.cols, metric, bias, stream_);
    bring(points, store.rows());
    store.prepare(points.rows);
    return store;
  }

  // Points as they are stored; those of the device are used where they lie if they can be.
  template <Element T>
  std::unique_ptr<NarrowPoints<T>> bring_narrow(const MatrixView<T>& points, const Metric& metric, bool bias) {
    if (NarrowPoints<T>::can_borrow(points)) return std::make_unique<NarrowPoints<T>>(points, metric, bias, stream_);
    auto brought = std::make_unique<NarrowPoints<T>>(points.rows, points.cols, metric, bias, stream_);
    if (brought->stride() == points.cols) {
      bring_packed(points, brought->rows());
      return brought;
    }
    constexpr std::int64_t kPart = std::int64_t{32} << 20;  // values
    const std::int64_t rows = std::clamp<std::int64_t>(kPart / points.cols, 1, points.rows);
    DeviceBuffer<T> packed(as_size(rows * points.cols), stream_);
    for (std::int64_t first = 0; first < points.rows; first += rows) {
      const std::int64_t count = std::min(rows, points.rows - first);
      bring_packed(points.rows_from(first, count), packed.data());
      const std::size_t width = as_size(points.cols) * sizeof(T);
      KITH_CUDA(cudaMemcpy2DAsync(brought->rows() + first * brought->stride(), as_size(brought->stride()) * sizeof(T),
                                  packed.data(), width, width, as_size(count), cudaMemcpyDeviceToDevice, stream_));
    }
    return brought;
  }

  // Values, packed and in working precision.
  template <Element T, class F = DistanceOf<T>>
  void bring(const MatrixView<T>& values, F* to) {
    if (values.memory == Memory::host) return staging().upload(values, to);
    if constexpr (std::is_same_v<T, F>) {
      if (values.col_stride == 1 && values.row_stride >= values.cols) return copy_rows(values, to);
    }
    pack_rows(values, to, stream_);
  }

  // Values of the device to the caller's memory. Those of the host are there when this returns.
  template <class F, class T>
  void take(const F* from, std::int64_t count, Memory memory, T* to) {
    if (memory == Memory::host) return staging().download(from, count, to);
    if constexpr (std::is_same_v<T, F>) {
      KITH_CUDA(cudaMemcpyAsync(to, from, as_size(count) * sizeof(F), cudaMemcpyDeviceToDevice, stream_));
    } else {
      convert_values(from, count, to, stream_);
    }
  }

  template <Element T>
  static bool can_borrow(const MatrixView<T>& points, RowGaps gaps) {
    return points.memory == Memory::device && std::is_same_v<T, DistanceOf<T>> && points.col_stride == 1 &&
           (gaps == RowGaps::allowed ? points.row_stride >= points.cols : points.row_stride == points.cols);
  }

 private:
  template <class T>
  void bring_packed(const MatrixView<T>& values, T* to) {
    if (values.memory == Memory::host) return staging().upload(values, to);
    pack_rows(values, to, stream_);
  }

  template <class F>
  void copy_rows(const MatrixView<F>& from, F* to) const {
    const std::size_t width = as_size(from.cols) * sizeof(F);
    KITH_CUDA(cudaMemcpy2DAsync(to, width, from.data, as_size(from.row_stride) * sizeof(F), width, as_size(from.rows),
                                cudaMemcpyDeviceToDevice, stream_));
  }

  cudaStream_t stream_;
  std::int64_t bytes_;
  std::optional<Staging> staging_;
};

// In working precision.
template <Element T>
std::int64_t bytes_of(const MatrixView<T>& points) {
  return points.rows * points.cols * static_cast<std::int64_t>(sizeof(DistanceOf<T>));
}

// An answer of `count` values: made where the caller wants it, or beside it and taken there.
template <class V>
class Answer {
 public:
  Answer(V* out, Memory memory, std::int64_t count, HostLink& link)
      : out_(out),
        memory_(memory),
        count_(count),
        link_(link),
        made_(memory == Memory::host ? as_size(count) : 0, link.stream()) {}

  V* data() { return memory_ == Memory::host ? made_.data() : out_; }
  // Once all that writes it is enqueued.
  void deliver() {
    if (memory_ == Memory::host) link_.take(made_.data(), count_, memory_, out_);
  }

 private:
  template <class A, class B>
  friend void deliver(const Answer<A>& first, const Answer<B>& second);
  void add_to(std::vector<Staging::Download>& parts) const {
    link_.staging().add_downloads(made_.data(), count_, out_, parts);
  }

  V* out_;
  Memory memory_;
  std::int64_t count_;
  HostLink& link_;
  DeviceBuffer<V> made_;
};

// Both answers of one search, in the same memory; one is written while the other is on its way.
template <class A, class B>
void deliver(const Answer<A>& first, const Answer<B>& second) {
  if (first.memory_ != Memory::host) return;
  std::vector<Staging::Download> parts;
  first.add_to(parts);
  second.add_to(parts);
  first.link_.staging().download(parts);
}

}  // namespace kith::KITH_BACKEND::host_data
