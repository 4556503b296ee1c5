// backend.hpp: what the library calls of the backends for devices. Plain C++: it is included where there is no CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/topk.hpp"

namespace kith {

// What kernels number columns with has 32 bits, and some count past the end of a row.
constexpr std::int64_t kLongestDeviceRow = 0x7FFFFFFF;

// A matrix on a device and where its answer goes: rows × k values and ids (rows × 1 for kth_only; null for no ids).
template <class T>
struct DeviceTopk {
  const T* values = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t k = 0;
  T* values_out = nullptr;
  std::int64_t* ids_out = nullptr;
};

}  // namespace kith

// device_count        devices that can be used; 0 where there is none or no driver
// device_list         what they are
// select_method_names "auto" first
// topk                of a matrix of the host, on the current device; `out` has its sizes
// enqueue_topk        of a matrix of the device, on the caller's stream (a cudaStream_t), without waiting for it
#define KITH_DECLARE_BACKEND(backend)                                                               \
  namespace kith::backend {                                                                         \
  int device_count();                                                                               \
  std::vector<Device> device_list();                                                                \
  std::vector<std::string> select_method_names();                                                   \
  template <Element T>                                                                              \
  void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, Topk<T>& out); \
  template <class T>                                                                                \
  void enqueue_topk(const DeviceTopk<T>& work, const TopkOptions& options, void* stream);           \
  }

KITH_DECLARE_BACKEND(cuda)
KITH_DECLARE_BACKEND(emulated)

#undef KITH_DECLARE_BACKEND
