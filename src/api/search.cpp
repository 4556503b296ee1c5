#include "kith/search.hpp"

#include <utility>

#include "api/guard.hpp"
#include "api/radius.hpp"
#include "api/searcher.hpp"
#include "api/validate.hpp"
#include "cpu/distance_matrix.hpp"
#include "graph/exclude_self.hpp"

namespace kith {
namespace {

void check_outputs(const void* ids, const void* distances) {
  if (ids == nullptr || distances == nullptr)
    throw Error(ErrorCode::invalid_argument, "ids and distances must point to queries × k elements (null pointer)");
}

}  // namespace

template <Element T>
struct Index<T>::State {
  State(MatrixView<T> base, Options options) : searcher(base, std::move(options), 0, 0) {}

  Matrix<T> owned;
  api::Searcher<T> searcher;
};

template <Element T>
Index<T>::Index(MatrixView<T> base, Options options) {
  api::check_view(base, "base");
  options.backend = api::check_options(options);
  state_ = api::guarded([&] { return std::make_unique<State>(base, std::move(options)); });
}

template <Element T>
Index<T>::Index(Matrix<T>&& base, Options options) : Index(base.view(), std::move(options)) {
  state_->owned = std::move(base);  // its values stay where they are, so the view stays good
}

template <Element T>
Index<T>::Index(Index&&) noexcept = default;
template <Element T>
Index<T>& Index<T>::operator=(Index&&) noexcept = default;
template <Element T>
Index<T>::~Index() = default;

template <Element T>
std::int64_t Index<T>::rows() const {
  return state_->searcher.base().rows;
}

template <Element T>
std::int64_t Index<T>::dims() const {
  return state_->searcher.base().cols;
}

template <Element T>
const Options& Index<T>::options() const {
  return state_->searcher.options();
}

template <Element T>
Neighbors<DistanceOf<T>> Index<T>::search(MatrixView<T> queries, std::int64_t k) const {
  api::check_search(state_->searcher.base(), queries, k);
  return api::guarded([&] { return state_->searcher.search(queries, k); });
}

template <Element T>
SearchReport Index<T>::search_into(MatrixView<T> queries, std::int64_t k, std::int64_t* ids,
                                   DistanceOf<T>* distances) const {
  api::check_search(state_->searcher.base(), queries, k);
  check_outputs(ids, distances);
  return api::guarded([&] { return state_->searcher.run(queries, k, ids, distances); });
}

template <Element T>
Neighbors<DistanceOf<T>> Index<T>::search_self(std::int64_t k) const {
  api::check_k(k, rows() - 1, "the number of other points is");
  api::check_sizes(rows(), rows(), k + 1);
  return api::guarded([&] { return graph::exclude_self(state_->searcher.search(state_->searcher.base(), k + 1)); });
}

template <Element T>
RadiusNeighbors<DistanceOf<T>> Index<T>::search_radius(MatrixView<T> queries, std::span<const DistanceOf<T>> radii,
                                                       RadiusOutput output) const {
  api::check_search(state_->searcher.base(), queries, 1);
  return api::guarded([&] {
    return state_->searcher.search_radius(queries, api::reach_of(radii, queries.rows, options().metric, output));
  });
}

template <Element T>
RadiusNeighbors<DistanceOf<T>> Index<T>::search_radius_self(std::span<const DistanceOf<T>> radii,
                                                            RadiusOutput output) const {
  return api::guarded([&] {
    auto reach = api::reach_of(radii, rows(), options().metric, output);
    reach.exclude_self = true;
    return state_->searcher.search_radius(state_->searcher.base(), reach);
  });
}

template <Element T>
Plan Index<T>::explain(std::int64_t queries, std::int64_t k) const {
  return kith::explain({rows(), queries, dims(), k, dtype_of<T>()}, options());
}

template <Element T>
Neighbors<DistanceOf<T>> search(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, const Options& options) {
  api::check_view(base, "base");
  api::check_search(base, queries, k);
  Options resolved = options;
  resolved.backend = api::check_options(options);
  return api::guarded([&] { return api::Searcher<T>(base, resolved, queries.rows, k).search(queries, k); });
}

template <Element T>
SearchReport search_into(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, std::int64_t* ids,
                         DistanceOf<T>* distances, const Options& options) {
  api::check_view(base, "base");
  api::check_search(base, queries, k);
  check_outputs(ids, distances);
  Options resolved = options;
  resolved.backend = api::check_options(options);
  return api::guarded(
      [&] { return api::Searcher<T>(base, resolved, queries.rows, k).run(queries, k, ids, distances); });
}

template <Element T>
Matrix<DistanceOf<T>> distances(MatrixView<T> base, MatrixView<T> queries, const Options& options) {
  api::check_view(base, "base");
  api::check_search(base, queries, 1);
  const Backend backend = api::check_options(options);
  const int threads = options.threads > 0 ? options.threads : plan::cpu_facts().threads;
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
  if (backend == Backend::cpu) return plan::choose(problem, options, plan::cpu_facts());
  return plan::choose(problem, options, api::device_facts(backend));
}

#define KITH_INSTANTIATE(T)                                                                                      \
  template class Index<T>;                                                                                       \
  template KITH_API Neighbors<DistanceOf<T>> search(MatrixView<T>, MatrixView<T>, std::int64_t, const Options&); \
  template KITH_API SearchReport search_into(MatrixView<T>, MatrixView<T>, std::int64_t, std::int64_t*,          \
                                             DistanceOf<T>*, const Options&);                                    \
  template KITH_API Matrix<DistanceOf<T>> distances(MatrixView<T>, MatrixView<T>, const Options&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith
