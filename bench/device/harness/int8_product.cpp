#include "device/harness/int8_product.hpp"

#if defined(KITH_IS_EMULATED)

namespace kith::bench::device {

std::optional<Ceiling> int8_ceiling(std::int64_t /*side*/, cudaStream_t /*stream*/) {
  return std::nullopt;
}

}  // namespace kith::bench::device

#else

#include <cublasLt.h>
#include <dlfcn.h>

#include <string>

#include "cuda/primitives/matrix_multiply.hpp"

namespace kith::bench::device {
namespace {

// The functions of the library that the backend has opened, and only those that one product needs.
struct Int8Library {
  Int8Library() {
    if (!cuda::can_multiply()) return;
    void* const handle = dlopen(("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR)).c_str(), RTLD_NOW | RTLD_LOCAL);
    complete =
        handle != nullptr && find(handle, create, "cublasLtCreate") &&
        find(handle, heuristic, "cublasLtMatmulAlgoGetHeuristic") && find(handle, matmul, "cublasLtMatmul") &&
        find(handle, describe, "cublasLtMatmulDescCreate") && find(handle, set, "cublasLtMatmulDescSetAttribute") &&
        find(handle, prefer, "cublasLtMatmulPreferenceCreate") && find(handle, layout, "cublasLtMatrixLayoutCreate");
  }

  template <class Function>
  static bool find(void* handle, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }

  bool complete = false;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) describe = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) prefer = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout = nullptr;
};

// What cuBLASLt wants to know; a few hundred bytes that stay until the program ends. It is given no workspace.
struct Int8Product {
  explicit Int8Product(std::int64_t side) {
    if (!library.complete) return;
    const auto length = static_cast<std::uint64_t>(side);
    const auto transposed = static_cast<std::int32_t>(CUBLAS_OP_T);
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const bool described =
        is_ok(library.create(&handle)) && is_ok(library.describe(&operation, CUBLAS_COMPUTE_32I, CUDA_R_32I)) &&
        is_ok(library.set(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed))) &&
        is_ok(library.layout(&factor, CUDA_R_8I, length, length, side)) &&
        is_ok(library.layout(&result, CUDA_R_32I, length, length, side)) && is_ok(library.prefer(&preference));
    ready =
        described &&
        is_ok(library.heuristic(handle, operation, factor, factor, result, result, preference, 1, &found, &count)) &&
        count > 0 && found.workspaceSize == 0;
    algorithm = found.algo;
  }

  static bool is_ok(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS; }

  bool run(const std::int8_t* values, std::int32_t* products, cudaStream_t stream) const {
    const std::int32_t one = 1;
    const std::int32_t zero = 0;
    return is_ok(library.matmul(handle, operation, &one, values, factor, values, factor, &zero, products, result,
                                products, result, &algorithm, nullptr, 0, stream));
  }

  Int8Library library;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t factor = nullptr;
  cublasLtMatrixLayout_t result = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  bool ready = false;
};

}  // namespace

std::optional<Ceiling> int8_ceiling(std::int64_t side, cudaStream_t stream) {
  const auto product = std::make_shared<Int8Product>(side);
  if (!product->ready) return std::nullopt;
  const auto count = static_cast<std::size_t>(side * side);
  const auto values = std::make_shared<cuda::DeviceBuffer<std::int8_t> >(count, stream);
  const auto products = std::make_shared<cuda::DeviceBuffer<std::int32_t> >(count, stream);
  // Bits of Gaussian floats: all bytes occur, so that the multipliers draw as much power as they would in a search.
  fill_gaussian(reinterpret_cast<float*>(values->data()), count / sizeof(float), stream);
  if (!product->run(values->data(), products->data(), stream)) return std::nullopt;
  const double work = 2.0 * static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side) * 1e-12;
  return Ceiling{"gemm int8", "TOP/s", work, [=] { product->run(values->data(), products->data(), stream); }};
}

}  // namespace kith::bench::device

#endif
