#include "cuda_streams.hpp"

#include <string>

#include "kith/error.hpp"

#ifdef KITH_HAS_CUDA
#include <cuda_runtime.h>
#endif

namespace kith::python {

#ifdef KITH_HAS_CUDA

namespace {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw Error(ErrorCode::internal, std::string(what) + ": " + cudaGetErrorString(status));
}

}  // namespace

int current_cuda_device() noexcept {
  int device = -1;
  return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

CurrentDevice::CurrentDevice(int device) {
  if (device < 0) return;
  check(cudaGetDevice(&before_), "the current CUDA device");
  if (device != before_) check(cudaSetDevice(device), "choosing a CUDA device");
}

CurrentDevice::~CurrentDevice() {
  if (before_ >= 0) cudaSetDevice(before_);
}

void synchronize(int device, std::uintptr_t stream) {
  if (device < 0) return;
  const CurrentDevice current(device);
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(cuda_stream(stream))), "waiting for a CUDA stream");
}

void drain(int device) noexcept {
  if (device < 0) return;
  int before = -1;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  cudaDeviceSynchronize();
  cudaSetDevice(before);
}

#else

namespace {

void refuse(int device) {
  if (device >= 0)
    throw Error(ErrorCode::no_device, "an array lies on a CUDA device, but this build of kith has no CUDA");
}

}  // namespace

int current_cuda_device() noexcept {
  return -1;
}

CurrentDevice::CurrentDevice(int device) {
  refuse(device);
}
CurrentDevice::~CurrentDevice() = default;
void synchronize(int device, std::uintptr_t) {
  refuse(device);
}
void drain(int) noexcept {}

#endif

}  // namespace kith::python
