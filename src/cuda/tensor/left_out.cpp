// left_out.cpp: what is linked where the build has no kernels for compute capability 9.0. has_tensor_filter() says so,
// so that nobody calls these.
#if !defined(KITH_HAS_SM_90_KERNELS) && !defined(KITH_IS_EMULATED)

#include "cuda/tensor/tensor_elements.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::tensor {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::internal, "this build has no kernels for compute capability 9.0");
}

}  // namespace

void filter_fp16(const TensorFilterCall& /*call*/) {
  refuse();
}

void filter_int8(const TensorFilterCall& /*call*/) {
  refuse();
}

void filter_uint8(const TensorFilterCall& /*call*/) {
  refuse();
}

void sample_fp16(const TensorSampleCall& /*call*/) {
  refuse();
}

void sample_int8(const TensorSampleCall& /*call*/) {
  refuse();
}

void sample_uint8(const TensorSampleCall& /*call*/) {
  refuse();
}

}  // namespace kith::KITH_BACKEND::tensor

#endif
