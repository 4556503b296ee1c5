#include "cuda/fused/filter.hpp"
#include "cuda/fused/filter_kernel.cuh"

namespace kith::KITH_BACKEND {

template <class F>
void fused_pair_filter(const FilterCall<F>& call) {
  launch_filter<true>(call);
}

template void fused_pair_filter(const FilterCall<float>&);
template void fused_pair_filter(const FilterCall<double>&);

}  // namespace kith::KITH_BACKEND
