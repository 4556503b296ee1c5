// pack_rows.cu: a thread converts a value.
#include "cuda/points/pack_rows.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::inline points {
namespace {

template <class T, class F>
__global__ void pack_rows_kernel(MatrixView<T> from, F* to) {
  const std::int64_t i = thread_index();
  if (i >= from.rows * from.cols) return;
  const std::int64_t at = i / from.cols * from.row_stride + i % from.cols * from.col_stride;
  to[i] = static_cast<F>(from.data[at]);
}

template <class F, class T>
__global__ void convert_values_kernel(const F* from, std::int64_t count, T* to) {
  const std::int64_t i = thread_index();
  if (i < count) to[i] = static_cast<T>(from[i]);
}

}  // namespace

template <class T, class F>
void pack_rows(const MatrixView<T>& from, F* to, cudaStream_t stream) {
  launch("pack_rows", pack_rows_kernel<T, F>, thread_each(from.rows * from.cols), stream, from, to);
}

template <class F, class T>
void convert_values(const F* from, std::int64_t count, T* to, cudaStream_t stream) {
  launch("convert_values", convert_values_kernel<F, T>, thread_each(count), stream, from, count, to);
}

#define KITH_INSTANTIATE(T, F)                                     \
  template void pack_rows(const MatrixView<T>&, F*, cudaStream_t); \
  template void convert_values(const F*, std::int64_t, T*, cudaStream_t);
KITH_INSTANTIATE(float, float)
KITH_INSTANTIATE(double, double)
KITH_INSTANTIATE(std::uint8_t, float)
KITH_INSTANTIATE(std::int8_t, float)
KITH_INSTANTIATE(Float16, float)
KITH_INSTANTIATE(BFloat16, float)
#undef KITH_INSTANTIATE
template void pack_rows(const MatrixView<std::uint8_t>&, std::uint8_t*, cudaStream_t);
template void pack_rows(const MatrixView<std::int8_t>&, std::int8_t*, cudaStream_t);
template void pack_rows(const MatrixView<Float16>&, Float16*, cudaStream_t);
template void pack_rows(const MatrixView<BFloat16>&, BFloat16*, cudaStream_t);

}  // namespace kith::KITH_BACKEND::inline points
