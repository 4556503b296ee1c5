// kith_bits.cpp: BitIndex::search under hamming on a ready index; packing the rows is not timed.
#include "cpu/contenders/contenders.hpp"
#include "cpu/contenders/packed_rows.hpp"
#include "kith/bits.hpp"

namespace kith::bench {
namespace {

class KithBits final : public Contender {
 public:
  explicit KithBits(const Problem<std::uint8_t>& problem)
      : k_(problem.row.k),
        base_(problem.base),
        queries_(problem.queries()),
        index_(base_.view(), BitMetric::hamming, options_for(problem.threads)) {}

  void run() override { found_ = index_.search(queries_.view(), k_); }
  void clear() override { found_ = {}; }
  Answer answer() const override {
    return {found_.queries, found_.k, found_.ids, {found_.distances.begin(), found_.distances.end()}};
  }
  Metric metric() const override { return MetricKind::hamming; }
  std::string note() const override { return "packed bits, " + found_.report.plan.kernel; }

 private:
  static Options options_for(int threads) {
    Options options;
    options.backend = Backend::cpu;
    options.threads = threads;
    return options;
  }

  std::int64_t k_;
  PackedRows base_;
  PackedRows queries_;
  BitIndex index_;
  BitNeighbors found_;
};

}  // namespace

std::unique_ptr<Contender> make_kith_bits(const Problem<std::uint8_t>& problem) {
  return std::make_unique<KithBits>(problem);
}

}  // namespace kith::bench
