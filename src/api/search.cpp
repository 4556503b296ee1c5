#include "kith/search.hpp"

#include <utility>

#include "api/guard.hpp"
#include "api/searcher.hpp"
#include "api/validate.hpp"
#include "backend/machine.hpp"
#include "cpu/distance_matrix.hpp"
#include "kith/index.hpp"

namespace kith {
template <Element T>
Neighbors<DistanceOf<T>> search(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, const Options& options,
                                void* stream) {
  if (base.memory == Memory::device || queries.memory == Memory::device)
    return Index<T>(base, options, stream).search(queries, k, stream);
  api::check_view(base, "base");
  api::check_search(base, queries, k);
  Options resolved = options;
  resolved.backend = api::check_options(options);
  return api::guarded([&] { return api::Searcher<T>(base, resolved, queries.rows, k).search(queries, k); });
}

template <Element T>
SearchReport search_into(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, NeighborsView<DistanceOf<T>> out,
                         const Options& options, void* stream) {
  if (base.memory == Memory::device || queries.memory == Memory::device || out.memory == Memory::device)
    return Index<T>(base, options, stream).search_into(queries, k, out, stream);
  api::check_view(base, "base");
  api::check_search(base, queries, k);
  api::check_outputs(out.ids, out.distances);
  Options resolved = options;
  resolved.backend = api::check_options(options);
  return api::guarded(
      [&] { return api::Searcher<T>(base, resolved, queries.rows, k).run(queries, k, out.ids, out.distances); });
}

template <Element T>
Matrix<DistanceOf<T>> distances(MatrixView<T> base, MatrixView<T> queries, const Options& options, void* /*stream*/) {
  api::check_view(base, "base");
  api::check_search(base, queries, 1);
  const Backend backend = api::check_options(options);
  const int threads = options.threads > 0 ? options.threads : backend::available_threads();
  return api::guarded([&] {
    const auto prepared_base = cpu::prepare_rows(base, options.metric, {"base", options.check_finite, false, threads});
    const auto prepared_queries =
        cpu::prepare_rows(queries, options.metric, {"query", options.check_finite, false, threads});
    api::check_output(queries.rows, base.rows, sizeof(DistanceOf<T>));
    Matrix<DistanceOf<T>> out(queries.rows, base.rows);
    if (backend == Backend::cpu) {
      cpu::distance_matrix(prepared_base, prepared_queries, threads, options.progress, out.data());
    } else {
      api::device_distances(backend, base, queries, options, out.data());
    }
    return out;
  });
}

Plan explain(const Problem& problem, const Options& options) {
  if (problem.base_rows < 1 || problem.queries < 1 || problem.dims < 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a problem of {} points, {} queries and {} dimensions; each must be at least 1",
                            problem.base_rows, problem.queries, problem.dims));
  api::check_dims(problem.dims);
  const Backend backend = api::check_options(options);
  api::check_k(problem.k, problem.base_rows, "the number of base points is");
  api::check_sizes(problem.queries, problem.base_rows, problem.k);
  if (backend == Backend::cpu) return plan::choose(problem, options, cpu::facts());
  return plan::choose(problem, options, api::device_facts(backend));
}

#define KITH_INSTANTIATE(T)                                                                                            \
  template KITH_API Neighbors<DistanceOf<T>> search(MatrixView<T>, MatrixView<T>, std::int64_t, const Options&,        \
                                                    void*);                                                            \
  template KITH_API SearchReport search_into(MatrixView<T>, MatrixView<T>, std::int64_t, NeighborsView<DistanceOf<T>>, \
                                             const Options&, void*);                                                   \
  template KITH_API Matrix<DistanceOf<T>> distances(MatrixView<T>, MatrixView<T>, const Options&, void*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith
