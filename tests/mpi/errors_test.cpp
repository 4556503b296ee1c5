// What fails on one rank fails on all, with one text; what ranks give differently is refused.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "mpi/ranks.hpp"
#include "support/matrix_of.hpp"

namespace kith::test {
namespace {

Matrix<float> rows_of(std::int64_t rows, std::int64_t dims = 3) {
  return matrix_of<float>(rows, dims, [](std::int64_t r, std::int64_t c) { return 1 + (r * 7 + c * 3) % 11; });
}

std::string last_rank() {
  return ranks() == 1 ? "" : fmt::format("rank {}: ", ranks() - 1);
}
bool is_last() {
  return my_rank() == ranks() - 1;
}

TEST(MpiErrors, BadRowsOfOneRank) {
  Matrix<float> rows = rows_of(10);
  if (is_last()) rows(7, 1) = std::numeric_limits<float>::quiet_NaN();
  expect_refused(ErrorCode::bad_data,
                 {last_rank(), fmt::format("base row {}, column 1 is nan", 7 + 10 * (ranks() - 1))},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, rows.view()); });
  if (is_last()) rows = matrix_of<float>(10, 3, [](std::int64_t, std::int64_t) { return 0; });
  Options cosine;
  cosine.metric = MetricKind::cosine;
  expect_refused(ErrorCode::bad_data, {last_rank(), "length zero"},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, rows.view(), cosine); });
}

TEST(MpiErrors, BadQueriesOfOneRank) {
  const Matrix<float> rows = rows_of(10);
  mpi::Index<float> index(MPI_COMM_WORLD, rows.view());
  Matrix<float> queries = rows_of(4);
  if (is_last()) queries(2, 0) = std::numeric_limits<float>::infinity();
  for (const mpi::Layout layout : layouts_for(MetricKind::euclidean))
    expect_refused(ErrorCode::bad_data,
                   {last_rank(), fmt::format("queries row {}, column 0 is inf", 2 + 4 * (ranks() - 1))},
                   [&] { index.search(queries.view(), 3, by(layout)); });
  const Matrix<float> wide = rows_of(4, is_last() ? 5 : 3);
  expect_refused(ErrorCode::invalid_argument, {last_rank(), "4 × 5", "3 dimensions"},
                 [&] { index.search(wide.view(), 3); });
  // The index is as it was.
  EXPECT_EQ(index.search(rows.view(), 1).ids.size(), 10U);
}

TEST(MpiErrors, TooLargeAK) {
  const Matrix<float> rows = rows_of(5);
  mpi::Index<float> index(MPI_COMM_WORLD, rows.view());
  const std::int64_t points = 5 * ranks();
  expect_refused(ErrorCode::invalid_argument, {fmt::format("k = {}", points + 1), fmt::format("{} points", points)},
                 [&] { index.search(rows.view(), points + 1); });
  expect_refused(ErrorCode::invalid_argument, {fmt::format("k = {}", points), "without itself"},
                 [&] { index.search_self(points); });
  expect_refused(ErrorCode::invalid_argument, {"k = 0"}, [&] { index.search(rows.view(), 0); });
}

TEST(MpiErrors, ArgumentsThatDiffer) {
  if (ranks() == 1) return;
  const Matrix<float> rows = rows_of(5);
  Options options;
  if (is_last()) options.metric = MetricKind::manhattan;
  expect_refused(ErrorCode::invalid_argument, {"metric is euclidean on rank 0 but manhattan on rank"},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, rows.view(), options); });
  const Matrix<float> wide = rows_of(5, is_last() ? 4 : 3);
  expect_refused(ErrorCode::invalid_argument, {"points have 3 dimensions on rank 0 but 4 on rank"},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, wide.view()); });
  expect_refused(ErrorCode::invalid_argument, {"points are float32 on rank 0 but float64 on rank"}, [&] {
    if (is_last()) {
      const auto doubles = matrix_of<double>(5, 3, [](std::int64_t r, std::int64_t) { return r; });
      mpi::Index<double>(MPI_COMM_WORLD, doubles.view());
    } else {
      mpi::Index<float>(MPI_COMM_WORLD, rows.view());
    }
  });
  mpi::Index<float> index(MPI_COMM_WORLD, rows.view());
  expect_refused(ErrorCode::invalid_argument, {"k is 2 on rank 0 but 3 on rank"},
                 [&] { index.search(rows.view(), is_last() ? 3 : 2); });
  expect_refused(ErrorCode::invalid_argument, {"layout is ring on rank 0 but stationary on rank"},
                 [&] { index.search(rows.view(), 2, by(is_last() ? mpi::Layout::stationary : mpi::Layout::ring)); });
}

TEST(MpiErrors, WhatDependsOnHowTheBaseIsCut) {
  const Matrix<float> rows = rows_of(5);
  Options options;
  options.method = Method::shifted_sort;
  expect_refused(ErrorCode::invalid_argument, {"shifted-sort"},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, rows.view(), options); });
  options = {};
  options.epsilon = 0.5;
  expect_refused(ErrorCode::invalid_argument, {"epsilon = 0.5"},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, rows.view(), options); });
  options = {};
  options.metric = MetricKind::inner_product;
  mpi::Index<float> index(MPI_COMM_WORLD, rows.view(), options);
  expect_refused(ErrorCode::invalid_argument, {"layout landmarks", "triangle inequality"},
                 [&] { index.search(rows.view(), 2, by(mpi::Layout::landmarks)); });
  expect_refused(ErrorCode::invalid_argument, {"no rank has a point"},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, MatrixView<float>(nullptr, 0, 3)); });
}

TEST(MpiErrors, ABudgetThatIsTooSmallOnOneRank) {
  const Matrix<float> rows = rows_of(2000);
  Options options = options_of(MetricKind::euclidean);
  options.backend = Backend::cpu;
  if (is_last()) options.memory_budget = 64;
  expect_refused(ErrorCode::out_of_memory, {last_rank(), "a memory budget of 64 bytes is too small"},
                 [&] { mpi::Index<float>(MPI_COMM_WORLD, rows.view(), options); });
  if (ranks() == 1) return;
  if (is_last()) options.memory_budget = 40'000;  // half of it for copies: less than 2 × 2,000 × 12 bytes
  mpi::Index<float> index(MPI_COMM_WORLD, rows.view(), options);
  expect_refused(ErrorCode::out_of_memory,
                 {"layout replicated", fmt::format("rank {} may take 20000 bytes but", ranks() - 1)},
                 [&] { index.search(rows.view(), 5, by(mpi::Layout::replicated)); });
}

TEST(MpiErrors, ACancelledRankStopsAll) {
  const Matrix<float> rows = rows_of(2000);
  Options options = options_of(MetricKind::euclidean);
  options.method = Method::brute;
  bool stop = false;
  if (is_last()) options.progress = [&](const Progress&) { return !stop; };
  mpi::Index<float> index(MPI_COMM_WORLD, rows.view(), options);
  stop = true;
  for (const mpi::Layout layout : layouts_for(options.metric))
    expect_refused(ErrorCode::cancelled, {last_rank()}, [&] { index.search(rows.view(), 5, by(layout, 100)); });
  stop = false;
  EXPECT_EQ(index.search(rows.view(), 1).ids.size(), 2000U);
}

}  // namespace
}  // namespace kith::test
