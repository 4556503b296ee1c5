// expression.hpp: formulas of two points, as trees. docs/metrics.md has the grammar.
// Equal parts are one node, so that they are computed once; children come before their parents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/metric.hpp"

namespace kith::core {

enum class Op : std::uint8_t {
  number,
  x,           // a coordinate of the query
  y,           // of the base point
  coordinate,  // its number, from 0
  dims,
  negate,
  absolute,
  square_root,
  exponential,
  logarithm,
  sine,
  cosine,
  arcsine,
  arccosine,
  add,
  subtract,
  multiply,
  divide,
  power,
  minimum,  // of two numbers; NaN where one of them is
  maximum,
  less,  // 1 or 0
  less_equal,
  equal,
  not_equal,
  select,  // the second of three where the first is not 0, else the third
  // Over all coordinates:
  sum,
  product,
  least,
  greatest,
};

constexpr bool is_aggregation(Op op) {
  return op >= Op::sum;
}

// Arguments of an operation.
int arity(Op op);

struct ExpressionNode {
  Op op = Op::number;
  double value = 0;                 // of a number
  int arguments[3] = {-1, -1, -1};  // numbers of nodes, below this one's
  bool by_coordinate = false;       // differs from coordinate to coordinate

  bool operator==(const ExpressionNode&) const = default;
};

struct Expression {
  std::string text;
  std::vector<ExpressionNode> nodes;
  int root = -1;
};

// What a formula may have.
struct ExpressionLimits {
  static constexpr std::size_t kLength = 4096;
  static constexpr int kDepth = 100;
  static constexpr std::size_t kNodes = 512;
};

// Throws Error(invalid_argument), which names the position and what was expected there.
Expression parse_expression(std::string_view text);

// What an operation of numbers is; none of those that need coordinates.
double evaluate(Op op, double a, double b, double c);

// The metric that the formula is by its form.
std::optional<Metric> built_in_metric(const Expression& expression);

}  // namespace kith::core
