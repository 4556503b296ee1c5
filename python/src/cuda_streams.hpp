// cuda_streams.hpp: the little of the CUDA runtime that the Python side needs. Where the build has none, each throws
// Error(no_device).
#pragma once

#include <cstdint>

namespace kith::python {

// While one lives, `device` is the current one.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

// Streams are cudaStream_t as numbers; 1 is the legacy default stream, 2 the thread's own.
void synchronize(std::uintptr_t stream);
// Waits for everything on the current device; for destructors, so that no error comes of it.
void drain_device() noexcept;

}  // namespace kith::python
