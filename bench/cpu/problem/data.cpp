#include "cpu/problem/data.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <type_traits>
#include <vector>

#include "common/space_sets.hpp"
#include "kith/io.hpp"
#include "support/generator.hpp"

namespace kith::bench {
namespace {

constexpr std::int64_t kBlock = 1024;  // rows made at a time

// Fills in parallel, so that on a machine with several memory nodes the pages are spread over them.
template <Element T>
Matrix<T> uniform_points(std::uint64_t seed, std::int64_t rows, std::int64_t dims, int threads) {
  const support::PointGenerator generator({support::PointKind::uniform, dims, seed, 0});
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
  const Matrix<double> centers = uniform_points<double>(kCenterSeed, kClusters, points.cols(), 1);
  for (std::int64_t i = 0; i < points.rows(); ++i)
    for (std::int64_t c = 0; c < points.cols(); ++c)
      points(i, c) =
          static_cast<T>(centers(i % kClusters, c) + kClusterRadius * (2 * static_cast<double>(points(i, c)) - 1));
}

// A cluster is a color with a spread of its own and one of two kinds, which is the last coordinate; every point has
// one of them, rounded to whole numbers.
template <Element T>
Matrix<T> colored_points(std::uint64_t seed, std::int64_t rows, std::int64_t dims) {
  std::mt19937_64 center_random(kCenterSeed);
  std::uniform_real_distribution<double> level(0, 256);
  std::uniform_real_distribution<double> spread(0.3, 2);
  Matrix<double> centers(kColors, dims + 1);
  for (std::int64_t i = 0; i < kColors; ++i) {
    for (std::int64_t c = 0; c + 1 < dims; ++c) centers(i, c) = level(center_random);
    centers(i, dims - 1) = static_cast<double>(1 + i % 2);
    centers(i, dims) = spread(center_random);
  }
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise;
  Matrix<T> points(rows, dims);
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto color = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kColors));
    points(r, dims - 1) = static_cast<T>(centers(color, dims - 1));
    for (std::int64_t c = 0; c + 1 < dims; ++c)
      points(r, c) =
          static_cast<T>(std::clamp(std::round(centers(color, c) + noise(random) * centers(color, dims)), 0.0, 255.0));
  }
  return points;
}

template <Element T>
Matrix<T> points_of_file(const RowSpec& row) {
  const io::Array array = io::load(row.file).converted(io::element_type_of<T>());
  const MatrixView<T> all = array.view<T>();
  Matrix<T> points(row.base_rows, row.dims);
  for (std::int64_t r = 0; r < points.rows(); ++r)
    for (std::int64_t c = 0; c < points.cols(); ++c) points(r, c) = all(r * all.rows / points.rows(), c);
  return points;
}

template <Element T>
Matrix<T> in_space(const SpacePoints& points) {
  Matrix<T> made(static_cast<std::int64_t>(points.size()) / 3, 3);
  std::transform(points.begin(), points.end(), made.data(), [](float x) { return static_cast<T>(x); });
  return made;
}

// Turns uniform points into those that are hard for a tree.
template <Element T>
void make_hard(DataKind data, Matrix<T>& points) {
  for (std::int64_t r = 0; r < points.rows(); ++r)
    for (std::int64_t c = 0; c < points.cols(); ++c) {
      const auto value = static_cast<double>(points(r, c));
      const auto along = static_cast<double>(points(r, 0));
      switch (data) {
        case DataKind::line: points(r, c) = static_cast<T>(c == 0 ? along : along * static_cast<double>(c + 1)); break;
        case DataKind::copies: points(r, c) = static_cast<T>(std::floor(c < 3 ? 4 * value : 0)); break;
        case DataKind::offset: points(r, c) = static_cast<T>(value + 1e4); break;
        case DataKind::outlier: points(r, c) = r == points.rows() / 3 ? static_cast<T>(-1e30) : points(r, c); break;
        case DataKind::huge: points(r, c) = static_cast<T>(value * 1e18); break;
        default: return;
      }
    }
}

template <Element T>
Matrix<T> make_points(DataKind data, std::uint64_t seed, std::int64_t rows, std::int64_t dims, int threads) {
  if (data == DataKind::colors) return colored_points<T>(seed, rows, dims);
  Matrix<T> points = uniform_points<T>(seed, rows, dims, threads);
  if (data == DataKind::clustered) pull_into_clusters(points);
  if constexpr (std::is_floating_point_v<T>) make_hard(data, points);
  return points;
}

// Rows that are drawn at random, the same every time.
template <Element T>
void choose_allowed(Problem<T>& problem) {
  std::mt19937_64 random(4);
  for (std::int64_t row = 0; row < problem.base.rows(); ++row)
    if (static_cast<double>(random() >> 11U) * 0x1p-53 < problem.row.allowed) problem.allowed.push_back(row);
  problem.allowed_base = Matrix<T>(static_cast<std::int64_t>(problem.allowed.size()), problem.base.cols());
  for (std::size_t i = 0; i < problem.allowed.size(); ++i)
    std::copy_n(problem.base.row(problem.allowed[i]), problem.base.cols(),
                problem.allowed_base.row(static_cast<std::int64_t>(i)));
}

}  // namespace

template <Element T>
Problem<T> make_problem(const RowSpec& row, int threads) {
  Problem<T> problem;
  problem.row = row;
  problem.threads = threads;
  if (row.data == DataKind::file) {
    problem.base = points_of_file<T>(row);
    return problem;
  }
  if (row.data == DataKind::space) {
    const SpaceSets pair = make_space_sets(row.set, row.base_rows, row.queries, load_surface(row.file));
    problem.base = in_space<T>(pair.base);
    problem.own_queries = in_space<T>(pair.queries);
    return problem;
  }
  problem.base = make_points<T>(row.data, kBaseSeed, row.base_rows, row.dims, threads);
  if (row.allowed < 1) choose_allowed(problem);
  if (!row.self) problem.own_queries = make_points<T>(row.data, kQuerySeed, row.queries, row.dims, threads);
  return problem;
}

template Problem<float> make_problem(const RowSpec&, int);
template Problem<double> make_problem(const RowSpec&, int);
template Problem<std::uint8_t> make_problem(const RowSpec&, int);
template Problem<Float16> make_problem(const RowSpec&, int);

}  // namespace kith::bench
