// The CPU as a backend: its table of functions.
#include "backend/contract.hpp"
#include "backend/host.hpp"
#include "backend/machine.hpp"
#include "core/instantiate.hpp"
#include "cpu/distance_matrix.hpp"
#include "cpu/facts.hpp"
#include "cpu/index.hpp"
#include "cpu/topk.hpp"

namespace kith::cpu {
namespace {

int threads_of(const Options& options) {
  return options.threads > 0 ? options.threads : backend::available_threads();
}

template <Element T>
void distances(const MatrixView<T>& base, const MatrixView<T>& queries, const Options& options, void* /*stream*/,
               DistanceOf<T>* out) {
  const int threads = threads_of(options);
  const auto base_rows = prepare_rows(base, options.metric, {"base", options.check_finite, false, threads, 1});
  const auto query_rows = prepare_rows(queries, options.metric, {"query", options.check_finite, false, threads, 1});
  distance_matrix(base_rows, query_rows, threads, options.progress, out);
}

template <Element T>
constexpr backend::TypedTable<T> kTyped{&make_index<T>, &distances<T>, &topk<T>};

}  // namespace

template <Element T>
void check_base(const MatrixView<T>& base, const Options& options) {
  prepare_rows(base, options.metric, {"base", options.check_finite, false, threads_of(options), 1});
}

#define KITH_INSTANTIATE(T) template void check_base(const MatrixView<T>&, const Options&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

const backend::BackendTable& backend_table() {
  static const backend::BackendTable table{
      Backend::cpu,
      [] { return true; },
      [] { return std::vector<Device>(); },
      []() -> plan::Machine { return facts(); },
      [] {
        return std::vector{SelectMethod::automatic, SelectMethod::threshold_filter, SelectMethod::sort};
      },
      nullptr,
      {kTyped<float>, kTyped<double>, kTyped<std::uint8_t>, kTyped<std::int8_t>}};
  return table;
}

}  // namespace kith::cpu
