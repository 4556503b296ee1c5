// cuda_streams.hpp: the little of the CUDA runtime that the Python side needs. Devices are numbers, -1 for none, of
// which nothing is asked; where the build has no CUDA, another throws Error(no_device).
#pragma once

#include <cstdint>

namespace kith::python {

// The current device; -1 where there is none.
int current_cuda_device() noexcept;

// While one lives, `device` is the current one.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = -1;
};

// A stream is a cudaStream_t as a number; 1 is the legacy default stream, 2 the thread's own.
inline void* cuda_stream(std::uintptr_t stream) {
  return reinterpret_cast<void*>(stream);  // NOLINT: a handle that came as a number
}
// Waits for a stream of the device.
void synchronize(int device, std::uintptr_t stream);
// Waits for everything on the device; for destructors, so that no error comes of it.
void drain(int device) noexcept;

}  // namespace kith::python
