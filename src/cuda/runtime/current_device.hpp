// current_device.hpp: another device for a while, for what goes when that of the calling thread is any.
#pragma once

#include <cuda_runtime.h>

namespace kith::KITH_BACKEND::inline runtime {

class CurrentDevice {
 public:
  explicit CurrentDevice(int device) noexcept {
    changed_ = cudaGetDevice(&before_) == cudaSuccess && before_ != device && cudaSetDevice(device) == cudaSuccess;
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() {
    if (changed_) cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace kith::KITH_BACKEND::inline runtime
