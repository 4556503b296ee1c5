#include "kith/search.hpp"

#include "api/guard.hpp"
#include "api/searcher.hpp"
#include "api/validate.hpp"
#include "backend/registry.hpp"

namespace kith {
namespace {

Memory either(Memory a, Memory b) {
  return a == Memory::device ? a : b;
}

}  // namespace

template <Element T>
Neighbors<DistanceOf<T>> search(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, const Options& options,
                                void* stream) {
  return api::Searcher<T>(base, options, stream, queries.memory).search({queries, stream}, k);
}

template <Element T>
SearchReport search_into(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, NeighborsView<DistanceOf<T>> out,
                         const Options& options, void* stream) {
  return api::Searcher<T>(base, options, stream, either(queries.memory, out.memory))
      .search_into({queries, stream}, k, out);
}

template <Element T>
Matrix<DistanceOf<T>> distances(MatrixView<T> base, MatrixView<T> queries, const Options& options, void* stream) {
  api::check_view(base, "base");
  api::check_search(base, queries, 1);
  const Backend backend = api::check_options(options, either(base.memory, queries.memory));
  return api::guarded([&] {
    api::check_output(queries.rows, base.rows, sizeof(DistanceOf<T>));
    Matrix<DistanceOf<T>> out(queries.rows, base.rows);
    backend::table_of(backend).of<T>().distances(base, queries, options, stream, out.data());
    return out;
  });
}

Plan explain(const Problem& problem, const Options& options) {
  const Backend backend = api::check_options(options);
  api::check_problem(problem);
  return plan::choose(problem, options, backend::machine_of(backend));
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
