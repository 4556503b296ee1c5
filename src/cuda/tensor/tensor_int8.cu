// tensor_int8.cu: tensor_filter() and tensor_sample() for products in int8.
#include "cuda/tensor/tensor_elements.hpp"
#include "cuda/tensor/tensor_launch.cuh"

namespace kith::KITH_BACKEND::tensor {

void filter_int8(const TensorFilterCall& call) {
  filter_elements<WgmmaElement::int8>(call);
}

void sample_int8(const TensorSampleCall& call) {
  sample_elements<WgmmaElement::int8>(call);
}

}  // namespace kith::KITH_BACKEND::tensor
