#include "kith/radius.hpp"

#include <cmath>
#include <limits>

#include "api/index_state.hpp"
#include "api/radii.hpp"
#include "backend/machine.hpp"
#include "core/instantiate.hpp"
#include "core/order.hpp"

namespace kith {
namespace {

// As many as memory holds, of which others collect too. Asking for that takes hundreds of microseconds, many times a
// small search: not where the memory is a device's, which says itself when it is full, nor where all points together
// would take little.
template <class D>
std::int64_t max_hits(const RadiusLists<D>& out, const Problem& problem, std::int64_t workers) {
  constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLittle = std::int64_t{16} << 20;
  // Hits while they are collected, beside the result that they are put into.
  constexpr auto kHitBytes = static_cast<std::int64_t>(sizeof(core::Hit<D>) + sizeof(std::int64_t) + sizeof(D));
  if (!out.allocate || out.memory == Memory::device) return kUnlimited;
  if (problem.queries <= kLittle / kHitBytes / problem.base_rows) return kUnlimited;
  return backend::free_memory().bytes / kHitBytes / workers;
}

template <Element T, class State>
SearchReport search_within_into(const State& state, const api::Asked<T>& asked, std::span<const DistanceOf<T>> radii,
                                const RadiusLists<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  return api::reported([&](SearchReport& report) {
    if (!asked.exclude_self) state.check(asked, 1);
    state.check_memory(out.memory, "an answer");
    if (std::isfinite(state.options.max_distance))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("max_distance = {} is for the k nearest; a radius search has its radius",
                              state.options.max_distance));
    if (out.offsets == nullptr)
      throw Error(ErrorCode::invalid_argument, "offsets must point to queries + 1 elements (null pointer)");
    const bool products = state.options.metric.kind == MetricKind::inner_product;
    core::RadiusQuery<D> query = api::checked_radii(radii, asked.queries.rows, products);
    query.count_only = !out.allocate;
    query.exclude_self = asked.exclude_self;
    const Problem problem = state.problem(asked.queries.rows, 0);
    query.max_hits = max_hits(out, problem, state.part.workers);
    RadiusLists<D> lists{out.offsets, {}, out.memory};
    if (out.allocate) lists.allocate = api::checked_allocate<D>(out.allocate, out.memory);
    if (state.workers != nullptr) return state.workers->search_radius(asked, radii, lists, report);
    const auto search = state.begin(asked, out.memory);
    report.plan = plan::choose_radius(problem, state.options, backend::for_this_thread(state.machine),
                                      api::facts_of(state, problem, asked, out.memory), search->samples());
    search->search_radius(report.plan, query, lists, report);
  });
}

template <Element T, class State>
RadiusNeighbors<DistanceOf<T>> search_within(const State& state, const api::Asked<T>& asked,
                                             std::span<const DistanceOf<T>> radii, RadiusOutput output) {
  return api::guarded([&] {
    if (!asked.exclude_self) state.check(asked, 1);
    RadiusNeighbors<DistanceOf<T>> found;
    found.queries = asked.queries.rows;
    found.offsets.resize(static_cast<std::size_t>(found.queries) + 1);
    RadiusLists<DistanceOf<T>> lists{found.offsets.data(), {}};
    if (output == RadiusOutput::neighbors) lists.allocate = api::growing(found.ids, found.distances);
    found.report = search_within_into(state, asked, radii, lists);
    return found;
  });
}

}  // namespace

template <Element T>
auto Index<T>::search_radius(MatrixView<T> queries, std::span<const D> radii, RadiusOutput output, void* stream) const
    -> RadiusNeighbors<D> {
  return search_within<T>(state(), {queries, stream}, radii, output);
}

template <Element T>
SearchReport Index<T>::search_radius_into(MatrixView<T> queries, std::span<const D> radii, const RadiusLists<D>& out,
                                          void* stream) const {
  return search_within_into<T>(state(), {queries, stream}, radii, out);
}

template <Element T>
auto Index<T>::search_radius_self(std::span<const D> radii, RadiusOutput output, void* stream) const
    -> RadiusNeighbors<D> {
  return search_within<T>(state(), state().self(stream), radii, output);
}

template <Element T>
SearchReport Index<T>::search_radius_self_into(std::span<const D> radii, const RadiusLists<D>& out,
                                               void* stream) const {
  return search_within_into<T>(state(), state().self(stream), radii, out);
}

template <Element T>
RadiusNeighbors<DistanceOf<T>> search_radius(MatrixView<T> base, MatrixView<T> queries,
                                             std::span<const DistanceOf<T>> radii, RadiusOutput output,
                                             const Options& options, void* stream) {
  return OneSearch::of(base, options, stream, queries.memory).search_radius(queries, radii, output, stream);
}

#define KITH_INSTANTIATE(T)                                                                                           \
  template auto Index<T>::search_radius(MatrixView<T>, std::span<const D>, RadiusOutput, void*)                       \
      const->RadiusNeighbors<D>;                                                                                      \
  template SearchReport Index<T>::search_radius_into(MatrixView<T>, std::span<const D>, const RadiusLists<D>&, void*) \
      const;                                                                                                          \
  template auto Index<T>::search_radius_self(std::span<const D>, RadiusOutput, void*) const->RadiusNeighbors<D>;      \
  template SearchReport Index<T>::search_radius_self_into(std::span<const D>, const RadiusLists<D>&, void*) const;    \
  template KITH_API RadiusNeighbors<DistanceOf<T>> search_radius(                                                     \
      MatrixView<T>, MatrixView<T>, std::span<const DistanceOf<T>>, RadiusOutput, const Options&, void*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
