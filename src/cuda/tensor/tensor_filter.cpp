// tensor_filter.cpp: from calls to the kernels of their elements.
#include "cuda/tensor/tensor_filter.hpp"

#include "cuda/runtime/properties.hpp"
#include "cuda/tensor/tensor_elements.hpp"

namespace kith::KITH_BACKEND::tensor {
namespace {

// Integers are doubled: so many coordinates of magnitude 255 stay below 2^30.
constexpr std::int64_t kMaxIntegerDims = 8192;

}  // namespace

bool has_tensor_filter(Element element, std::int64_t dims) {
  return device_policy().hardware.has_wgmma() && (element == Element::fp16 || dims <= kMaxIntegerDims);
}

void tensor_filter(const TensorFilterCall& call) {
  if (call.product.queries.count == 0 || call.product.base.count == 0) return;
  switch (call.product.element) {
    case Element::fp16: return filter_fp16(call);
    case Element::int8: return filter_int8(call);
    case Element::uint8: return filter_uint8(call);
  }
}

void tensor_sample(const TensorSampleCall& call) {
  if (call.product.queries.count == 0 || call.product.base.count == 0) return;
  switch (call.product.element) {
    case Element::fp16: return sample_fp16(call);
    case Element::int8: return sample_int8(call);
    case Element::uint8: return sample_uint8(call);
  }
}

}  // namespace kith::KITH_BACKEND::tensor
