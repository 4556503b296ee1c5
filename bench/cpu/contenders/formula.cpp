// formula.cpp: a search by a formula from points to answer.
#include "cpu/contenders/contenders.hpp"
#include "kith/custom_metric.hpp"
#include "kith/named_metric.hpp"

namespace kith::bench {
namespace {

class KithFormula final : public Contender {
 public:
  KithFormula(const Problem<float>& problem, ExpressionOptions options)
      : problem_(problem), metric_(expression_metric("sum(abs(x - y))", options)) {
    options_.backend = Backend::cpu;
    options_.threads = problem.threads;
  }

  void run() override {
    found_ = search_by(metric_, problem_.base.view(), problem_.queries().view(), problem_.row.k, options_);
  }
  void clear() override { found_ = {}; }
  Answer answer() const override {
    return {found_.queries, found_.k, found_.ids, {found_.distances.begin(), found_.distances.end()}};
  }
  Metric metric() const override { return MetricKind::manhattan; }
  Work work() const override {
    return {static_cast<double>(problem_.row.queries) * static_cast<double>(problem_.row.base_rows), "Gpair/s"};
  }

 private:
  const Problem<float>& problem_;
  std::shared_ptr<const PairMetric> metric_;
  Options options_;
  Neighbors<float> found_;
};

}  // namespace

std::unique_ptr<Contender> make_kith_formula(const Problem<float>& problem, ExpressionOptions options) {
  return std::make_unique<KithFormula>(problem, options);
}

}  // namespace kith::bench
