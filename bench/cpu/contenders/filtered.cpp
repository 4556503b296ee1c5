// filtered.cpp: searches among some of the points. The mask is made before, as a user has it; what is made of it is
// timed.
#include <algorithm>
#include <cstddef>

#include "cpu/contenders/contenders.hpp"
#include "kith/kith.hpp"

#ifdef KITH_BENCH_FAISS
#include <faiss/impl/IDSelector.h>
#include <faiss/IndexFlat.h>
#endif

namespace kith::bench {
namespace {

// Answers as places among the points that may be found.
Answer placed(const Problem<float>& problem, std::int64_t k, const std::vector<std::int64_t>& ids,
              const std::vector<float>& distances) {
  Answer answer{problem.queries().rows(), k, ids, {distances.begin(), distances.end()}};
  if (problem.allowed.empty()) return answer;
  for (std::int64_t& id : answer.ids) {
    const auto at = std::lower_bound(problem.allowed.begin(), problem.allowed.end(), id);
    id = at != problem.allowed.end() && *at == id ? at - problem.allowed.begin() : -1;
  }
  return answer;
}

std::vector<std::uint64_t> mask_of(const Problem<float>& problem) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>((problem.base.rows() + 63) / 64),
                                   problem.allowed.empty() ? ~std::uint64_t{0} : 0);
  for (const std::int64_t row : problem.allowed)
    words[static_cast<std::size_t>(row / 64)] |= std::uint64_t{1} << (row % 64);
  return words;
}

class KithFiltered final : public Contender {
 public:
  KithFiltered(const Problem<float>& problem, bool filtered)
      : problem_(problem), words_(mask_of(problem)), collection_(problem.base.view(), {}, options_of(problem)) {
    if (filtered) filter_.mask = FilterMask{.words = words_};
  }

  void run() override { found_ = collection_.search(problem_.queries().view(), problem_.row.k, filter_); }
  void clear() override { found_ = {}; }
  Answer answer() const override {
    if (filter_.is_empty()) return {};
    return placed(problem_, found_.k, found_.ids, found_.distances);
  }
  std::string note() const override {
    const FilterReport& report = *found_.report.filter;
    return report.gathered > 0 ? "copies" : report.tested > 0 ? "tests" : "all points";
  }
  Work work() const override {
    return {static_cast<double>(problem_.row.queries) * static_cast<double>(problem_.row.base_rows), "Gpair/s"};
  }

 private:
  static Options options_of(const Problem<float>& problem) {
    Options options;
    options.metric = problem.row.metric;
    options.backend = Backend::cpu;
    options.threads = problem.threads;
    return options;
  }

  const Problem<float>& problem_;
  std::vector<std::uint64_t> words_;
  Filter filter_;
  Collection<float> collection_;
  Neighbors<float> found_;
};

#ifdef KITH_BENCH_FAISS
class FaissFiltered final : public Contender {
 public:
  explicit FaissFiltered(const Problem<float>& problem)
      : problem_(problem), words_(mask_of(problem)), index_(problem.row.dims) {
    index_.add(problem.base.rows(), problem.base.data());
  }

  void run() override {
    const auto bytes = static_cast<std::size_t>((problem_.base.rows() + 7) / 8);
    faiss::IDSelectorBitmap selector(bytes, reinterpret_cast<const std::uint8_t*>(words_.data()));
    faiss::SearchParameters parameters;
    parameters.sel = &selector;
    const Matrix<float>& queries = problem_.queries();
    ids_.resize(static_cast<std::size_t>(queries.rows() * problem_.row.k));
    distances_.resize(ids_.size());
    index_.search(queries.rows(), queries.data(), problem_.row.k, distances_.data(), ids_.data(), &parameters);
  }
  void clear() override {
    ids_ = {};
    distances_ = {};
  }
  Answer answer() const override { return placed(problem_, problem_.row.k, ids_, distances_); }

 private:
  const Problem<float>& problem_;
  std::vector<std::uint64_t> words_;
  faiss::IndexFlatL2 index_;
  std::vector<std::int64_t> ids_;
  std::vector<float> distances_;
};
#endif

}  // namespace

std::unique_ptr<Contender> make_kith_filtered(const Problem<float>& problem) {
  return std::make_unique<KithFiltered>(problem, true);
}

std::unique_ptr<Contender> make_kith_unfiltered(const Problem<float>& problem) {
  return std::make_unique<KithFiltered>(problem, false);
}

std::unique_ptr<Contender> make_faiss_filtered([[maybe_unused]] const Problem<float>& problem) {
#ifdef KITH_BENCH_FAISS
  return std::make_unique<FaissFiltered>(problem);
#else
  return nullptr;
#endif
}

}  // namespace kith::bench
