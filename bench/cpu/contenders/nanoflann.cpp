// nanoflann.cpp: nanoflann's KD-tree over a few coordinates, each thread taking the next queries.
#include "cpu/contenders/contenders.hpp"

#ifdef KITH_BENCH_NANOFLANN

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <nanoflann.hpp>
#include <vector>

#include "cpu/contenders/plain_search.hpp"

namespace kith::bench {
namespace {

// What nanoflann asks of a set of points.
struct Cloud {
  const Matrix<float>& points;

  std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(points.rows()); }
  float kdtree_get_pt(std::size_t row, std::size_t col) const {
    return points(static_cast<std::int64_t>(row), static_cast<std::int64_t>(col));
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

template <int kDims>
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Cloud>, Cloud, kDims, std::size_t>;

template <int kDims>
class NanoflannSearch final : public PlainSearch<std::size_t> {
 public:
  NanoflannSearch(const Problem<float>& problem, bool whole, int threads)
      : PlainSearch(problem), whole_(whole), threads_(threads), cloud_{problem.base} {
    build();
  }

  void run() override {
    if (whole_) build();
    const auto k = static_cast<std::size_t>(k_);
    const Matrix<float>& queries = problem_.queries();
    make_room();
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 16)
    for (std::int64_t q = 0; q < queries.rows(); ++q) {
      const std::size_t first = static_cast<std::size_t>(q) * k;
      tree_->knnSearch(queries.row(q), k, ids_.data() + first, distances_.data() + first);
    }
  }
  std::string note() const override {
    return "KD-tree";
  }

 private:
  void build() {
    tree_ = std::make_unique<Tree<kDims>>(kDims, cloud_);
    tree_->buildIndex();
  }

  bool whole_;
  int threads_;
  Cloud cloud_;
  std::unique_ptr<Tree<kDims>> tree_;
};

}  // namespace

std::unique_ptr<Contender> make_nanoflann(const Problem<float>& problem, bool whole, int threads) {
  switch (problem.row.dims) {
    case 2: return std::make_unique<NanoflannSearch<2>>(problem, whole, threads);
    case 3: return std::make_unique<NanoflannSearch<3>>(problem, whole, threads);
    case 4: return std::make_unique<NanoflannSearch<4>>(problem, whole, threads);
    case 8: return std::make_unique<NanoflannSearch<8>>(problem, whole, threads);
    default: return nullptr;
  }
}

std::string nanoflann_version() {
  return fmt::format("{}.{}.{}", NANOFLANN_VERSION >> 8, (NANOFLANN_VERSION >> 4) & 15, NANOFLANN_VERSION & 15);
}

}  // namespace kith::bench

#else

namespace kith::bench {

std::unique_ptr<Contender> make_nanoflann(const Problem<float>&, bool, int) {
  return nullptr;
}
std::string nanoflann_version() {
  return {};
}

}  // namespace kith::bench

#endif
