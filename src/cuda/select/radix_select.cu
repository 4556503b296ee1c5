// radix_select.cu: radix select, one block per row (Hanák, 3.7.2 and 4.3.2); see radix_select.cuh.
// Cost: a row of random values is read twice; the set that is left after the first digit moves to the auxiliary array.
// Limits: any k. Workspace: k keys per row, and a quarter of a row's keys for each resident block.
#include "cuda/select/radix_select.cuh"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/bucket_work.hpp"
#include "cuda/select/finish.hpp"

namespace kith::KITH_BACKEND::select {

namespace {

template <class T, unsigned kThreads>
__global__ void __launch_bounds__(kThreads, kBucketBlocks<T, kThreads>)
    radix_select_kernel(Rows<T> rows, unsigned k, KeyOf<T>* aux, unsigned aux_size, KeyOf<T>* out) {
  using Select = RadixSelect<T, kThreads>;
  using Scratch = typename Select::Scratch;
  KITH_SHARED(Scratch, scratch, 1);
  aux += static_cast<std::int64_t>(blockIdx.x) * aux_size;
  for (std::int64_t row = blockIdx.x; row < rows.rows; row += gridDim.x)
    Select(rows, row, aux, aux_size, scratch[0]).in_one_stage(k, out + row * k);
}

}  // namespace

namespace methods {

template <class T>
void radix_select(const SelectCall<T>& call) {
  const BucketWork<T> work = allocate_bucket_work(call);
  launch("radix-select", work.short_rows ? radix_select_kernel<T, 256> : radix_select_kernel<T, 512>,
         {.blocks = work.blocks, .threads = work.short_rows ? 256U : 512U}, call.stream(), call.rows, call.k(),
         work.aux, work.aux_size, work.out);
  finish_rows(work.out, call);
}

template void radix_select<float>(const SelectCall<float>&);
template void radix_select<double>(const SelectCall<double>&);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
