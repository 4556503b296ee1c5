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

cudaStream_t handle_of(std::uintptr_t stream) {
  return reinterpret_cast<cudaStream_t>(stream);  // NOLINT: a handle that came as a number
}

}  // namespace

CurrentDevice::CurrentDevice(int device) {
  check(cudaGetDevice(&before_), "the current CUDA device");
  if (device != before_) check(cudaSetDevice(device), "choosing a CUDA device");
}

CurrentDevice::~CurrentDevice() {
  cudaSetDevice(before_);
}

void synchronize(std::uintptr_t stream) {
  check(cudaStreamSynchronize(handle_of(stream)), "waiting for a CUDA stream");
}

void drain_device() noexcept {
  cudaDeviceSynchronize();
}

#else

namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::no_device, "an array lies on a CUDA device, but this build of kith has no CUDA");
}

}  // namespace

CurrentDevice::CurrentDevice(int) {
  refuse();
}
CurrentDevice::~CurrentDevice() = default;
void synchronize(std::uintptr_t) {
  refuse();
}
void drain_device() noexcept {}

#endif

}  // namespace kith::python
