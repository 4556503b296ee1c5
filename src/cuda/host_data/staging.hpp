// staging.hpp: between the caller's memory and the device's. A matrix arrives packed and in working precision, whatever
// its strides and its type were: threads pack pieces of it into pinned buffers of their own, two each, of which one is
// filled while the other is copied. What is pinned already and need not be packed is copied from or to where it lies.
// Buffers are borrowed when they are first needed, and are there for the next call (runtime/spares.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "kith/matrix.hpp"

namespace kith::KITH_BACKEND::host_data {

// Rows one after the other, as values of F.
template <class T, class F>
void pack(const MatrixView<T>& from, F* to) {
  if (from.col_stride == 1) {
    const bool packed = from.row_stride == from.cols;
    const std::int64_t rows = packed ? 1 : from.rows;
    const std::int64_t cols = packed ? from.rows * from.cols : from.cols;
    for (std::int64_t r = 0; r < rows; ++r) {
      if constexpr (std::is_same_v<T, F>) {
        std::memcpy(to + r * cols, from.row(r), static_cast<std::size_t>(cols) * sizeof(T));
      } else {
        std::transform(from.row(r), from.row(r) + cols, to + r * cols, [](T value) { return static_cast<F>(value); });
      }
    }
    return;
  }
  constexpr std::int64_t kBlock = 64;  // columns whose cache lines stay while the rows pass
  for (std::int64_t first = 0; first < from.cols; first += kBlock) {
    const std::int64_t last = std::min(first + kBlock, from.cols);
    for (std::int64_t r = 0; r < from.rows; ++r)
      for (std::int64_t c = first; c < last; ++c) to[r * from.cols + c] = static_cast<F>(from(r, c));
  }
}

struct StagingShape {
  std::size_t buffer_bytes = 8;  // at least 8
  int threads = 1;               // that pack, the caller's among them
};

// For that many bytes in all: as many threads as they are worth, and pieces small enough that all threads have some and
// that the first is on its way while the next is packed.
StagingShape staging_shape(std::int64_t bytes);

// Whether all of these bytes are page-locked, by their first and their last.
bool is_pinned(const void* first, std::size_t bytes);

// Calls task(i, worker) for every i below count, on up to `threads` threads with the caller's device; worker 0 is the
// calling thread. The first fault ends the hand-out and is thrown when all threads have stopped. A thread that cannot
// be started is done without.
void share_out(std::int64_t count, int threads, const std::function<void(std::int64_t i, int worker)>& task);

class Staging {
 public:
  Staging(const StagingShape& shape, cudaStream_t stream)
      : stream_(stream),
        room_(shape.buffer_bytes / kAlignment * kAlignment),
        lanes_(static_cast<std::size_t>(shape.threads)) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  // The caller's memory may be given back afterwards, and so may the buffers.
  ~Staging() { cudaStreamSynchronize(stream_); }

  // Returns when the matrix has been read, or, where it is copied from where it lies, before: it must stay until the
  // stream is waited for or this is gone.
  template <class T, class F>
  void upload(const MatrixView<T>& from, F* to) {
    if (from.rows == 0 || from.cols == 0) return;
    if constexpr (std::is_same_v<T, F>) {
      if (can_copy(from)) return copy_rows(from, to);
    }
    const std::int64_t room = room_for<F>();
    const std::int64_t cols = std::min(from.cols, room);
    const std::int64_t rows = std::max<std::int64_t>(1, room / from.cols);
    const std::int64_t across = (from.cols + cols - 1) / cols;
    const std::int64_t down = (from.rows + rows - 1) / rows;
    share_out(down * across, static_cast<int>(lanes_.size()), [&](std::int64_t piece, int worker) {
      const std::int64_t r = piece / across * rows;
      const std::int64_t c = piece % across * cols;
      send(MatrixView<T>(from.row(r) + c * from.col_stride, std::min(rows, from.rows - r),
                         std::min(cols, from.cols - c), from.row_stride, from.col_stride),
           to + r * from.cols + c, static_cast<std::size_t>(worker));
    });
  }

  // What fits into a buffer, on its way to the caller's memory; without `write` it is copied there at once.
  struct Download {
    const void* from;
    std::size_t bytes;
    void* to;
    void (*write)(const void* values, std::size_t bytes, void* to);
  };

