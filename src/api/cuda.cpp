#include "kith/cuda.hpp"

#include "api/devices.hpp"
#include "api/guard.hpp"
#include "api/validate.hpp"

namespace kith::cuda {
namespace {

template <class T>
void checked_topk(const DeviceTopk<T>& work, TopkOptions options, void* stream) {
  if (options.backend != Backend::automatic && options.backend != Backend::cuda)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("backend {} for values on a CUDA device", to_string(options.backend)));
  options.backend = Backend::cuda;
  api::check_options(options);
  api::check_view(MatrixView<T>(work.values, work.rows, work.cols, work.row_stride, 1), "the matrix");
  api::check_device_row(work.cols);
  api::check_k(work.k, work.cols, "the number of columns is");
  const bool ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
  if (work.values_out == nullptr || (ids && work.ids_out == nullptr))
    throw Error(ErrorCode::invalid_argument, "values and ids must point to rows × k elements (null pointer)");
  DeviceTopk<T> asked = work;
  if (!ids) asked.ids_out = nullptr;
  api::guarded([&] { api::enqueue_cuda_topk(asked, options, stream); });
}

}  // namespace

void topk(const float* device_values, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t k,
          const TopkOptions& options, float* device_values_out, std::int64_t* device_ids_out, void* stream) {
  checked_topk<float>({device_values, rows, cols, row_stride, k, device_values_out, device_ids_out}, options, stream);
}

void topk(const double* device_values, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t k,
          const TopkOptions& options, double* device_values_out, std::int64_t* device_ids_out, void* stream) {
  checked_topk<double>({device_values, rows, cols, row_stride, k, device_values_out, device_ids_out}, options, stream);
}

}  // namespace kith::cuda
