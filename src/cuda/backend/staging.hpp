// staging.hpp: between the caller's memory and the device's, through two pinned buffers: one is filled or emptied while
// the other is copied. A matrix arrives packed and in working precision, whatever its strides and its type were.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "kith/matrix.hpp"

namespace kith::KITH_BACKEND {

// Rows one after the other, as values of F.
template <class T, class F>
void pack(const MatrixView<T>& from, F* to) {
  if constexpr (std::is_same_v<T, F>) {
    if (from.col_stride == 1) {
      for (std::int64_t r = 0; r < from.rows; ++r)
        std::memcpy(to + r * from.cols, from.row(r), static_cast<std::size_t>(from.cols) * sizeof(T));
      return;
    }
  }
  constexpr std::int64_t kBlock = 64;  // columns whose cache lines stay while the rows pass
  for (std::int64_t first = 0; first < from.cols; first += kBlock) {
    const std::int64_t last = std::min(first + kBlock, from.cols);
    for (std::int64_t r = 0; r < from.rows; ++r)
      for (std::int64_t c = first; c < last; ++c) to[r * from.cols + c] = static_cast<F>(from(r, c));
  }
}

class Staging {
 public:
  // Each buffer has this many bytes, at least 8.
  Staging(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
    for (Buffer& buffer : buffers_) buffer.memory = PinnedBuffer<unsigned char>(bytes);
  }

  // Returns when the matrix has been read, not when it has arrived.
  template <class T, class F>
  void upload(const MatrixView<T>& from, F* to) {
    const std::int64_t room = room_for<F>();
    const std::int64_t rows = std::max<std::int64_t>(1, room / from.cols);
    const std::int64_t cols = std::min(from.cols, room);
    for (std::int64_t r = 0; r < from.rows; r += rows) {
      const MatrixView<T> some = from.rows_from(r, std::min(rows, from.rows - r));
      for (std::int64_t c = 0; c < from.cols; c += cols) {
        const MatrixView<T> piece(some.data + c * some.col_stride, some.rows, std::min(cols, from.cols - c),
                                  some.row_stride, some.col_stride);
        send(piece, to + r * from.cols + c);
      }
    }
  }

  // Waits for what the stream does before, and for the values.
  template <class F, class T>
  void download(const F* from, std::int64_t count, T* to) {
    const std::int64_t room = room_for<F>();
    for (std::int64_t asked = 0, got = 0; got < count;) {
      while (asked < count && asked < got + 2 * room) {
        const std::int64_t now = std::min(room, count - asked);
        Buffer& buffer = buffers_[static_cast<std::size_t>(asked / room % 2)];
        copy(buffer.memory.data(), from + asked, static_cast<std::size_t>(now) * sizeof(F), cudaMemcpyDeviceToHost);
        buffer.copied.record(stream_);
        asked += now;
      }
      const Buffer& buffer = buffers_[static_cast<std::size_t>(got / room % 2)];
      buffer.copied.synchronize();
      const std::int64_t now = std::min(room, count - got);
      const F* values = reinterpret_cast<const F*>(buffer.memory.data());
      std::transform(values, values + now, to + got, [](F value) { return static_cast<T>(value); });
      got += now;
    }
  }

 private:
  struct Buffer {
    PinnedBuffer<unsigned char> memory;
    Event copied;  // the last copy from or to it
  };

  template <class F>
  std::int64_t room_for() const {
    return static_cast<std::int64_t>(buffers_[0].memory.size() / sizeof(F));
  }

  template <class T, class F>
  void send(const MatrixView<T>& piece, F* to) {
    Buffer& buffer = buffers_[next_];
    next_ = 1 - next_;
    buffer.copied.synchronize();
    pack(piece, reinterpret_cast<F*>(buffer.memory.data()));
    copy(to, buffer.memory.data(), static_cast<std::size_t>(piece.rows * piece.cols) * sizeof(F),
         cudaMemcpyHostToDevice);
    buffer.copied.record(stream_);
  }

  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "cudaMemcpyAsync", bytes);
  }

  cudaStream_t stream_;
  std::array<Buffer, 2> buffers_;
  std::size_t next_ = 0;
};

}  // namespace kith::KITH_BACKEND
