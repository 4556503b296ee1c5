// neighbor_graph.hpp: the neighbors of all points as compressed sparse rows, directed or symmetrized, on the host.
// src/cuda/graph/symmetrize.cu does the same on a device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/max_distance.hpp"
#include "kith/graph.hpp"

namespace kith::core {

template <class D>
struct SparseRows {
  std::vector<std::int64_t> indptr;
  std::vector<std::int64_t> indices;
  std::vector<D> data;
};

// The graph with reversed edges. Rows are filled in the order of their sources, so that they are sorted by id.
template <class D>
SparseRows<D> reversed(const SparseRows<D>& graph) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  SparseRows<D> out;
  out.indptr.assign(graph.indptr.size(), 0);
  out.indices.resize(graph.indices.size());
  out.data.resize(graph.data.size());
  for (const std::int64_t target : graph.indices) ++out.indptr[at(target) + 1];
  for (std::size_t i = 1; i < out.indptr.size(); ++i) out.indptr[i] += out.indptr[i - 1];
  std::vector<std::int64_t> next(out.indptr.begin(), out.indptr.end() - 1);
  for (std::size_t source = 0; source + 1 < graph.indptr.size(); ++source)
    for (std::size_t e = at(graph.indptr[source]); e < at(graph.indptr[source + 1]); ++e) {
      const std::size_t to = at(next[at(graph.indices[e])]++);
      out.indices[to] = static_cast<std::int64_t>(source);
      out.data[to] = graph.data[e];
    }
  return out;
}

// Calls put(id, distance) for the edges of a row of the graph and of its reverse, both sorted by id: edges of either,
// or of both. The metrics are symmetric to the last bit, so an edge has the same distance in both directions.
template <class D, class Put>
void join_row(const SparseRows<D>& forward, const SparseRows<D>& backward, std::size_t row, bool mutual, Put put) {
  auto a = static_cast<std::size_t>(forward.indptr[row]);
  auto b = static_cast<std::size_t>(backward.indptr[row]);
  const auto a_end = static_cast<std::size_t>(forward.indptr[row + 1]);
  const auto b_end = static_cast<std::size_t>(backward.indptr[row + 1]);
  while (a < a_end || b < b_end) {
    const bool take_a = b == b_end || (a < a_end && forward.indices[a] <= backward.indices[b]);
    const bool take_b = a == a_end || (b < b_end && backward.indices[b] <= forward.indices[a]);
    if ((take_a && take_b) || !mutual)
      put(take_a ? forward.indices[a] : backward.indices[b], take_a ? forward.data[a] : backward.data[b]);
    a += take_a ? 1 : 0;
    b += take_b ? 1 : 0;
  }
}

template <class D>
void symmetrize(const SparseRows<D>& directed, bool mutual, const GraphLists<D>& out) {
  const SparseRows<D> backward = reversed(directed);
  const SparseRows<D> forward = reversed(backward);  // the graph itself, rows now sorted by id
  const std::size_t points = directed.indptr.size() - 1;
  out.indptr[0] = 0;
  for (std::size_t row = 0; row < points; ++row) {
    out.indptr[row + 1] = out.indptr[row];
    join_row(forward, backward, row, mutual, [&](std::int64_t, D) { ++out.indptr[row + 1]; });
  }
  NeighborsView<D> to = out.allocate(out.indptr[points]);
  for (std::size_t row = 0; row < points; ++row)
    join_row(forward, backward, row, mutual, [&](std::int64_t id, D distance) {
      *to.ids++ = id;
      *to.distances++ = distance;
    });
}

// Lists of k places a point, of which the last may have no neighbor, as rows that end where their neighbors do.
template <class D>
SparseRows<D> rows_of_lists(std::int64_t points, std::int64_t k, std::vector<std::int64_t> ids,
                            std::vector<D> distances) {
  SparseRows<D> rows;
  rows.indptr.reserve(static_cast<std::size_t>(points) + 1);
  rows.indptr.push_back(0);
  std::size_t size = 0;
  std::size_t from = 0;
  for (std::int64_t point = 0; point < points; ++point) {
    for (std::int64_t i = 0; i < k; ++i, ++from) {
      if (ids[from] == kNoNeighbor) continue;
      ids[size] = ids[from];
      distances[size++] = distances[from];
    }
    rows.indptr.push_back(static_cast<std::int64_t>(size));
  }
  ids.resize(size);
  distances.resize(size);
  rows.indices = std::move(ids);
  rows.data = std::move(distances);
  return rows;
}

// search(view) fills the lists of the k nearest others of each point; all k are there unless `is_cut_off`.
template <class D, class Search>
void make_graph(std::int64_t points, std::int64_t k, Symmetrize how, bool is_cut_off, const GraphLists<D>& out,
                Search search) {
  const auto count = static_cast<std::size_t>(points * k);
  if (how == Symmetrize::none && !is_cut_off) {
    search(out.allocate(points * k));
    for (std::int64_t i = 0; i <= points; ++i) out.indptr[i] = i * k;
    return;
  }
  std::vector<std::int64_t> ids(count);
  std::vector<D> distances(count);
  search(NeighborsView<D>{ids.data(), distances.data()});
  const SparseRows<D> directed = rows_of_lists(points, k, std::move(ids), std::move(distances));
  if (how != Symmetrize::none) return symmetrize(directed, how == Symmetrize::mutual, out);
  std::copy(directed.indptr.begin(), directed.indptr.end(), out.indptr);
  const NeighborsView<D> to = out.allocate(directed.indptr.back());
  std::copy(directed.indices.begin(), directed.indices.end(), to.ids);
  std::copy(directed.data.begin(), directed.data.end(), to.distances);
}

}  // namespace kith::core
