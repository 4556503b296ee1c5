#include "kith/topk.hpp"

#include "api/guard.hpp"
#include "api/validate.hpp"
#include "cpu/parallel.hpp"
#include "cpu/topk.hpp"

namespace kith {

template <Element T>
Topk<T> topk(MatrixView<T> matrix, std::int64_t k, const TopkOptions& options) {
  api::check_view(matrix, "the matrix");
  api::check_options(options);
  api::check_k(k, matrix.cols, "the number of columns is");
  api::check_sizes(matrix.rows, matrix.cols, k);
  return api::guarded([&] {
    Topk<T> out;
    out.rows = matrix.rows;
    out.k = options.output == TopkOutput::kth_only ? 1 : k;
    out.values.resize(static_cast<std::size_t>(out.rows * out.k));
    const bool ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
    if (ids) out.ids.resize(out.values.size());
    cpu::topk(matrix, k, options, options.threads > 0 ? options.threads : cpu::available_threads(), out);
    return out;
  });
}

#define KITH_INSTANTIATE(T) template KITH_API Topk<T> topk(MatrixView<T>, std::int64_t, const TopkOptions&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith
