// spares.hpp: what one search leaves for the next: device memory, page-locked memory and streams.
// Idea    the driver takes milliseconds to map gigabytes or to lock pages, and gives device memory back at every wait.
//         While a KeepSpares lives, device memory comes from a pool of the library's own, which keeps what is freed,
//         and page-locked memory and streams are handed on. When the last one goes, all of it goes.
// Limits  a sixteenth of the device's memory, 128 MiB of page-locked memory, 32 streams. Without a KeepSpares device
//         memory comes from the device's default pool, whose settings are the caller's, and 1 MiB of page-locked memory
//         is kept.
// Thread-safe. In a child of fork() nothing is kept and nothing given back.
#pragma once

#include <cstddef>
#include <utility>

#include "cuda/runtime/check.hpp"

namespace kith::KITH_BACKEND::inline runtime {

// For the device that is current when it is made.
class KeepSpares {
 public:
  KeepSpares();
  KeepSpares(const KeepSpares&) = delete;
  KeepSpares& operator=(const KeepSpares&) = delete;
  ~KeepSpares();

 private:
  int device_ = 0;
};

struct DeviceMemory {
  void* address = nullptr;
  int device = 0;
};

// Memory of the current device, in the stream's order; a search may hand it on (search_memory.hpp).
DeviceMemory allocate_on_device(std::size_t bytes, cudaStream_t stream);
// Whatever device is current: the default stream's handle is the same for all.
void free_on_device(const DeviceMemory& memory, std::size_t bytes, cudaStream_t stream) noexcept;
// The pool that it comes from while there is a KeepSpares; null: the device's default pool.
cudaMemPool_t device_pool();
// Bytes of the current device that are kept and that nobody uses.
std::size_t spare_device_bytes();

// A stream of the current device that does not wait for the default stream. One that was handed on may still have work
// of those who had it before.
struct StreamLoan {
  cudaStream_t stream = nullptr;
  int device = 0;
};
StreamLoan borrow_stream();
void return_stream(const StreamLoan& loan) noexcept;

// Page-locked memory of at least so many bytes, which nothing uses any more when this goes.
class PinnedLoan {
 public:
  PinnedLoan() = default;
  explicit PinnedLoan(std::size_t bytes);
  PinnedLoan(PinnedLoan&& other) noexcept { swap(other); }
  PinnedLoan& operator=(PinnedLoan&& other) noexcept {
    swap(other);
    return *this;
  }
  PinnedLoan(const PinnedLoan&) = delete;
  PinnedLoan& operator=(const PinnedLoan&) = delete;
  ~PinnedLoan();

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t size() const { return bytes_; }

 private:
  void swap(PinnedLoan& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kith::KITH_BACKEND::inline runtime
