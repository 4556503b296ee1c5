// nanoflann.cpp: nanoflann's KD-tree over three coordinates, each thread taking the next queries.
#include "contenders/contenders.hpp"

#ifdef KITH_BENCH_NANOFLANN

#include <fmt/format.h>

#include <cstddef>
#include <nanoflann.hpp>

namespace kith::bench {
namespace {

constexpr int kDims = 3;

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

using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Cloud>, Cloud, kDims, std::size_t>;

class NanoflannSearch final : public Contender {
 public:
  explicit NanoflannSearch(const Problem<float>& problem)
      : problem_(problem), cloud_{problem.base}, tree_(kDims, cloud_) {
    tree_.buildIndex();
  }

  void run() override {
    const auto k = static_cast<std::size_t>(problem_.row.k);
    const Matrix<float>& queries = problem_.own_queries;
    ids_.resize(static_cast<std::size_t>(queries.rows()) * k);
    distances_.resize(ids_.size());
#pragma omp parallel for num_threads(problem_.threads) schedule(dynamic, 16)
    for (std::int64_t q = 0; q < queries.rows(); ++q) {
      const std::size_t first = static_cast<std::size_t>(q) * k;
      tree_.knnSearch(queries.row(q), k, ids_.data() + first, distances_.data() + first);
    }
  }
  void clear() override {
    ids_ = {};
    distances_ = {};
  }
  Answer answer() const override {
    return {problem_.own_queries.rows(),
            problem_.row.k,
            {ids_.begin(), ids_.end()},
            {distances_.begin(), distances_.end()}};
  }
  std::string note() const override {
    return "KD-tree";
  }

 private:
  const Problem<float>& problem_;
  Cloud cloud_;
  Tree tree_;
  std::vector<std::size_t> ids_;
  std::vector<float> distances_;
};

}  // namespace

std::unique_ptr<Contender> make_nanoflann(const Problem<float>& problem) {
  return std::make_unique<NanoflannSearch>(problem);
}

std::string nanoflann_version() {
  return fmt::format("{}.{}.{}", NANOFLANN_VERSION >> 8, (NANOFLANN_VERSION >> 4) & 15, NANOFLANN_VERSION & 15);
}

}  // namespace kith::bench

#else

namespace kith::bench {

std::unique_ptr<Contender> make_nanoflann(const Problem<float>&) {
  return nullptr;
}
std::string nanoflann_version() {
  return {};
}

}  // namespace kith::bench

#endif
