// faiss_bits.cpp: FAISS' IndexBinaryFlat, with as many threads as the others; it has whole bytes and counts bits.
#include "cpu/contenders/contenders.hpp"

#ifdef KITH_BENCH_FAISS

#include <faiss/IndexBinaryFlat.h>

#include "cpu/contenders/packed_rows.hpp"

namespace kith::bench {
namespace {

class FaissBits final : public Contender {
 public:
  explicit FaissBits(const Problem<std::uint8_t>& problem)
      : k_(problem.row.k), bits_(problem.row.dims), queries_(problem.queries()), index_(bits_) {
    const PackedRows base(problem.base);
    index_.add(base.view().rows, base.view().data);
  }

  void run() override {
    const BitsView queries = queries_.view();
    counts_.resize(static_cast<std::size_t>(queries.rows * k_));
    ids_.resize(counts_.size());
    index_.search(queries.rows, queries.data, k_, counts_.data(), ids_.data());
  }
  void clear() override {
    counts_ = {};
    ids_ = {};
  }
  Answer answer() const override {
    Answer answer{queries_.view().rows, k_, {ids_.begin(), ids_.end()}, {}};
    for (const std::int32_t count : counts_)
      answer.distances.push_back(static_cast<double>(count) / static_cast<double>(bits_));
    return answer;
  }
  Metric metric() const override { return MetricKind::hamming; }
  std::string note() const override { return "IndexBinaryFlat"; }

 private:
  std::int64_t k_;
  std::int64_t bits_;
  PackedRows queries_;
  faiss::IndexBinaryFlat index_;
  std::vector<std::int32_t> counts_;
  std::vector<std::int64_t> ids_;
};

}  // namespace

std::unique_ptr<Contender> make_faiss_bits(const Problem<std::uint8_t>& problem) {
  return problem.row.dims % 8 == 0 ? std::make_unique<FaissBits>(problem) : nullptr;
}

}  // namespace kith::bench

#else

namespace kith::bench {

std::unique_ptr<Contender> make_faiss_bits(const Problem<std::uint8_t>&) {
  return nullptr;
}

}  // namespace kith::bench

#endif
