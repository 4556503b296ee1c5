// heap_baseline.cpp: the CPU implementation that paper 002 compares itself with (section 5.6.1): distances by the
// expansion ‖x‖² + ‖y‖² − 2⟨x,y⟩ with a matrix product, and the k smallest in a binary heap per query, the queries
// spread over OpenMP threads. OpenBLAS takes the place of Eigen, and the distances are made in tiles.
// Limits  float32, sqeuclidean; its distances carry the cancellation of the expansion.
#include <cblas.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "cpu/contenders/plain_search.hpp"

namespace kith::bench {
namespace {

constexpr std::int64_t kQueryBlock = 1024;
constexpr std::int64_t kBaseTile = 4096;  // a tile of distances is 16 MiB

using Hit = std::pair<float, std::int64_t>;

float square_norm(const float* row, std::int64_t dims) {
  float sum = 0;
  for (std::int64_t c = 0; c < dims; ++c) sum += row[c] * row[c];
  return sum;
}

std::vector<float> square_norms(const Matrix<float>& points, int threads) {
  std::vector<float> norms(static_cast<std::size_t>(points.rows()));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < points.rows(); ++i)
    norms[static_cast<std::size_t>(i)] = square_norm(points.row(i), points.cols());
  return norms;
}

// A max-heap of the k best so far: puts `hit` in the place of the root and lets it sink.
void replace_root(Hit* heap, std::int64_t k, Hit hit) {
  std::int64_t hole = 0;
  for (std::int64_t child = 1; child < k; child = 2 * hole + 1) {
    if (child + 1 < k && heap[child] < heap[child + 1]) ++child;
    if (heap[child] <= hit) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = hit;
}

class HeapBaseline final : public PlainSearch<std::int64_t> {
 public:
  explicit HeapBaseline(const Problem<float>& problem)
      : PlainSearch(problem), base_norms_(square_norms(problem.base, problem.threads)) {}

  void run() override {
    const Matrix<float>& queries = problem_.queries();
    const std::vector<float> query_norms = square_norms(queries, problem_.threads);
    std::vector<float> tile(
        static_cast<std::size_t>(std::min(kQueryBlock, queries.rows()) * std::min(kBaseTile, problem_.base.rows())));
    heaps_.assign(static_cast<std::size_t>(queries.rows() * k_), Hit{std::numeric_limits<float>::infinity(), -1});
    for (std::int64_t q = 0; q < queries.rows(); q += kQueryBlock)
      for (std::int64_t b = 0; b < problem_.base.rows(); b += kBaseTile)
        search_tile(q, std::min(kQueryBlock, queries.rows() - q), b, std::min(kBaseTile, problem_.base.rows() - b),
                    query_norms, tile.data());
    emit();
  }
  void clear() override {
    heaps_ = {};
    PlainSearch::clear();
  }

 private:
  Hit* heap_of(std::int64_t query) { return heaps_.data() + query * k_; }

  void search_tile(std::int64_t first_query, std::int64_t queries, std::int64_t first_base, std::int64_t base_rows,
                   const std::vector<float>& query_norms, float* products) {
    const auto dims = static_cast<blasint>(problem_.row.dims);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(queries), static_cast<blasint>(base_rows),
                dims, 1, problem_.queries().row(first_query), dims, problem_.base.row(first_base), dims, 0, products,
                static_cast<blasint>(base_rows));
    const float* base_norms = base_norms_.data() + first_base;
#pragma omp parallel for num_threads(problem_.threads) schedule(dynamic, 8)
    for (std::int64_t q = 0; q < queries; ++q) {
      const float norm = query_norms[static_cast<std::size_t>(first_query + q)];
      const float* row = products + q * base_rows;
      Hit* heap = heap_of(first_query + q);
      for (std::int64_t b = 0; b < base_rows; ++b) {
        const float distance = norm + base_norms[b] - 2 * row[b];
        if (distance < heap[0].first) replace_root(heap, k_, {distance, first_base + b});
      }
    }
  }

  void emit() {
    make_room();
#pragma omp parallel for num_threads(problem_.threads) schedule(static)
    for (std::int64_t q = 0; q < problem_.queries().rows(); ++q) {
      Hit* heap = heap_of(q);
      std::sort_heap(heap, heap + k_);
      for (std::int64_t i = 0; i < k_; ++i) {
        ids_[static_cast<std::size_t>(q * k_ + i)] = heap[i].second;
        distances_[static_cast<std::size_t>(q * k_ + i)] = heap[i].first;
      }
    }
  }

  std::vector<float> base_norms_;
  std::vector<Hit> heaps_;
};

}  // namespace

std::unique_ptr<Contender> make_heap_baseline(const Problem<float>& problem) {
  return std::make_unique<HeapBaseline>(problem);
}

}  // namespace kith::bench
