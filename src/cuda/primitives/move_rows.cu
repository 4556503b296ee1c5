// move_rows.cu: one thread per value or id.
#include "cuda/primitives/move_rows.hpp"

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::inline primitives {
namespace {

__global__ void narrow_ids_kernel(const std::int64_t* ids, std::int64_t count, unsigned* out) {
  const std::int64_t i = thread_index();
  if (i < count) out[i] = static_cast<unsigned>(ids[i]);
}

template <class V, bool kGather>
__global__ void move_rows_kernel(const V* from, const unsigned* chosen, std::int64_t count, std::int64_t width, V* to) {
  const std::int64_t i = thread_index();
  if (i >= count * width) return;
  const std::int64_t there = chosen[i / width] * width + i % width;
  if constexpr (kGather) {
    to[i] = from[there];
  } else {
    to[there] = from[i];
  }
}

__global__ void widen_ids_kernel(const unsigned* ids, std::int64_t count, std::int64_t* out) {
  const std::int64_t i = thread_index();
  if (i < count) out[i] = ids[i];
}

}  // namespace

template <class V>
void gather_rows(const V* from, const unsigned* chosen, std::int64_t count, std::int64_t width, V* to,
                 cudaStream_t stream) {
  launch("gather_rows", move_rows_kernel<V, true>, thread_each(count * width), stream, from, chosen, count, width, to);
}

template <class V>
void scatter_rows(const V* from, const unsigned* chosen, std::int64_t count, std::int64_t width, V* to,
                  cudaStream_t stream) {
  launch("scatter_rows", move_rows_kernel<V, false>, thread_each(count * width), stream, from, chosen, count, width,
         to);
}

void narrow_ids(const std::int64_t* ids, std::int64_t count, unsigned* out, cudaStream_t stream) {
  launch("narrow_ids", narrow_ids_kernel, thread_each(count), stream, ids, count, out);
}

void widen_ids(const unsigned* ids, std::int64_t count, std::int64_t* out, cudaStream_t stream) {
  launch("widen_ids", widen_ids_kernel, thread_each(count), stream, ids, count, out);
}

#define KITH_INSTANTIATE(V)                                                                           \
  template void gather_rows(const V*, const unsigned*, std::int64_t, std::int64_t, V*, cudaStream_t); \
  template void scatter_rows(const V*, const unsigned*, std::int64_t, std::int64_t, V*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(unsigned)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::inline primitives
