// The CPU as a backend: its table of functions.
#include <limits>

#include "backend/contract.hpp"
#include "backend/host.hpp"
#include "core/instantiate.hpp"
#include "cpu/distance_matrix.hpp"
#include "cpu/facts.hpp"
#include "cpu/index.hpp"
#include "cpu/topk.hpp"

namespace kith::cpu {
namespace {

template <Element T>
void distances(const MatrixView<T>& base, const MatrixView<T>& queries, const Options& options, void* /*stream*/,
               DistanceOf<T>* out) {
  constexpr double kPairSeconds = 5e-9;
  constexpr double kStepSeconds = 3e-10;
  const auto pairs = static_cast<double>(base.rows * queries.rows);
  const int threads =
      threads_for(options.threads, pairs * (kPairSeconds + static_cast<double>(base.cols) * kStepSeconds));
  ProgressMeter preparing(options.progress, base.rows * queries.rows);
  const auto base_rows =
      prepare_rows(base, options.metric, {"base", options.check_finite, false, threads, 1}, preparing);
  const auto query_rows =
      prepare_rows(queries, options.metric, {"query", options.check_finite, false, threads, 1}, preparing);
  distance_matrix(base_rows, query_rows, threads, options.progress, out);
}

template <Element T>
void check_points(const MatrixView<T>& points, const char* role, const Options& options) {
  ProgressMeter progress(options.progress, points.rows);
  const int threads = threads_for(options.threads, std::numeric_limits<double>::infinity());
  prepare_rows(points, options.metric, {role, options.check_finite, false, threads, 1}, progress);
}

template <Element T>
constexpr backend::TypedTable<T> kTyped{&make_index<T>, &distances<T>, &topk<T>, nullptr, nullptr};

}  // namespace

template <Element T>
void check_base(const MatrixView<T>& base, const Options& options) {
  check_points(base, "base", options);
}

template <Element T>
void check_queries(const MatrixView<T>& queries, const Options& options) {
  check_points(queries, "query", options);
}

#define KITH_INSTANTIATE(T)                                       \
  template void check_base(const MatrixView<T>&, const Options&); \
  template void check_queries(const MatrixView<T>&, const Options&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

const backend::BackendTable& backend_table() {
  static const backend::BackendTable table{
      Backend::cpu,
      [] { return true; },
      nullptr,
      [] { return std::vector<Device>(); },
      []() -> plan::Machine { return facts(); },
      [] {
        return std::vector{SelectMethod::automatic, SelectMethod::threshold_filter, SelectMethod::sort};
      },
      nullptr,
      {kTyped<float>, kTyped<double>, kTyped<std::uint8_t>, kTyped<std::int8_t>, kTyped<Float16>, kTyped<BFloat16>}};
  return table;
}

}  // namespace kith::cpu
