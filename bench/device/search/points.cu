#include "device/search/points.hpp"

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "device/harness/random.cuh"

namespace kith::bench::device::search {
namespace {

constexpr unsigned kThreads = 256;

// What different random numbers are for.
enum Use : unsigned { kCenter = 1U << 16, kChoice = 2U << 16, kMap = 3U << 16, kLatent = 4U << 16, kSpread = 5U << 16 };

struct Recipe {
  std::int64_t rows;
  std::int64_t dims;
  Data data;
  unsigned seed;
};

__device__ float clustered(const Recipe& recipe, std::int64_t row, std::int64_t c) {
  constexpr unsigned kClusters = 500;
  const auto choice = static_cast<std::int64_t>(random_bits(row, recipe.seed + kChoice) % kClusters);
  return 10 * gaussian(choice * recipe.dims + c, kCenter) + 0.1F * gaussian(row * recipe.dims + c, recipe.seed);
}

__device__ float on_manifold(const Recipe& recipe, std::int64_t row, std::int64_t c) {
  constexpr int kLatents = 8;
  float sum = 0;
  for (int j = 0; j < kLatents; ++j)
    sum += gaussian(j * recipe.dims + c, kMap) * gaussian(row * kLatents + j, recipe.seed + kLatent);
  return sinf(0.3F * sum);
}

// Small clusters are many, and tight ones few points apart; most of a point lies in four directions of its cluster.
__device__ float in_table(const Recipe& recipe, std::int64_t row, std::int64_t c) {
  constexpr float kClusters = 300;
  constexpr int kLatents = 4;
  const float position = uniform(row, recipe.seed + kChoice);
  const auto cluster = static_cast<std::int64_t>(kClusters * position * position);
  const float spread = exp2f(-5 * uniform(cluster, kSpread));
  float sum = 0.02F * gaussian(row * recipe.dims + c, recipe.seed);
  for (int j = 0; j < kLatents; ++j)
    sum += gaussian((cluster * kLatents + j) * recipe.dims + c, kMap) *
           gaussian(row * kLatents + j, recipe.seed + kLatent);
  return 10 * gaussian(cluster * recipe.dims + c, kCenter) + spread * sum;
}

// Queries are not among the points.
__device__ float copied(const Recipe& recipe, std::int64_t row, std::int64_t c) {
  const auto distinct = static_cast<unsigned long long>(recipe.rows < 9009 ? (recipe.rows + 2) / 3 : 3003);
  const auto choice = static_cast<std::int64_t>(random_bits(row, recipe.seed + kChoice) % distinct);
  return gaussian(choice * recipe.dims + c, recipe.seed);
}

// Another row for each: four rounds of halves that change each other, until one falls among the rows.
__device__ std::int64_t shuffled(std::int64_t row, std::int64_t rows) {
  unsigned half = 1;
  while ((std::int64_t{1} << 2 * half) < rows) ++half;
  const std::int64_t mask = (std::int64_t{1} << half) - 1;
  do {
    for (unsigned round = 0; round < 4; ++round) {
      const auto mixed = static_cast<std::int64_t>(random_bits(row & mask, kChoice + round));
      row = (row & mask) << half | ((row >> half ^ mixed) & mask);
    }
  } while (row >= rows);
  return row;
}

__device__ float tight(const Recipe& recipe, std::int64_t row, std::int64_t c) {
  constexpr std::int64_t kClusters = 2000;
  const std::int64_t of = recipe.data == Data::tight_shuffled ? shuffled(row, recipe.rows) : row;
  const std::int64_t cluster = of * kClusters / recipe.rows;
  return gaussian(cluster * recipe.dims + c, kCenter) + 1e-3F * gaussian(of * recipe.dims + c, recipe.seed);
}

__device__ float low_rank(const Recipe& recipe, std::int64_t row, std::int64_t c) {
  constexpr int kRank = 8;
  float sum = 1e-3F * gaussian(row * recipe.dims + c, recipe.seed);
  for (int j = 0; j < kRank; ++j)
    sum += gaussian(j * recipe.dims + c, kMap) * gaussian(row * kRank + j, recipe.seed + kLatent);
  return sum;
}

__global__ void fill_kernel(Recipe recipe, float* values) {
  const std::int64_t count = recipe.rows * recipe.dims;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) {
    const std::int64_t row = i / recipe.dims;
    const std::int64_t c = i % recipe.dims;
    switch (recipe.data) {
      case Data::gaussian: values[i] = gaussian(i, recipe.seed); break;
      case Data::clustered: values[i] = clustered(recipe, row, c); break;
      case Data::manifold: values[i] = on_manifold(recipe, row, c); break;
      case Data::uniform: values[i] = uniform(i, recipe.seed); break;
      case Data::table: values[i] = in_table(recipe, row, c); break;
      case Data::copies: values[i] = copied(recipe, row, c); break;
      case Data::tight:
      case Data::tight_shuffled: values[i] = tight(recipe, row, c); break;
      case Data::low_rank: values[i] = low_rank(recipe, row, c); break;
      case Data::bytes: values[i] = static_cast<float>(random_bits(i, recipe.seed) >> 56); break;
      case Data::file: break;
    }
  }
}

__global__ void to_bytes_kernel(const float* from, std::int64_t count, std::uint8_t* to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) to[i] = static_cast<std::uint8_t>(from[i]);
}

}  // namespace

Points::Points(std::int64_t rows, std::int64_t dims, Data data, unsigned seed, cudaStream_t stream)
    : rows_(rows), dims_(dims), values_(static_cast<std::size_t>(rows * dims), stream) {
  cuda::launch("fill", fill_kernel, {.blocks = cuda::multiprocessor_count() * 16, .threads = kThreads}, stream,
               Recipe{rows, dims, data, seed}, values_.data());
}

Points::Points(const std::string& file, cudaStream_t stream) {
  std::ifstream in(file, std::ios::binary);
  std::uint32_t shape[2] = {};
  in.read(reinterpret_cast<char*>(shape), sizeof(shape));
  std::vector<float> values(static_cast<std::size_t>(shape[0]) * shape[1]);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  if (!in || values.empty()) throw std::runtime_error(file + " is no file of points (fbin)");
  rows_ = shape[0];
  dims_ = shape[1];
  values_ = cuda::DeviceBuffer<float>(values.size(), stream);
  KITH_CUDA(
      cudaMemcpyAsync(values_.data(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
}

BytePoints::BytePoints(const MatrixView<float>& points, cudaStream_t stream)
    : rows_(points.rows), dims_(points.cols), values_(static_cast<std::size_t>(rows_ * dims_), stream) {
  cuda::launch("to_bytes", to_bytes_kernel, {.blocks = cuda::ceil_div(rows_ * dims_, kThreads), .threads = kThreads},
               stream, points.data, rows_ * dims_, values_.data());
}

}  // namespace kith::bench::device::search
