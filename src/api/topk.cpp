#include "kith/topk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/device_index.hpp"
#include "api/devices.hpp"
#include "api/guard.hpp"
#include "api/validate.hpp"
#include "backend/machine.hpp"
#include "cpu/topk.hpp"

namespace kith {
namespace {

// `automatic` goes to the CPU with rows that are too long for a device.
Backend backend_for(TopkOptions options, std::int64_t cols) {
  if (options.backend == Backend::automatic && cols > core::kLongestDeviceRow) options.backend = Backend::cpu;
  const Backend backend = api::check_options(options);
  if (backend != Backend::cpu) api::check_device_row(cols);
  return backend;
}

// As many threads as asked for and the budget has room for.
template <Element T>
int affordable_threads(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options) {
  const int threads = options.threads > 0 ? options.threads : backend::available_threads();
  if (options.memory_budget == 0) return threads;
  const std::int64_t each = cpu::topk_workspace<DistanceOf<T>>(matrix.cols, k, options);
  if (each > options.memory_budget)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a memory budget of {} bytes is too small: k = {} of {} columns needs at least {} bytes",
                            options.memory_budget, k, matrix.cols, each));
  return static_cast<int>(std::min<std::int64_t>(threads, options.memory_budget / each));
}

}  // namespace

template <Element T>
Topk<T> topk(MatrixView<T> matrix, std::int64_t k, const TopkOptions& options, void* /*stream*/) {
  api::check_view(matrix, "the matrix");
  const Backend backend = backend_for(options, matrix.cols);
  api::check_k(k, matrix.cols, "the number of columns is");
  api::check_sizes(matrix.rows, matrix.cols, k);
  const int threads = backend == Backend::cpu ? affordable_threads(matrix, k, options) : 0;
  return api::guarded([&] {
    Topk<T> out;
    out.rows = matrix.rows;
    out.k = options.output == TopkOutput::kth_only ? 1 : k;
    api::check_output(out.rows, out.k, sizeof(T) + sizeof(std::int64_t));
    out.values.resize(static_cast<std::size_t>(out.rows * out.k));
    const bool ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
    if (ids) out.ids.resize(out.values.size());
    if (backend == Backend::cpu) {
      cpu::topk(matrix, k, options, threads, out);
    } else {
      api::device_topk(backend, matrix, k, options, out);
    }
    return out;
  });
}

template <Element T>
void topk_into(MatrixView<T> matrix, std::int64_t k, TopkView<T> out, const TopkOptions& options, void* stream) {
  if (matrix.memory != out.memory)
    throw Error(ErrorCode::internal, "a matrix and an answer in different memories are not there yet");
  if (matrix.memory == Memory::device) return api::device_topk_into(matrix, k, out, options, stream);
  const bool ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
  if (out.values == nullptr || (ids && out.ids == nullptr))
    throw Error(ErrorCode::invalid_argument, "values and ids must point to rows × k elements (null pointer)");
  const Topk<T> found = topk(matrix, k, options, stream);
  std::copy(found.values.begin(), found.values.end(), out.values);
  std::copy(found.ids.begin(), found.ids.end(), out.ids);
}

#define KITH_INSTANTIATE(T)                                                               \
  template KITH_API Topk<T> topk(MatrixView<T>, std::int64_t, const TopkOptions&, void*); \
  template KITH_API void topk_into(MatrixView<T>, std::int64_t, TopkView<T>, const TopkOptions&, void*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith
