#include "kith/search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/index_state.hpp"
#include "api/sample_quality.hpp"
#include "backend/registry.hpp"
#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "core/periodic.hpp"

namespace kith {
namespace {

// How good the answers to some of the queries are, by an exact search of these: before those that are too far away are
// left out.
template <Element T, class State>
SearchQuality sample_quality(const State& state, const api::Asked<T>& asked, const Plan& plan) {
  using D = DistanceOf<T>;
  const api::Asked<T> some{api::sample_of(asked.queries), asked.stream};
  std::vector<std::int64_t> ids;
  std::vector<D> distances;
  const NeighborsView<D> found = api::growing(ids, distances)(some.queries.rows * plan.problem.k);
  SearchReport ignored;
  ignored.plan = plan;
  ignored.plan.max_distance = std::numeric_limits<double>::infinity();
  if (state.workers != nullptr) {
    const SearchLimits limits{.epsilon = plan.epsilon};
    state.workers->search(some, plan.problem.k, found, &limits, {}, ignored);
  } else {
    state.begin(some, Memory::host, {})->search(ignored.plan, found, ignored);
  }
  const auto truth = search(state.base, some.queries, plan.problem.k, api::exact_options(state.options), asked.stream);
  return api::judge_sample(distances.data(), truth);
}

// Options::pad_missing: so many neighbors as there are, in rows of k places.
template <Element T, class State, class Search>
SearchReport search_padded(const State& state, const api::Asked<T>& asked, std::int64_t k, std::int64_t there,
                           const NeighborsView<DistanceOf<T>>& out, Search search) {
  using D = DistanceOf<T>;
  const std::int64_t queries = asked.queries.rows;
  if (there > 0) state.check(asked, there);
  api::check_sizes(queries, state.base.rows, k);
  api::check_output(queries, there, sizeof(std::int64_t) + sizeof(D));
  const D missing = core::missing_distance<D>(state.options.metric);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(queries * there));
  std::vector<D> distances(ids.size());
  SearchReport report;
  if (there > 0) report = search(NeighborsView<D>{ids.data(), distances.data(), Memory::host, out.certified});
  for (std::int64_t q = 0; q < queries; ++q) {
    std::fill_n(std::copy_n(ids.data() + q * there, there, out.ids + q * k), k - there, core::kNoNeighbor);
    std::fill_n(std::copy_n(distances.data() + q * there, there, out.distances + q * k), k - there, missing);
  }
  return report;
}

template <Element T, class State>
SearchReport search_neighbors_into(const State& state, const api::Asked<T>& asked, std::int64_t k,
                                   const NeighborsView<DistanceOf<T>>& out, const SearchLimits* limits = nullptr) {
  const std::int64_t there = state.base.rows - (asked.exclude_self ? 1 : 0);
  if (state.options.pad_missing && k > there && out.memory == Memory::host && out.ids != nullptr &&
      out.distances != nullptr)
    return search_padded(state, asked, k, there, out, [&](const NeighborsView<DistanceOf<T>>& found) {
      return search_neighbors_into(state, asked, there, found, limits);
    });
  SearchReport made = api::reported([&](SearchReport& report) {
    if (limits != nullptr) api::check_limits(*limits, state.options.metric);
    state.check(asked, k);
    state.check_memory(out.memory, "an answer");
    api::check_outputs(out.ids, out.distances);
    api::check_certified(state.options, out.certified);
    if (state.workers != nullptr) return state.workers->search(asked, k, out, limits, state.options.progress, report);
    const auto search = state.begin(asked, out.memory);
    const Problem problem = state.problem(asked.queries.rows, k + (asked.exclude_self ? 1 : 0), asked.exclude_self);
    report.plan = *api::plan_of(state, problem, asked, out.memory, *search);
    if (limits != nullptr) plan::set_limits(report.plan, *limits);
    search->search(report.plan, out, report);
    if (out.certified != nullptr && out.memory == Memory::host)
      report.certified = std::count(out.certified, out.certified + asked.queries.rows, 1);
  });
  // Of a stripe's answer nobody asks.
  if (made.plan.approximate && made.plan.statistics && state.part.stop == nullptr)
    made.quality = api::guarded([&] { return sample_quality(state, asked, made.plan); });
  return made;
}

template <Element T, class State>
Neighbors<DistanceOf<T>> search_neighbors(const State& state, const api::Asked<T>& asked, std::int64_t k) {
  using D = DistanceOf<T>;
  return api::guarded([&] {
    const std::int64_t there = state.base.rows - (asked.exclude_self ? 1 : 0);
    const bool pads = state.options.pad_missing && k > there;
    if (!pads || there > 0) state.check(asked, pads ? there : k);
    api::check_output(asked.queries.rows, k, sizeof(std::int64_t) + sizeof(D));
    Neighbors<D> found;
    found.queries = asked.queries.rows;
    found.k = k;
    NeighborsView<D> out = api::growing(found.ids, found.distances)(found.queries * k);
    if (api::certifies(state.options)) {
      found.certified.resize(static_cast<std::size_t>(found.queries));
      out.certified = found.certified.data();
    }
    found.report = search_neighbors_into(state, asked, k, out);
    return found;
  });
}

// Memory that nobody has used yet comes page by page, which takes seconds where it is gigabytes: between two parts the
// callback is asked whether to go on.
template <class D>
Matrix<D> zeros(std::int64_t rows, std::int64_t cols, const ProgressCallback& progress) {
  constexpr std::size_t kPart = (std::size_t{1} << 26) / sizeof(D);
  const auto size = static_cast<std::size_t>(rows * cols);
  std::vector<D> values;
  values.reserve(size);
  while (values.size() < size) {
    values.resize(std::min(size, values.size() + kPart));
    if (values.size() < size && progress && !progress({0, rows * cols}))
      throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }
  return {rows, cols, std::move(values)};
}

Backend check_matrix_options(const Options& options, Memory memory) {
  if (std::any_of(options.period.begin(), options.period.end(), [](double each) { return each != 0; }))
    throw Error(ErrorCode::invalid_argument, "distances() does not support periodic axes; searches by method tree do");
  api::refuse_devices(options, "distances()");
  return api::check_options(options, memory);
}

}  // namespace

template <Element T>
auto Index<T>::search(MatrixView<T> queries, std::int64_t k, void* stream) const -> Neighbors<D> {
  return search_neighbors<T>(state(), {queries, stream}, k);
}

template <Element T>
SearchReport Index<T>::search_into(MatrixView<T> queries, std::int64_t k, NeighborsView<D> out, void* stream) const {
  return search_neighbors_into<T>(state(), {queries, stream}, k, out);
}

template <Element T>
SearchReport Index<T>::search_into(MatrixView<T> queries, std::int64_t k, NeighborsView<D> out,
                                   const SearchLimits& limits, void* stream) const {
  return search_neighbors_into<T>(state(), {queries, stream}, k, out, &limits);
}

template <Element T>
Neighbors<DistanceOf<T>> OneSearch::search_wanted(const Index<T>& index, const MatrixView<T>& queries, std::int64_t k,
                                                  const std::uint64_t* wanted) {
  return search_neighbors<T>(index.state(), {queries, nullptr, false, wanted}, k);
}

template <Element T>
Neighbors<DistanceOf<T>> OneSearch::search_limited(const Index<T>& index, const MatrixView<T>& queries, std::int64_t k,
                                                   std::span<const DistanceOf<T>> limits) {
  return search_neighbors<T>(index.state(), {queries, nullptr, false, nullptr, limits}, k);
}

template <Element T>
auto Index<T>::search_self(std::int64_t k, void* stream) const -> Neighbors<D> {
  return search_neighbors<T>(state(), state().self(stream), k);
}

template <Element T>
SearchReport Index<T>::search_self_into(std::int64_t k, NeighborsView<D> out, void* stream) const {
  return search_neighbors_into<T>(state(), state().self(stream), k, out);
}

template <Element T>
Neighbors<DistanceOf<T>> search(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, const Options& options,
                                void* stream) {
  return OneSearch::of(base, options, stream, queries.memory).search(queries, k, stream);
}

template <Element T>
SearchReport search_into(MatrixView<T> base, MatrixView<T> queries, std::int64_t k, NeighborsView<DistanceOf<T>> out,
                         const Options& options, void* stream) {
  return OneSearch::of(base, options, stream, api::either(queries.memory, out.memory))
      .search_into(queries, k, out, stream);
}

template <Element T>
void distances_into(MatrixView<T> base, MatrixView<T> queries, DistanceOf<T>* out, const Options& options,
                    void* stream) {
  api::check_view(base, "base");
  api::check_search(base, queries, 1);
  if (out == nullptr) throw Error(ErrorCode::invalid_argument, "the output of distances is null");
  const Backend backend = check_matrix_options(options, api::either(base.memory, queries.memory));
  api::guarded([&] { backend::table_of(backend).of<T>().distances(base, queries, options, stream, out); });
}

template <Element T>
Matrix<DistanceOf<T>> distances(MatrixView<T> base, MatrixView<T> queries, const Options& options, void* stream) {
  return api::guarded([&] {
    api::check_view(base, "base");
    api::check_search(base, queries, 1);
    const Backend backend = check_matrix_options(options, api::either(base.memory, queries.memory));
    api::check_output(queries.rows, base.rows, sizeof(DistanceOf<T>));
    Matrix<DistanceOf<T>> out = zeros<DistanceOf<T>>(queries.rows, base.rows, options.progress);
    backend::table_of(backend).of<T>().distances(base, queries, options, stream, out.data());
    return out;
  });
}

Plan explain(const Problem& problem, const Options& options) {
  return api::guarded([&] {
    const Backend backend = api::check_options(options);
    api::check_problem(problem);
    api::check_period(options.period, problem.dims);
    if (!options.devices.empty()) {
      Options resolved = options;
      resolved.backend = backend;
      return api::explain_workers(problem, resolved);
    }
    return plan::choose(problem, options, backend::for_this_thread(backend::machine_of(backend, options.backend)));
  });
}

#define KITH_INSTANTIATE(T)                                                                                            \
  template auto Index<T>::search(MatrixView<T>, std::int64_t, void*) const->Neighbors<D>;                              \
  template SearchReport Index<T>::search_into(MatrixView<T>, std::int64_t, NeighborsView<D>, void*) const;             \
  template SearchReport Index<T>::search_into(MatrixView<T>, std::int64_t, NeighborsView<D>, const SearchLimits&,      \
                                              void*) const;                                                            \
  template auto Index<T>::search_self(std::int64_t, void*) const->Neighbors<D>;                                        \
  template Neighbors<DistanceOf<T>> OneSearch::search_wanted(const Index<T>&, const MatrixView<T>&, std::int64_t,      \
                                                             const std::uint64_t*);                                    \
  template Neighbors<DistanceOf<T>> OneSearch::search_limited(const Index<T>&, const MatrixView<T>&, std::int64_t,     \
                                                              std::span<const DistanceOf<T>>);                         \
  template SearchReport Index<T>::search_self_into(std::int64_t, NeighborsView<D>, void*) const;                       \
  template KITH_API Neighbors<DistanceOf<T>> search(MatrixView<T>, MatrixView<T>, std::int64_t, const Options&,        \
                                                    void*);                                                            \
  template KITH_API SearchReport search_into(MatrixView<T>, MatrixView<T>, std::int64_t, NeighborsView<DistanceOf<T>>, \
                                             const Options&, void*);                                                   \
  template KITH_API Matrix<DistanceOf<T>> distances(MatrixView<T>, MatrixView<T>, const Options&, void*);              \
  template KITH_API void distances_into(MatrixView<T>, MatrixView<T>, DistanceOf<T>*, const Options&, void*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
