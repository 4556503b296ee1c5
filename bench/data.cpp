#include "data.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cli/generator.hpp"

namespace kith::bench {
namespace {

constexpr std::int64_t kBlock = 1024;  // rows made at a time

// Fills in parallel, so that on a machine with several memory nodes the pages are spread over them.
template <Element T>
Matrix<T> uniform_points(std::uint64_t seed, std::int64_t rows, std::int64_t dims, int threads) {
  const cli::PointGenerator generator({cli::PointKind::uniform, dims, seed, 0});
  Matrix<T> points(rows, dims);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t first = 0; first < rows; first += kBlock) {
    const std::vector<T> block = generator.rows<T>(first, std::min(kBlock, rows - first));
    std::copy(block.begin(), block.end(), points.row(first));
  }
  return points;
}

// Point i belongs to cluster i mod kClusters.
template <Element T>
void pull_into_clusters(Matrix<T>& points) {
  const Matrix<double> centres = uniform_points<double>(kCentreSeed, kClusters, points.cols(), 1);
  for (std::int64_t i = 0; i < points.rows(); ++i)
    for (std::int64_t c = 0; c < points.cols(); ++c)
      points(i, c) =
          static_cast<T>(centres(i % kClusters, c) + kClusterRadius * (2 * static_cast<double>(points(i, c)) - 1));
}

template <Element T>
Matrix<T> make_points(DataKind data, std::uint64_t seed, std::int64_t rows, std::int64_t dims, int threads) {
  Matrix<T> points = uniform_points<T>(seed, rows, dims, threads);
  if (data == DataKind::clustered) pull_into_clusters(points);
  return points;
}

}  // namespace

template <Element T>
Problem<T> make_problem(const RowSpec& row, int threads) {
  Problem<T> problem;
  problem.row = row;
  problem.threads = threads;
  problem.base = make_points<T>(row.data, kBaseSeed, row.base_rows, row.dims, threads);
  if (!row.self) problem.own_queries = make_points<T>(row.data, kQuerySeed, row.queries, row.dims, threads);
  return problem;
}

template Problem<float> make_problem(const RowSpec&, int);
template Problem<double> make_problem(const RowSpec&, int);
template Problem<std::uint8_t> make_problem(const RowSpec&, int);

}  // namespace kith::bench
