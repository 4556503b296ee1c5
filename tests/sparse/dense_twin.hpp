// dense_twin.hpp: what searches of sparse points must find: what kith::search finds among the same points as a dense
// matrix, and under jaccard, which that has not, a sort of all distances by their definition.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kith/index.hpp"
#include "kith/sparse.hpp"

namespace kith::test {

inline Metric dense_twin(SparseMetric metric) {
  return parse_metric(to_string(metric));
}

template <class T>
T jaccard_by_definition(const T* x, const T* y, std::int64_t dims) {
  std::int64_t both = 0;
  std::int64_t either = 0;
  for (std::int64_t c = 0; c < dims; ++c) {
    both += x[c] != 0 && y[c] != 0 ? 1 : 0;
    either += x[c] != 0 || y[c] != 0 ? 1 : 0;
  }
  return either == 0 ? T{0} : static_cast<T>(static_cast<double>(either - both) / static_cast<double>(either));
}

template <class T>
struct List {
  std::vector<std::int64_t> ids;
  std::vector<T> distances;
};

// All base points by (distance, id), `excluded` left out.
template <class T>
List<T> sorted_by_jaccard(const Matrix<T>& base, const T* query, std::int64_t excluded) {
  std::vector<std::pair<T, std::int64_t>> all;
  for (std::int64_t i = 0; i < base.rows(); ++i)
    if (i != excluded) all.emplace_back(jaccard_by_definition(query, base.row(i), base.cols()), i);
  std::sort(all.begin(), all.end());
  List<T> list;
  for (const auto& [distance, id] : all) {
    list.ids.push_back(id);
    list.distances.push_back(distance);
  }
  return list;
}

template <class T>
Options dense_options(SparseMetric metric) {
  Options options;
  options.metric = dense_twin(metric);
  options.backend = Backend::cpu;
  options.method = Method::brute;
  return options;
}

// The k nearest of each query, those of the base itself where `queries` is null.
template <class T>
List<T> expected_nearest(const Matrix<T>& base, const Matrix<T>* queries, std::int64_t k, SparseMetric metric) {
  if (metric != SparseMetric::jaccard) {
    const Index<T> index(base.view(), dense_options<T>(metric));
    Neighbors<T> found = queries != nullptr ? index.search(queries->view(), k) : index.search_self(k);
    return {std::move(found.ids), std::move(found.distances)};
  }
  List<T> lists;
  const Matrix<T>& asked = queries != nullptr ? *queries : base;
  for (std::int64_t q = 0; q < asked.rows(); ++q) {
    const List<T> one = sorted_by_jaccard(base, asked.row(q), queries != nullptr ? -1 : q);
    lists.ids.insert(lists.ids.end(), one.ids.begin(), one.ids.begin() + k);
    lists.distances.insert(lists.distances.end(), one.distances.begin(), one.distances.begin() + k);
  }
  return lists;
}

// The same ids and the same bits. −0 and +0 are two.
template <class T>
testing::AssertionResult same_bits(const std::vector<std::int64_t>& ids, const std::vector<T>& distances,
                                   const List<T>& want) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (ids.size() != want.ids.size() || distances.size() != want.distances.size())
    return testing::AssertionFailure() << ids.size() << " neighbors, not " << want.ids.size();
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] != want.ids[i] || std::bit_cast<Bits>(distances[i]) != std::bit_cast<Bits>(want.distances[i]))
      return testing::AssertionFailure() << "place " << i << " has " << ids[i] << " at " << distances[i] << ", not "
                                         << want.ids[i] << " at " << want.distances[i];
  return testing::AssertionSuccess();
}

}  // namespace kith::test
