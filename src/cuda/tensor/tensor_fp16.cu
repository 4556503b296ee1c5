// tensor_fp16.cu: tensor_filter() and tensor_sample() for products in fp16.
#include "cuda/tensor/tensor_elements.hpp"
#include "cuda/tensor/tensor_launch.cuh"

namespace kith::KITH_BACKEND::tensor {

void filter_fp16(const TensorFilterCall& call) {
  filter_elements<WgmmaElement::fp16>(call);
}

void sample_fp16(const TensorSampleCall& call) {
  sample_elements<WgmmaElement::fp16>(call);
}

}  // namespace kith::KITH_BACKEND::tensor
