// Selection from a matrix that lies on a CUDA device already. No CUDA header is needed: a cudaStream_t is passed as
// void*.
#pragma once

#include <cstdint>

#include "kith/export.hpp"
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

}  // namespace kith::cuda
