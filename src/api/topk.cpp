#include "kith/topk.hpp"

#include <fmt/format.h>

#include "api/guard.hpp"
#include "api/validate.hpp"
#include "backend/registry.hpp"
#include "core/instantiate.hpp"
#include "core/sizes.hpp"

namespace kith {
namespace {

bool has_ids(const TopkOptions& options) {
  return options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
}

// `automatic` goes to the CPU with rows of the host that are too long for a device.
Backend backend_for(TopkOptions options, std::int64_t cols, Memory memory) {
  if (options.backend == Backend::automatic && memory == Memory::host && cols > core::kLongestDeviceRow)
    options.backend = Backend::cpu;
  const Backend backend = api::check_options(options, memory);
  if (backend != Backend::cpu) api::check_device_row(cols);
  return backend;
}

// The backend, for arguments that are as they should be.
template <Element T>
Backend checked(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, Memory out) {
  api::check_view(matrix, "the matrix");
  const Memory memory = matrix.memory == Memory::device ? matrix.memory : out;
  const Backend backend = backend_for(options, matrix.cols, memory);
  api::check_k(k, matrix.cols, "the number of columns is");
  api::check_sizes(matrix.rows, matrix.cols, k);
  return backend;
}

}  // namespace

template <Element T>
Topk<T> topk(MatrixView<T> matrix, std::int64_t k, const TopkOptions& options, void* stream) {
  return api::guarded([&] {
    const Backend backend = checked(matrix, k, options, Memory::host);
    Topk<T> out;
    out.rows = matrix.rows;
    out.k = options.output == TopkOutput::kth_only ? 1 : k;
    api::check_output(out.rows, out.k, sizeof(T) + sizeof(std::int64_t));
    out.values.resize(static_cast<std::size_t>(out.rows * out.k));
    if (has_ids(options)) out.ids.resize(out.values.size());
    backend::table_of(backend).of<T>().topk(matrix, k, options, {out.values.data(), out.ids.data()}, stream);
    return out;
  });
}

template <Element T>
void topk_into(MatrixView<T> matrix, std::int64_t k, TopkView<T> out, const TopkOptions& options, void* stream) {
  api::guarded([&] {
    const Backend backend = checked(matrix, k, options, out.memory);
    if (out.values == nullptr || (has_ids(options) && out.ids == nullptr))
      throw Error(ErrorCode::invalid_argument, "values and ids must point to rows × k elements (null pointer)");
    if (!has_ids(options)) out.ids = nullptr;
    backend::table_of(backend).of<T>().topk(matrix, k, options, out, stream);
  });
}

#define KITH_INSTANTIATE(T)                                                               \
  template KITH_API Topk<T> topk(MatrixView<T>, std::int64_t, const TopkOptions&, void*); \
  template KITH_API void topk_into(MatrixView<T>, std::int64_t, TopkView<T>, const TopkOptions&, void*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