  // Appends the parts of `count` values, which are to be written as values of T.
  template <class F, class T>
  void add_downloads(const F* from, std::int64_t count, T* to, std::vector<Download>& parts) const {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(F);
    if (std::is_same_v<T, F> && bytes >= kLeastDirect && is_pinned(to, bytes)) {
      parts.push_back({from, bytes, to, nullptr});
      return;
    }
    const std::int64_t room = room_for<F>();
    for (std::int64_t first = 0; first < count; first += room)
      parts.push_back({from + first, static_cast<std::size_t>(std::min(room, count - first)) * sizeof(F), to + first,
                       write_values<F, T>});
  }

  // Waits for what the stream does before, and for the values. One part is copied while another is written.
  void download(const std::vector<Download>& parts) {
    Lane& lane = lanes_[0];
    for (std::size_t asked = 0, got = 0; got < parts.size(); ++got) {
      for (; asked < parts.size() && asked < got + kEach; ++asked) {
        const Download& part = parts[asked];
        copy(part.write == nullptr ? part.to : buffer<void>(0, asked % kEach), part.from, part.bytes,
             cudaMemcpyDeviceToHost);
        lane.copied[asked % kEach].record(stream_);
      }
      lane.copied[got % kEach].synchronize();
      const Download& part = parts[got];
      if (part.write != nullptr) part.write(buffer<void>(0, got % kEach), part.bytes, part.to);
    }
  }
  template <class F, class T>
  void download(const F* from, std::int64_t count, T* to) {
    std::vector<Download> parts;
    add_downloads(from, count, to, parts);
    download(parts);
  }

 private:
  static constexpr std::size_t kEach = 2;       // buffers of a thread
  static constexpr std::size_t kAlignment = 8;  // of every buffer, for any F
  static constexpr std::int64_t kLongestPitch = 0x7FFFFFFF;
  static constexpr std::size_t kLeastDirect = 1 << 16;  // bytes; fewer are written sooner than asked about
  static constexpr std::int64_t kNarrowestRow = 256;  // bytes; copying narrower ones one by one is slower than packing

  // Of one thread; copied: the last copy from or to the buffer.
  struct Lane {
    PinnedLoan memory[kEach];
    Event copied[kEach];
    std::size_t next = 0;
  };

  template <class F, class T>
  static void write_values(const void* values, std::size_t bytes, void* to) {
    const F* const first = static_cast<const F*>(values);
    std::transform(first, first + bytes / sizeof(F), static_cast<T*>(to),
                   [](F value) { return static_cast<T>(value); });
  }

  template <class F>
  std::int64_t room_for() const {
    return static_cast<std::int64_t>(room_ / sizeof(F));
  }

  template <class F>
  F* buffer(std::size_t lane, std::size_t turn) {
    PinnedLoan& memory = lanes_[lane].memory[turn];
    if (memory.size() == 0) memory = PinnedLoan(room_);
    return memory.as<F>();
  }

  template <class T>
  static bool can_copy(const MatrixView<T>& from) {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
    if (from.col_stride != 1 || from.row_stride < from.cols) return false;
    if (from.row_stride > from.cols && (from.cols * kBytes < kNarrowestRow || from.row_stride * kBytes > kLongestPitch))
      return false;
    return is_pinned(from.data, static_cast<std::size_t>((from.rows - 1) * from.row_stride + from.cols) * sizeof(T));
  }

  template <class T>
  void copy_rows(const MatrixView<T>& from, T* to) {
    const std::size_t width = static_cast<std::size_t>(from.cols) * sizeof(T);
    const std::size_t rows = static_cast<std::size_t>(from.rows);
    if (from.row_stride == from.cols) return copy(to, from.data, width * rows, cudaMemcpyHostToDevice);
    const std::size_t pitch = static_cast<std::size_t>(from.row_stride) * sizeof(T);
    check(cudaMemcpy2DAsync(to, width, from.data, pitch, width, rows, cudaMemcpyHostToDevice, stream_),
          "cudaMemcpy2DAsync", width * rows);
  }

  template <class T, class F>
  void send(const MatrixView<T>& piece, F* to, std::size_t worker) {
    Lane& lane = lanes_[worker];
    Event& copied = lane.copied[lane.next];
    F* const packed = buffer<F>(worker, lane.next);
    lane.next = (lane.next + 1) % kEach;
    copied.synchronize();
    pack(piece, packed);
    copy(to, packed, static_cast<std::size_t>(piece.rows * piece.cols) * sizeof(F), cudaMemcpyHostToDevice);
    copied.record(stream_);
  }

  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "cudaMemcpyAsync", bytes);
  }

  cudaStream_t stream_;
  std::size_t room_;  // of a buffer
  std::vector<Lane> lanes_;
};

}  // namespace kith::KITH_BACKEND::host_data
