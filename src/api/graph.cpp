#include "kith/graph.hpp"

#include <array>
#include <cmath>

#include "api/index_state.hpp"
#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "core/neighbor_graph.hpp"

namespace kith {
namespace {

constexpr std::array<core::Name<Symmetrize>, 3> kSymmetrizations{{
    {"none", Symmetrize::none},
    {"union", Symmetrize::either},
    {"mutual", Symmetrize::mutual},
}};

}  // namespace

const char* to_string(Symmetrize symmetrize) noexcept {
  return core::name_of(kSymmetrizations, symmetrize);
}

Symmetrize parse_symmetrize(std::string_view name) {
  return core::parse_name(kSymmetrizations, "symmetrization", name);
}

template <Element T>
auto Index<T>::graph(std::int64_t k, Symmetrize symmetrize, void* stream) const -> Graph<D> {
  return api::guarded([&] {
    state().check(state().self(stream), k);
    Graph<D> made;
    made.points = rows();
    made.indptr.resize(static_cast<std::size_t>(made.points) + 1);
    made.report = graph_into(k, symmetrize, {made.indptr.data(), api::growing(made.indices, made.data)}, stream);
    return made;
  });
}

template <Element T>
SearchReport Index<T>::graph_into(std::int64_t k, Symmetrize symmetrize, const GraphLists<D>& out, void* stream) const {
  return api::reported([&](SearchReport& report) {
    const api::Asked<T> asked = state().self(stream);
    state().check(asked, k);
    api::refuse_certify(options(), "graphs");
    state().check_memory(out.memory, "an answer");
    if (out.indptr == nullptr || !out.allocate)
      throw Error(ErrorCode::invalid_argument, "indptr must point to points + 1 elements, and allocate be a function");
    if (out.memory == Memory::device && std::isfinite(options().max_distance))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("max_distance = {} for a graph in device memory; one in host memory may have it",
                              options().max_distance));
    const auto allocate = api::checked_allocate<D>(out.allocate, out.memory);
    const GraphLists<D> lists{out.indptr, allocate, out.memory};
    if (state().workers != nullptr)
      return core::make_graph(rows(), k, symmetrize, std::isfinite(options().max_distance), lists,
                              [&](const NeighborsView<D>& found) {
                                state().workers->search(asked, k, found, nullptr, options().progress, report);
                              });
    const auto search = state().begin(asked, out.memory);
    const Problem problem = state().problem(rows(), k + 1, true);
    report.plan = *api::plan_of(state(), problem, asked, out.memory, *search);
    search->graph(report.plan, symmetrize, lists, report);
  });
}

template <Element T>
Graph<DistanceOf<T>> graph(MatrixView<T> points, std::int64_t k, Symmetrize symmetrize, const Options& options,
                           void* stream) {
  return OneSearch::of(points, options, stream).graph(k, symmetrize, stream);
}

#define KITH_INSTANTIATE(T)                                                                                \
  template auto Index<T>::graph(std::int64_t, Symmetrize, void*) const->Graph<D>;                          \
  template SearchReport Index<T>::graph_into(std::int64_t, Symmetrize, const GraphLists<D>&, void*) const; \
  template KITH_API Graph<DistanceOf<T>> graph(MatrixView<T>, std::int64_t, Symmetrize, const Options&, void*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
