// pair_points.hpp: points by coordinates, as the kernel of kith/cuda_pair_kernel.cuh reads them, and what is done with
// the matrices and lists that it writes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace kith::KITH_BACKEND::pairs {

// Rows, one after the other, become columns first … first + count − 1 of `to`: coordinate c of point i at
// [c · stride + i].
template <class D>
void store_by_coordinates(const D* rows, std::int64_t first, std::int64_t count, std::int64_t dims, std::int64_t stride,
                          D* to, cudaStream_t stream);

// Every step-th point, `count` of them.
template <class D>
void sample_points(const D* points, std::int64_t stride, std::int64_t step, std::int64_t count, std::int64_t dims,
                   D* to, std::int64_t to_stride, cudaStream_t stream);

// Lists in which nothing is: places are NaN, with ids that are no point's and differ.
template <class D>
void clear_lists(std::int64_t queries, std::int64_t capacity, D* values, unsigned* ids, unsigned* counts,
                 cudaStream_t stream);

template <class D>
struct WithinHit {
  unsigned query;
  unsigned row;
  D distance;
};
// Appends the places of a matrix that are within the query's radius, in any order, to *count hits.
template <class D>
void append_within(const D* distances, std::int64_t queries, std::int64_t rows, std::int64_t stride, const D* radii,
                   WithinHit<D>* hits, unsigned long long* count, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::pairs
