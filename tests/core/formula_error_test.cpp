// Scores in float are within their bounds, and formulas whose scores have none are not given one.
#include "core/formula_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/formula_passes.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

// Evaluates a formula as a device does: coordinates and aggregations in F, the rest in double.
template <class F>
double evaluated(const core::Expression& formula, const std::vector<float>& x, const std::vector<float>& y) {
  const core::FormulaPasses passes = core::formula_passes(formula);
  std::vector<double> kept(formula.nodes.size(), 0);
  const auto node = [&](int at) -> const core::ExpressionNode& { return formula.nodes[static_cast<std::size_t>(at)]; };
  const auto value = [&](int at, std::size_t c, bool in_float) -> double {
    switch (node(at).op) {
      case core::Op::x: return static_cast<double>(x[c]);
      case core::Op::y: return static_cast<double>(y[c]);
      case core::Op::number: return in_float ? static_cast<double>(static_cast<F>(node(at).value)) : node(at).value;
      case core::Op::dims: return static_cast<double>(x.size());
      case core::Op::coordinate: return static_cast<double>(c);
      default: return kept[static_cast<std::size_t>(at)];
    }
  };
  const auto step = [&](int at, std::size_t c, bool in_float) {
    double arguments[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i)
      if (node(at).arguments[i] >= 0) arguments[i] = value(node(at).arguments[i], c, in_float);
    if (core::arity(node(at).op) == 0) return value(at, c, in_float);
    const double made = core::evaluate(node(at).op, arguments[0], arguments[1], arguments[2]);
    return in_float ? static_cast<double>(static_cast<F>(made)) : made;
  };
  for (const auto& pass : passes.passes) {
    for (const int at : pass.aggregations) kept[static_cast<std::size_t>(at)] = core::identity_of(node(at).op);
    for (std::size_t c = 0; c < x.size(); ++c) {
      for (const int at : pass.each) kept[static_cast<std::size_t>(at)] = step(at, c, true);
      for (const int at : pass.aggregations) {
        double& sum = kept[static_cast<std::size_t>(at)];
        const double term = value(node(at).arguments[0], c, true);
        sum = node(at).op == core::Op::sum     ? sum + term
              : node(at).op == core::Op::least ? std::fmin(sum, term)
                                               : std::fmax(sum, term);
        sum = static_cast<double>(static_cast<F>(sum));
      }
    }
  }
  for (const int at : passes.last) kept[static_cast<std::size_t>(at)] = step(at, 0, false);
  return value(formula.root, 0, false);
}

TEST(FormulaError, HoldsForScoresInFloat) {
  Random random(5);
  for (const char* text : {"sum(abs(x - y))", "sum(abs(x - y) / (1 + abs(x)))", "sqrt(sum((x - y)^2))",
                           "sum(abs(x - y)) / sum(abs(x + y))", "max(abs(x - y) * 0.1)", "sum((x - y)^4) / n",
                           "sum(select(x < y, y - x, 3 * abs(x)))", "-sum(sqrt(abs(x * y)))",
                           "sum(max(abs(x), 0.3) / max(abs(y), 0.7)) + 5"}) {
    const core::Expression formula = core::parse_expression(text);
    for (const double scale : {1e-30, 1e-3, 1.0, 1e4})
      for (const std::int64_t dims : {1, 17, 300}) {
        const auto error = core::formula_error(formula, dims, scale);
        if (!error) continue;
        for (int round = 0; round < 20; ++round) {
          std::vector<float> x;
          std::vector<float> y;
          for (std::int64_t c = 0; c < dims; ++c) {
            x.push_back(static_cast<float>(scale * (2 * random.uniform() - 1)));
            y.push_back(static_cast<float>(scale * (2 * random.uniform() - 1)));
          }
          const auto score = static_cast<float>(evaluated<float>(formula, x, y));
          const double distance = evaluated<double>(formula, x, y);
          ASSERT_LE(std::abs(static_cast<double>(score) - distance),
                    error->relative * std::abs(distance) + error->absolute)
              << text << ", scale " << scale << ", " << dims << " dimensions";
          ASSERT_LE(core::distance_above(score, *error), distance) << text;
        }
      }
  }
}

TEST(FormulaError, IsSmallWhereSumsHaveOneSign) {
  for (const char* text : {"sum(abs(x - y))", "sum(abs(x - y) / (1 + abs(x)))", "sqrt(sum((x - y)^2))",
                           "sum(abs(x - y)) / sum(abs(x + y))", "sum((x - y)^2) / (1 + sum(abs(x)))"}) {
    const auto error = core::formula_error(core::parse_expression(text), 128, 100);
    ASSERT_TRUE(error) << text;
    EXPECT_LT(error->relative, 1e-4) << text;
    EXPECT_LT(error->absolute, 1e-18) << text;
  }
}

TEST(FormulaError, IsUnknownWhereDigitsMayCancel) {
  for (const char* text : {"sum(x * y)", "1 - sum(min(x, y)) / sum(max(x, y))", "sum((x - mean(x)) * (y - mean(y)))",
                           "sum(abs(x * y - 1))", "prod(abs(x - y))", "sum(abs(x - y) < 0.1)", "sum(abs(x) / abs(y))",
                           "sum(exp(-abs(x - y)))", "sum(abs(x - y) / (x + y))"})
    EXPECT_FALSE(core::formula_error(core::parse_expression(text), 128, 100)) << text;
  const core::Expression manhattan = core::parse_expression("sum(abs(x - y))");
  EXPECT_FALSE(core::formula_error(manhattan, 128, 1e38));
  EXPECT_FALSE(core::formula_error(manhattan, 128, HUGE_VAL));
  EXPECT_FALSE(core::formula_error(manhattan, 2000000, 1));
}

}  // namespace
}  // namespace kith::test
