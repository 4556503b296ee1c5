// pair_points.cu: one thread a value.
#include "cuda/pairs/pair_points.hpp"

#include <limits>

#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::pairs {
namespace {

// Neighboring threads write neighboring points; rows of a few thousand points are in the cache while they are read.
template <class D>
__global__ void store_by_coordinates_kernel(const D* rows, std::int64_t first, std::int64_t count, std::int64_t dims,
                                            std::int64_t stride, D* to) {
  const std::int64_t i = thread_index();
  if (i >= count * dims) return;
  const std::int64_t c = i / count;
  const std::int64_t row = i % count;
  to[c * stride + first + row] = rows[row * dims + c];
}

template <class D>
__global__ void sample_points_kernel(const D* points, std::int64_t stride, std::int64_t step, std::int64_t count,
                                     std::int64_t dims, D* to, std::int64_t to_stride) {
  const std::int64_t i = thread_index();
  if (i >= count * dims) return;
  const std::int64_t c = i / count;
  const std::int64_t at = i % count;
  to[c * to_stride + at] = points[c * stride + at * step];
}

template <class D>
__global__ void clear_lists_kernel(std::int64_t queries, std::int64_t capacity, D* values, unsigned* ids,
                                   unsigned* counts) {
  constexpr unsigned kLastId = 0xFFFFFFFEU;
  const std::int64_t i = thread_index();
  if (i >= queries * capacity) return;
  values[i] = std::numeric_limits<D>::quiet_NaN();
  ids[i] = kLastId - static_cast<unsigned>(i % capacity);
  if (i < queries) counts[i] = 0;
}

template <class D>
__global__ void pairs_within_kernel(const D* distances, std::int64_t queries, std::int64_t rows, std::int64_t stride,
                                    const D* radii, WithinHit<D>* hits, unsigned long long* count) {
  const std::int64_t i = thread_index();
  if (i >= queries * rows) return;
  const std::int64_t query = i / rows;
  const std::int64_t row = i % rows;
  const D distance = distances[query * stride + row];
  if (!(distance <= radii[query])) return;
  hits[atomicAdd(count, 1ULL)] = {static_cast<unsigned>(query), static_cast<unsigned>(row), distance};
}

}  // namespace

template <class D>
void store_by_coordinates(const D* rows, std::int64_t first, std::int64_t count, std::int64_t dims, std::int64_t stride,
                          D* to, cudaStream_t stream) {
  launch("store_by_coordinates", store_by_coordinates_kernel<D>, thread_each(count * dims), stream, rows, first, count,
         dims, stride, to);
}

template <class D>
void sample_points(const D* points, std::int64_t stride, std::int64_t step, std::int64_t count, std::int64_t dims,
                   D* to, std::int64_t to_stride, cudaStream_t stream) {
  launch("sample_points", sample_points_kernel<D>, thread_each(count * dims), stream, points, stride, step, count, dims,
         to, to_stride);
}

template <class D>
void clear_lists(std::int64_t queries, std::int64_t capacity, D* values, unsigned* ids, unsigned* counts,
                 cudaStream_t stream) {
  launch("clear_lists", clear_lists_kernel<D>, thread_each(queries * capacity), stream, queries, capacity, values, ids,
         counts);
}

template <class D>
void append_within(const D* distances, std::int64_t queries, std::int64_t rows, std::int64_t stride, const D* radii,
                   WithinHit<D>* hits, unsigned long long* count, cudaStream_t stream) {
  launch("pairs_within", pairs_within_kernel<D>, thread_each(queries * rows), stream, distances, queries, rows, stride,
         radii, hits, count);
}

#define KITH_INSTANTIATE(D)                                                                                       \
  template void store_by_coordinates(const D*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, D*,        \
                                     cudaStream_t);                                                               \
  template void sample_points(const D*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, D*, std::int64_t, \
                              cudaStream_t);                                                                      \
  template void clear_lists(std::int64_t, std::int64_t, D*, unsigned*, unsigned*, cudaStream_t);                  \
  template void append_within(const D*, std::int64_t, std::int64_t, std::int64_t, const D*, WithinHit<D>*,        \
                              unsigned long long*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::pairs
