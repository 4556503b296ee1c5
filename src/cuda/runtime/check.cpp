// check.cpp: the text and the error code of a failed CUDA call.
#include "cuda/runtime/check.hpp"

#include <string>

#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline runtime {

void raise(cudaError_t status, const char* call, std::size_t bytes) {
  int device = -1;
  cudaGetDevice(&device);
  cudaGetLastError();  // so that the next call does not report this one again
  std::string text = std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ") from " + call;
  if (bytes > 0) text += " of " + std::to_string(bytes) + " bytes";
  text += " on device " + std::to_string(device);
  switch (status) {
    case cudaErrorMemoryAllocation: throw Error(ErrorCode::out_of_memory, text);
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver: throw Error(ErrorCode::no_device, text);
    default: throw Error(ErrorCode::internal, text);
  }
}

}  // namespace kith::KITH_BACKEND::inline runtime
