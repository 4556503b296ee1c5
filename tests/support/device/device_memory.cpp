// Compiled once for each backend for devices, like the device sources.
#include "support/device_memory.hpp"

#include "cuda/runtime/check.hpp"

namespace kith::test::KITH_BACKEND {
namespace {

void* allocate(std::size_t bytes) {
  void* made = nullptr;
  KITH_CUDA(cudaMalloc(&made, bytes == 0 ? 1 : bytes));
  return made;
}

void release(void* memory) {
  cudaFree(memory);
}

void copy_to(void* memory, const void* host, std::size_t bytes) {
  KITH_CUDA(cudaDeviceSynchronize());
  KITH_CUDA(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
}

void copy_from(void* host, const void* memory, std::size_t bytes) {
  KITH_CUDA(cudaDeviceSynchronize());
  KITH_CUDA(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost));
}

void* make_stream() {
  cudaStream_t stream = nullptr;
  KITH_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void destroy_stream(void* stream) {
  cudaStreamDestroy(static_cast<cudaStream_t>(stream));
}

}  // namespace

const DeviceMemory& device_memory() {
  static const DeviceMemory made{&allocate, &release, &copy_to, &copy_from, &make_stream, &destroy_stream};
  return made;
}

}  // namespace kith::test::KITH_BACKEND
