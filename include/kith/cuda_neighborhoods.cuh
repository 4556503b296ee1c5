// For CUDA C++: a functor of the caller's on the neighbors of each query, where they are found. Include it in sources
// for nvcc; it needs nothing of Kith but kith/index.hpp and the library.
//
//   struct Brightness {                                   // photons: their mean power over the disc they cover
//     const float* power;
//     float* out;
//     __device__ void operator()(std::int64_t query, const kith::cuda::Neighborhood<float>& near) const {
//       float sum = 0;
//       for (std::int64_t i = 0; i < near.k; ++i) sum += power[near.ids[i]];
//       const float radius = near.distances[near.k - 1];
//       out[query] = sum / (3.14159265F * radius * radius);
//     }
//   };
//   kith::cuda::for_each_neighborhood(index, queries, 50, Brightness{power, out}, stream);
//
// Works with every method of the index. Lists live for a batch of queries, small enough to stay in the device's cache.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "kith/error.hpp"
#include "kith/index.hpp"

namespace kith::cuda {

// The k nearest base points of a query, by (distance, id). Where the index has a max_distance, ids of places without a
// neighbor are −1.
template <class T>
struct Neighborhood {
  const std::int64_t* ids;
  const T* distances;
  std::int64_t k;
};

namespace detail {

inline void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // the runtime remembers it otherwise
  throw Error(status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::internal,
              std::string(call) + ": " + cudaGetErrorString(status));
}

// Memory of a stream, given back in its order.
template <class V>
class StreamMemory {
 public:
  StreamMemory(std::int64_t count, cudaStream_t stream) : stream_(stream) {
    void* address = nullptr;
    require(cudaMallocAsync(&address, static_cast<std::size_t>(count) * sizeof(V), stream), "cudaMallocAsync");
    data_ = static_cast<V*>(address);
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() { cudaFreeAsync(data_, stream_); }
  V* data() const { return data_; }

 private:
  V* data_ = nullptr;
  cudaStream_t stream_;
};

template <class T, class Functor>
__global__ void visit_neighborhoods(const std::int64_t* ids, const T* distances, std::int64_t k, std::int64_t first,
                                    std::int64_t count, Functor functor) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) functor(first + i, Neighborhood<T>{ids + i * k, distances + i * k, k});
}

}  // namespace detail

// Calls functor(query, neighborhood) on the device, a thread for each query. Base and queries may lie anywhere, as
// Index::search_into() takes them. The functor is copied to the device, so it is trivially copyable. Everything is
// enqueued on the stream; what Index::search_into() waits for is waited for. Queries are refused batch by batch: the
// functor may have seen those of earlier ones.
template <class T, class Functor>
void for_each_neighborhood(const Index<T>& index, MatrixView<T> queries, std::int64_t k, Functor functor,
                           cudaStream_t stream) {
  using D = DistanceOf<T>;
  if (k < 1 || k > index.rows())
    throw Error(ErrorCode::invalid_argument,
                "k = " + std::to_string(k) + " is outside the limits 1 to " + std::to_string(index.rows()));
  constexpr std::int64_t kNeighborsAtOnce = std::int64_t{1} << 21;
  constexpr unsigned kThreads = 128;
  const std::int64_t batch = std::max<std::int64_t>(1, std::min(queries.rows, kNeighborsAtOnce / k));
  const detail::StreamMemory<std::int64_t> ids(batch * k, stream);
  const detail::StreamMemory<D> distances(batch * k, stream);
  for (std::int64_t first = 0; first < queries.rows; first += batch) {
    const std::int64_t now = std::min(batch, queries.rows - first);
    index.search_into(queries.rows_from(first, now), k, {ids.data(), distances.data(), Memory::device}, stream);
    const auto blocks = static_cast<unsigned>((now + kThreads - 1) / kThreads);
    const std::int64_t* found = ids.data();
    const D* away = distances.data();
    std::int64_t from = first;
    std::int64_t count = now;
    void* arguments[] = {&found, &away, &k, &from, &count, &functor};
    detail::require(cudaLaunchKernel(reinterpret_cast<const void*>(detail::visit_neighborhoods<D, Functor>), blocks,
                                     kThreads, arguments, 0, stream),
                    "visit_neighborhoods");
  }
}

}  // namespace kith::cuda
