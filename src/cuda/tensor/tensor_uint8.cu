// tensor_uint8.cu: tensor_filter() and tensor_sample() for products in uint8.
#include "cuda/tensor/tensor_elements.hpp"
#include "cuda/tensor/tensor_launch.cuh"

namespace kith::KITH_BACKEND::tensor {

void filter_uint8(const TensorFilterCall& call) {
  filter_elements<WgmmaElement::uint8>(call);
}

void sample_uint8(const TensorSampleCall& call) {
  sample_elements<WgmmaElement::uint8>(call);
}

}  // namespace kith::KITH_BACKEND::tensor
