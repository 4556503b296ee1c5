// Selection, search and reductions where matrix and points lie on a CUDA device already. No CUDA header is needed: a
// cudaStream_t is passed as void*.
#pragma once

#include <cstdint>
#include <memory>

#include "kith/export.hpp"
#include "kith/reduce.hpp"
#include "kith/search.hpp"
#include "kith/topk.hpp"

namespace kith::cuda {

// As kith::topk(), of rows × cols values on the current device, `row_stride` values apart. The answer, on the device
// too, is rows × k values and ids, rows × 1 values for kth_only; device_ids_out is not looked at where there are no
// ids. Everything is enqueued on the stream and nothing is waited for, so options.progress is not called; inputs and
// outputs must stay until the stream is done. The workspace comes from the device's memory pool in the stream's order;
// with memory_budget = 0 it may be as large as the method likes. Throws Error(no_device) in a build without CUDA or on
// a machine without a device. After any error part of the work may be enqueued already and still write the outputs.
KITH_API void topk(const float* device_values, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                   std::int64_t k, const TopkOptions& options, float* device_values_out, std::int64_t* device_ids_out,
                   void* stream);
KITH_API void topk(const double* device_values, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                   std::int64_t k, const TopkOptions& options, double* device_values_out, std::int64_t* device_ids_out,
                   void* stream);

// As kith::Index, of rows × dims points on the current device, `row_stride` ≥ dims values apart. T is float or double.
//
// The points are not copied: they must stay and not change while the index is used. What is kept beside them is made
// here, once the stream comes to it, and waited for: norms where the metric needs them, under cosine and correlation
// the points scaled to unit length. Errors are those of kith::Index; Error(no_device) in a build without CUDA or on a
// machine without a device. options.progress is not called.
template <class T>
class KITH_API Index {
 public:
  Index(const T* device_points, std::int64_t rows, std::int64_t dims, std::int64_t row_stride, Options options = {},
        void* stream = nullptr);
  Index(Index&&) noexcept;
  Index& operator=(Index&&) noexcept;
  ~Index();

  std::int64_t rows() const;
  std::int64_t dims() const;
  const Options& options() const;

  // The k nearest of each of `rows` queries on the device, dims() values each, `row_stride` ≥ dims() apart: rows × k
  // distances and ids on the device, as kith::Index::search returns them. Thread-safe, on streams of their own.
  // All work is enqueued on the stream, its workspace from the device's memory pool in the stream's order; a pool with
  // a high release threshold keeps it for the next search. The call returns when the last of it is enqueued. It waits
  // for the stream after each pass of the ladder (SearchReport::steps) to learn which queries have no proof yet, for a
  // sample of the points where the method is left open and triangle might pay, for the clusters of that method the
  // first time, and for the check of the queries, which searches of all streams take one after the other. Index,
  // queries and outputs must stay until the stream is done; queries that are refused leave the outputs as they were,
  // after other errors they are unspecified. Queries with gaps between them are copied once. The report's seconds end
  // when the call does.
  SearchReport search(const T* device_queries, std::int64_t rows, std::int64_t row_stride, std::int64_t k,
                      T* device_distances_out, std::int64_t* device_ids_out, void* stream) const;

  // As kith::reduce(), of those k nearest: a row of the answer for each query, on the device, and the same bits.
  // `device_values` has a row of `value_columns` for each base point, `value_stride` ≥ value_columns apart, and with
  // its sizes is not looked at by kth_distance, density and covariance. The answer's columns are value_columns, 1, 1
  // and dims() · (dims() + 1) / 2. Method shifted-sort reduces neighbors where it finds them; for others no more than
  // a batch's neighbors are in memory, as workspace. What holds for search() holds here, but queries are refused
  // batch by batch: rows of earlier ones may have been written. The report is of the last batch.
  SearchReport reduce(const T* device_queries, std::int64_t rows, std::int64_t row_stride, std::int64_t k, ReduceOp op,
                      const T* device_values, std::int64_t value_columns, std::int64_t value_stride, T* device_out,
                      void* stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kith::cuda
