// faiss.cpp: FAISS' exhaustive search, by the functions IndexFlat calls, on the base where it lies. Its norms are
// handed to it ready-made, as an index may keep them; it runs on the same OpenBLAS and as many threads as the others.
#include "cpu/contenders/contenders.hpp"

#ifdef KITH_BENCH_FAISS

#include <faiss/Index.h>
#include <faiss/utils/distances.h>
#include <faiss/utils/extra_distances.h>
#include <fmt/format.h>

#include <cstddef>
#include <limits>

#include "cpu/contenders/plain_search.hpp"

namespace kith::bench {
namespace {

class FaissSearch final : public PlainSearch<std::int64_t> {
 public:
  FaissSearch(const Problem<float>& problem, bool always_blas) : PlainSearch(problem), always_blas_(always_blas) {
    if (problem.row.metric != Metric(MetricKind::sqeuclidean)) return;
    base_norms_.resize(static_cast<std::size_t>(problem.base.rows()));
    faiss::fvec_norms_L2sqr(base_norms_.data(), problem.base.data(), dims(), base_norms_.size());
  }

  void run() override {
    make_room();
    const int threshold = faiss::distance_compute_blas_threshold;
    if (always_blas_) faiss::distance_compute_blas_threshold = 1;
    search();
    faiss::distance_compute_blas_threshold = threshold;
  }
  Metric metric() const override { return problem_.row.metric; }

 private:
  static std::size_t rows(const Matrix<float>& points) { return static_cast<std::size_t>(points.rows()); }
  std::size_t dims() const { return static_cast<std::size_t>(problem_.row.dims); }

  void search() {
    const Matrix<float>& queries = problem_.queries();
    const Matrix<float>& base = problem_.base;
    const auto k = static_cast<std::size_t>(k_);
    switch (problem_.row.metric.kind) {
      case MetricKind::inner_product:
        faiss::knn_inner_product(queries.data(), base.data(), dims(), rows(queries), rows(base), k, distances_.data(),
                                 ids_.data());
        break;
      case MetricKind::manhattan: search_extra(faiss::METRIC_L1); break;
      case MetricKind::chebyshev: search_extra(faiss::METRIC_Linf); break;
      default:
        faiss::knn_L2sqr(queries.data(), base.data(), dims(), rows(queries), rows(base), k, distances_.data(),
                         ids_.data(), base_norms_.data());
    }
  }

  void search_extra(faiss::MetricType metric) {
    faiss::float_maxheap_array_t heaps = {rows(problem_.queries()), static_cast<std::size_t>(k_), ids_.data(),
                                          distances_.data()};
    faiss::knn_extra_metrics(problem_.queries().data(), problem_.base.data(), dims(), heaps.nh, rows(problem_.base),
                             metric, 0, &heaps);
  }

  bool always_blas_;
  std::vector<float> base_norms_;
};

}  // namespace

std::unique_ptr<Contender> make_faiss(const Problem<float>& problem, bool always_blas) {
  return std::make_unique<FaissSearch>(problem, always_blas);
}

std::string faiss_version() {
  return fmt::format("{}.{}.{}", FAISS_VERSION_MAJOR, FAISS_VERSION_MINOR, FAISS_VERSION_PATCH);
}

}  // namespace kith::bench

#else

namespace kith::bench {

std::unique_ptr<Contender> make_faiss(const Problem<float>&, bool) {
  return nullptr;
}
std::string faiss_version() {
  return {};
}

}  // namespace kith::bench

#endif
