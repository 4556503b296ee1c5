// tensor_map.cpp: checks of tensor maps, whose encoding by the driver says only that a value is wrong, and the
// encoding.
#include "cuda/runtime/tensor_map.hpp"

#include <string>

#include "cuda/runtime/check.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::inline runtime {

namespace {

void require(bool condition, const char* what, std::uint64_t value, const char* limit) {
  if (condition) return;
  throw Error(ErrorCode::internal,
              std::string("tensor map: ") + what + " = " + std::to_string(value) + ", but " + limit);
}

void check(const TensorShape& shape) {
  const std::uint64_t box_bytes = std::uint64_t{shape.box_width} * shape.element_bytes;
  const auto swizzle = static_cast<unsigned>(shape.swizzle);
  const auto in_box = [](unsigned size) { return size >= 1 && size <= 256; };
  const auto in_matrix = [](std::uint64_t size) { return size >= 1 && size <= std::uint64_t{1} << 32U; };
  require(shape.element_bytes == 1 || shape.element_bytes == 2 || shape.element_bytes == 4, "element_bytes",
          shape.element_bytes, "elements have 1, 2 or 4 bytes");
  require(reinterpret_cast<std::uintptr_t>(shape.base) % 16 == 0, "base", reinterpret_cast<std::uintptr_t>(shape.base),
          "it must be a multiple of 16");
  require(in_matrix(shape.width), "width", shape.width, "it must be 1 to 2^32");
  require(in_matrix(shape.height), "height", shape.height, "it must be 1 to 2^32");
  require(shape.row_bytes % 16 == 0, "row_bytes", shape.row_bytes, "it must be a multiple of 16");
  require(shape.row_bytes >= shape.width * shape.element_bytes && shape.row_bytes < std::uint64_t{1} << 40U,
          "row_bytes", shape.row_bytes, "it must hold a row, and be below 2^40");
  require(in_box(shape.box_width), "box_width", shape.box_width, "it must be 1 to 256");
  require(in_box(shape.box_height), "box_height", shape.box_height, "it must be 1 to 256");
  require(box_bytes % 16 == 0, "bytes of a box's row", box_bytes, "they must be a multiple of 16");
  require(swizzle == 0 || box_bytes == swizzle, "bytes of a box's row", box_bytes, "they must be those of the swizzle");
}

}  // namespace

#if defined(KITH_IS_EMULATED)

TensorMap tensor_map(const TensorShape& shape) {
  check(shape);
  return {shape.base,      shape.element_bytes, shape.width,      shape.height,
          shape.row_bytes, shape.box_width,     shape.box_height, static_cast<unsigned>(shape.swizzle)};
}

#else

namespace {

CUtensorMapDataType type_of(unsigned element_bytes) {
  switch (element_bytes) {
    case 1: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case 2: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
  }
}

CUtensorMapSwizzle swizzle_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return CU_TENSOR_MAP_SWIZZLE_NONE;
    case Swizzle::bytes_32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::bytes_64: return CU_TENSOR_MAP_SWIZZLE_64B;
    default: return CU_TENSOR_MAP_SWIZZLE_128B;
  }
}

// The driver's function is asked for at run time: the library is not linked with the driver.
auto encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  KITH_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) raise(cudaErrorInsufficientDriver, "cuTensorMapEncodeTiled", 0);
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

}  // namespace

TensorMap tensor_map(const TensorShape& shape) {
  check(shape);
  static const auto encode = encoder();
  TensorMap map;
  const cuuint64_t sizes[] = {shape.width, shape.height};
  const cuuint64_t strides[] = {shape.row_bytes};
  const cuuint32_t box[] = {shape.box_width, shape.box_height};
  const cuuint32_t steps[] = {1, 1};
  const CUresult result = encode(&map, type_of(shape.element_bytes), 2, const_cast<void*>(shape.base), sizes, strides,
                                 box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(shape.swizzle),
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) raise(cudaErrorInvalidValue, "cuTensorMapEncodeTiled", 0);
  return map;
}

#endif

}  // namespace kith::KITH_BACKEND::inline runtime
