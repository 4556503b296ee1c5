// ranks.hpp: problems that all ranks know whole and have a part of, and how their answers are compared.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "kith/error.hpp"
#include "kith/mpi.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {

inline int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int ranks() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// Rows first … last − 1 are a rank's.
struct Cut {
  std::vector<std::int64_t> firsts;  // ranks + 1

  std::int64_t first() const { return firsts[static_cast<std::size_t>(my_rank())]; }
  std::int64_t count() const { return firsts[static_cast<std::size_t>(my_rank()) + 1] - first(); }
  std::vector<std::int64_t> counts() const {
    std::vector<std::int64_t> counts;
    for (std::size_t i = 1; i < firsts.size(); ++i) counts.push_back(firsts[i] - firsts[i - 1]);
    return counts;
  }
  template <Element T>
  MatrixView<T> of(const Matrix<T>& rows) const {
    return rows.view().rows_from(first(), count());
  }
};

enum class Spread { even, uneven, on_last };

// The same on all ranks. Uneven cuts leave some ranks without rows.
inline Cut cut_of(std::int64_t rows, Spread spread, std::uint64_t seed = 0) {
  Cut cut;
  const std::int64_t size = ranks();
  for (std::int64_t rank = 0; rank <= size; ++rank)
    cut.firsts.push_back(spread == Spread::on_last && rank < size ? 0 : rank * rows / size);
  if (spread != Spread::uneven) return cut;
  Random random(seed);
  for (std::int64_t rank = 1; rank < size; ++rank)
    cut.firsts[static_cast<std::size_t>(rank)] = random.below(3) == 0 ? 0 : random.below(rows + 1);
  std::sort(cut.firsts.begin(), cut.firsts.end());
  return cut;
}

template <class V>
testing::AssertionResult same_bits(const std::vector<V>& got, const std::vector<V>& expected) {
  if (got.size() != expected.size())
    return testing::AssertionFailure() << got.size() << " values instead of " << expected.size();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::memcmp(&got[i], &expected[i], sizeof(V)) != 0)
      return testing::AssertionFailure() << "value " << i << " is " << got[i] << " instead of " << expected[i];
  return testing::AssertionSuccess();
}

template <class Found>
testing::AssertionResult same_lists(const Found& got, const Found& expected) {
  auto ids = same_bits(got.ids, expected.ids);
  return ids ? same_bits(got.distances, expected.distances) : ids << " (ids)";
}

// All ranks throw an Error with this code and the same text, which has all that is mentioned.
template <class Work>
void expect_refused(ErrorCode code, const std::vector<std::string>& mentions, Work work) {
  std::string text = "nothing was thrown";
  ErrorCode got = ErrorCode::internal;
  try {
    work();
  } catch (const Error& error) {
    text = error.what();
    got = error.code();
  }
  EXPECT_EQ(got, code) << text;
  for (const std::string& mention : mentions) EXPECT_NE(text.find(mention), std::string::npos) << text;
  std::uint64_t hash = std::hash<std::string>{}(text);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks()));
  MPI_Allgather(&hash, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  for (const std::uint64_t other : all) EXPECT_EQ(other, hash) << text;
}

// One thread for each rank: they share the machine.
inline Options options_of(const Metric& metric) {
  Options options;
  options.metric = metric;
  options.threads = 1;
  return options;
}

inline mpi::SearchOptions by(mpi::Layout layout, std::int64_t batch_rows = 0) {
  mpi::SearchOptions how;
  how.layout = layout;
  how.batch_rows = batch_rows;
  return how;
}

// The layouts that so many ranks and this metric can have.
inline std::vector<mpi::Layout> layouts_for(const Metric& metric) {
  using mpi::Layout;
  std::vector<Layout> layouts{Layout::automatic, Layout::stationary, Layout::replicated, Layout::ring};
  const int size = ranks();
  for (int groups = 2; groups < size; ++groups)
    if (size % groups == 0) {
      layouts.push_back(Layout::grid);
      break;
    }
  if (metric.kind != MetricKind::inner_product) layouts.push_back(Layout::landmarks);
  return layouts;
}

}  // namespace kith::test
