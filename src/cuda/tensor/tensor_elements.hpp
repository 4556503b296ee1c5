// tensor_elements.hpp: the kernels of each kind of elements, which are compiled apart.
#pragma once

#include "cuda/tensor/tensor_filter.hpp"

namespace kith::KITH_BACKEND::tensor {

void filter_fp16(const TensorFilterCall& call);
void filter_int8(const TensorFilterCall& call);
void filter_uint8(const TensorFilterCall& call);
void sample_fp16(const TensorSampleCall& call);
void sample_int8(const TensorSampleCall& call);
void sample_uint8(const TensorSampleCall& call);

}  // namespace kith::KITH_BACKEND::tensor
