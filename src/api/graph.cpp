// The k-NN graph as compressed sparse rows, directed or symmetrized.
#include "kith/graph.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "api/graph.hpp"
#include "core/names.hpp"
#include "kith/index.hpp"

namespace kith {
namespace {

constexpr std::array<core::Name<Symmetrize>, 3> kSymmetrizations{{
    {"none", Symmetrize::none},
    {"union", Symmetrize::either},
    {"mutual", Symmetrize::mutual},
}};

template <class D>
Graph<D> directed(Neighbors<D> found) {
  Graph<D> graph;
  graph.points = found.queries;
  graph.indptr.resize(static_cast<std::size_t>(found.queries) + 1);
  for (std::size_t i = 0; i < graph.indptr.size(); ++i) graph.indptr[i] = static_cast<std::int64_t>(i) * found.k;
  graph.indices = std::move(found.ids);
  graph.data = std::move(found.distances);
  graph.report = std::move(found.report);
  return graph;
}

// The edges turned around. Filling rows in order of their source leaves every row sorted by id.
template <class D>
Graph<D> reversed(const Graph<D>& graph) {
  Graph<D> out;
  out.points = graph.points;
  out.indptr.assign(graph.indptr.size(), 0);
  out.indices.resize(graph.indices.size());
  out.data.resize(graph.data.size());
  for (const std::int64_t target : graph.indices) ++out.indptr[static_cast<std::size_t>(target) + 1];
  for (std::size_t i = 1; i < out.indptr.size(); ++i) out.indptr[i] += out.indptr[i - 1];
  std::vector<std::int64_t> next(out.indptr.begin(), out.indptr.end() - 1);
  for (std::int64_t source = 0; source < graph.points; ++source)
    for (auto e = static_cast<std::size_t>(graph.indptr[static_cast<std::size_t>(source)]);
         e < static_cast<std::size_t>(graph.indptr[static_cast<std::size_t>(source) + 1]); ++e) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(graph.indices[e])]++);
      out.indices[at] = source;
      out.data[at] = graph.data[e];
    }
  return out;
}

// Joins the rows of a graph and of its reverse, both sorted by id: edges of either, or of both.
// The metrics are symmetric to the last bit, so an edge has the same distance in both directions.
template <class D>
Graph<D> join(const Graph<D>& forward, const Graph<D>& backward, bool mutual) {
  Graph<D> out;
  out.points = forward.points;
  out.indptr.assign(1, 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(forward.points); ++row) {
    auto a = static_cast<std::size_t>(forward.indptr[row]);
    auto b = static_cast<std::size_t>(backward.indptr[row]);
    const auto a_end = static_cast<std::size_t>(forward.indptr[row + 1]);
    const auto b_end = static_cast<std::size_t>(backward.indptr[row + 1]);
    while (a < a_end || b < b_end) {
      const bool take_a = b == b_end || (a < a_end && forward.indices[a] <= backward.indices[b]);
      const bool take_b = a == a_end || (b < b_end && backward.indices[b] <= forward.indices[a]);
      if ((take_a && take_b) || !mutual) {
        out.indices.push_back(take_a ? forward.indices[a] : backward.indices[b]);
        out.data.push_back(take_a ? forward.data[a] : backward.data[b]);
      }
      a += take_a ? 1 : 0;
      b += take_b ? 1 : 0;
    }
    out.indptr.push_back(static_cast<std::int64_t>(out.indices.size()));
  }
  return out;
}

template <class D>
Graph<D> symmetrized(Graph<D> graph, Symmetrize symmetrize) {
  if (symmetrize == Symmetrize::none) return graph;
  const Graph<D> backward = reversed(graph);
  const Graph<D> forward = reversed(backward);  // the graph itself, rows now sorted by id
  Graph<D> out = join(forward, backward, symmetrize == Symmetrize::mutual);
  out.report = std::move(graph.report);
  return out;
}

}  // namespace

const char* to_string(Symmetrize symmetrize) noexcept {
  return core::name_of(kSymmetrizations, symmetrize);
}

Symmetrize parse_symmetrize(std::string_view name) {
  return core::parse_name(kSymmetrizations, "symmetrization", name);
}

template <Element T>
Graph<DistanceOf<T>> graph(MatrixView<T> points, std::int64_t k, Symmetrize symmetrize, const Options& options,
                           void* stream) {
  return Index<T>(points, options, stream).graph(k, symmetrize, stream);
}

template <class D>
Graph<D> api::graph_of(Neighbors<D> found, Symmetrize symmetrize) {
  return symmetrized(directed(std::move(found)), symmetrize);
}

template Graph<float> api::graph_of(Neighbors<float>, Symmetrize);
template Graph<double> api::graph_of(Neighbors<double>, Symmetrize);

#define KITH_INSTANTIATE(T) \
  template KITH_API Graph<DistanceOf<T>> graph(MatrixView<T>, std::int64_t, Symmetrize, const Options&, void*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith
