// expression_metric.cpp: formulas as metrics.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "api/guard.hpp"
#include "custom/expression_program.hpp"
#include "custom/formula_metric.hpp"
#include "kith/named_metric.hpp"

namespace kith {
namespace {

class ExpressionMetric final : public custom::FormulaMetric {
 public:
  ExpressionMetric(std::string_view text, ExpressionOptions options) : formula_(core::parse_expression(text)) {
    if (options.recognize) built_in_ = core::built_in_metric(formula_);
    program_ = custom::compile_expression(formula_, options.fuse);
    for (const cpu::VmStage& stage : program_.stages)
      seconds_ += stage.term != cpu::VmTerm::none ? 5e-11 : seconds_of(stage);
  }

  std::string name() const override { return formula_.text; }
  const core::Expression& formula() const override { return formula_; }
  using PairMetric::fill;
  void fill(const PanelTile& tile) const override { cpu::run_expression(program_, tile); }
  double pair_seconds(std::int64_t dims) const override { return 5e-9 + seconds_ * static_cast<double>(dims); }
  std::optional<Metric> built_in() const override { return built_in_; }

 private:
  // Of a coordinate.
  static double seconds_of(const cpu::VmStage& stage) {
    double seconds = 5e-11;
    for (const cpu::VmStep& step : stage.each) {
      const bool is_called =
          (step.op >= core::Op::exponential && step.op <= core::Op::arccosine) || step.op == core::Op::power;
      seconds += is_called ? 1e-8 : 5e-11;
    }
    return seconds;
  }

  core::Expression formula_;
  cpu::VmProgram program_;
  std::optional<Metric> built_in_;
  double seconds_ = 0;
};

}  // namespace

std::shared_ptr<const PairMetric> expression_metric(std::string_view text, ExpressionOptions options) {
  return api::guarded([&] { return std::make_shared<const ExpressionMetric>(text, options); });
}

}  // namespace kith
