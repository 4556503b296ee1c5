// formula_error.cpp: bounds of every node, from its arguments' bounds.
#include "core/formula_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace kith::core {
namespace {

// What is known of a node: v its value in exact arithmetic, w what is computed.
struct Known {
  bool not_negative = false;
  bool not_zero = false;
  double least = 0;     // |v| is 0 or at least this
  double greatest = 0;  // and at most this
  double relative = 0;  // |w − v| ≤ relative · |v| + absolute
  double absolute = 0;

  bool is_exact() const { return relative == 0 && absolute == 0; }
};

// The type that a node is computed in. Exponents are kept well inside of its range.
struct Precision {
  double rounding;
  double tiny;  // the least normal number
  double huge;
};
constexpr Precision kFloat{0x1p-24, 0x1p-126, 0x1p126};
constexpr Precision kDouble{0x1p-53, 0x1p-1022, 0x1p1022};
// Of the bounds' own arithmetic, and of the key, which is computed in double too.
constexpr double kSlack = 1.0 + 0x1p-40;

using Maybe = std::optional<Known>;

class Bounds {
 public:
  Bounds(const Expression& expression, std::int64_t dims, double largest)
      : expression_(expression), dims_(static_cast<double>(dims)), largest_(largest), known_(expression.nodes.size()) {}

  Maybe root() {
    for (std::size_t at = 0; at < expression_.nodes.size(); ++at) {
      const ExpressionNode& node = expression_.nodes[at];
      is_float_ = node.by_coordinate || is_aggregation(node.op);
      known_[at] = of(node);
      if (known_[at] && !(known_[at]->greatest <= precision().huge && known_[at]->relative < 0.1))
        known_[at] = std::nullopt;
    }
    return known_[static_cast<std::size_t>(expression_.root)];
  }

 private:
  const Precision& precision() const { return is_float_ ? kFloat : kDouble; }

  Maybe argument(const ExpressionNode& node, int i) const {
    if (node.arguments[i] < 0) return Known{};
    const auto at = static_cast<std::size_t>(node.arguments[i]);
    const ExpressionNode& inner = expression_.nodes[at];
    if (is_float_ && !inner.by_coordinate && !is_aggregation(inner.op)) return as_float(inner);
    // What coordinates need of other sums has gone through roundings that are not counted here.
    if (is_float_ && is_aggregation(inner.op)) return std::nullopt;
    return known_[at];
  }

  // A constant as coordinates see it.
  Maybe as_float(const ExpressionNode& node) const {
    if (node.op != Op::number && node.op != Op::dims) return std::nullopt;
    const double value = node.op == Op::dims ? dims_ : node.value;
    Maybe known = constant(value);
    if (known && value != 0) {
      if (known->least < kFloat.tiny || known->greatest > kFloat.huge) return std::nullopt;
      known->relative = std::abs(static_cast<double>(static_cast<float>(value)) - value) / std::abs(value) * kSlack;
    }
    return known;
  }

  static Maybe constant(double value) {
    if (!std::isfinite(value)) return std::nullopt;
    return Known{value >= 0, value != 0, std::abs(value), std::abs(value), 0, 0};
  }

  // One more rounding, which loses digits below the least normal number where it is a product or quotient.
  Known rounded(Known made, bool may_underflow) const {
    made.relative = (made.relative + precision().rounding * (1 + made.relative)) * kSlack;
    if (may_underflow && made.least < precision().tiny)
      made.absolute = made.absolute * kSlack + precision().tiny * precision().rounding;
    made.greatest *= kSlack * kSlack;
    return made;
  }

  Maybe of(const ExpressionNode& node) const {
    const Maybe a = argument(node, 0);
    const Maybe b = argument(node, 1);
    const Maybe c = argument(node, 2);
    if (!a || !b || !c) return std::nullopt;
    switch (node.op) {
      case Op::number: return constant(node.value);
      case Op::dims: return constant(dims_);
      case Op::x:
      case Op::y: return Known{false, false, 0x1p-149, largest_, 0, 0};
      case Op::coordinate:
        if (dims_ > 0x1p24) return std::nullopt;
        return Known{true, false, 1, dims_, 0, 0};
      case Op::negate: return Known{false, a->not_zero, a->least, a->greatest, a->relative, a->absolute};
      case Op::absolute: return Known{true, a->not_zero, a->least, a->greatest, a->relative, a->absolute};
      case Op::square_root: return square_root(*a);
      case Op::add: return sum(*a, *b, a->not_negative && b->not_negative);
      case Op::subtract: return sum(*a, *b, false);
      case Op::multiply: return product(*a, *b, node.arguments[0] == node.arguments[1]);
      case Op::divide: return quotient(*a, *b);
      case Op::minimum:
      case Op::maximum:
        return either(*a, *b,
                      node.op == Op::maximum ? a->not_negative || b->not_negative : a->not_negative && b->not_negative);
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal:
        if (!a->is_exact() || !b->is_exact()) return std::nullopt;
        return Known{true, false, 1, 1, 0, 0};
      case Op::select:
        if (!a->is_exact()) return std::nullopt;
        return either(*b, *c, b->not_negative && c->not_negative);
      case Op::sum: return total(*a);
      case Op::least:
      case Op::greatest: return a;
      default: return std::nullopt;
    }
  }

  // Roundings to either side keep the order of numbers, so that a minimum or maximum has the errors of its arguments.
  static Known either(const Known& a, const Known& b, bool not_negative) {
    return {not_negative,
            a.not_zero && b.not_zero,
            std::min(a.least, b.least),
            std::max(a.greatest, b.greatest),
            std::max(a.relative, b.relative),
            std::max(a.absolute, b.absolute)};
  }

  // √(v (1 + ε) + η) ≤ (1 + ε) √v + √η, and likewise below.
  Maybe square_root(const Known& a) const {
    if (!a.not_negative) return std::nullopt;
    return rounded(
        {true, a.not_zero, std::sqrt(a.least), std::sqrt(a.greatest), a.relative, std::sqrt(a.absolute) * kSlack},
        false);
  }

  // Sums and differences of floats are rounded once, and those that are subnormal not at all.
  Maybe sum(const Known& a, const Known& b, bool same_sign) const {
    if (!same_sign && !(a.is_exact() && b.is_exact())) return std::nullopt;
    Known made = either(a, b, same_sign);
    made.not_zero = same_sign && (a.not_zero || b.not_zero);
    if (made.not_zero) made.least = std::max(a.not_zero ? a.least : 0, b.not_zero ? b.least : 0);
    // Two floats differ by a unit of the last place of the smaller one at least.
    if (!same_sign) made.least = 0x1p-149;
    made.greatest = a.greatest + b.greatest;
    made.absolute = a.absolute + b.absolute;
    // Numbers of any size in the formula are no multiples of 2⁻¹⁴⁹ in double.
    if (!same_sign && !is_float_) return std::nullopt;
    return rounded(made, false);
  }

  Maybe product(const Known& a, const Known& b, bool is_square) const {
    Known made;
    made.not_negative = is_square || (a.not_negative && b.not_negative);
    made.not_zero = a.not_zero && b.not_zero;
    made.least = a.least * b.least;
    made.greatest = a.greatest * b.greatest;
    made.relative = a.relative + b.relative + a.relative * b.relative;
    made.absolute = 2 * (a.absolute * b.greatest + b.absolute * a.greatest) + a.absolute * b.absolute;
    return rounded(made, true);
  }

  Maybe quotient(const Known& a, Known b) const {
    if (b.absolute != 0) {
      if (!b.not_zero || b.absolute > b.least * 0x1p-30) return std::nullopt;
      b.relative += b.absolute / b.least;
    }
    if (a.absolute != 0 && !b.not_zero) return std::nullopt;
    Known made;
    made.not_negative = a.not_negative && b.not_negative;
    made.not_zero = false;
    made.least = a.least / b.greatest;
    made.greatest = a.greatest / b.least;
    made.relative = (1 + a.relative) / (1 - b.relative) - 1;
    made.absolute = a.absolute == 0 ? 0 : 2 * a.absolute / b.least;
    return rounded(made, true);
  }

  // n additions of what is not negative.
  Maybe total(const Known& a) const {
    if (!a.not_negative) return std::nullopt;
    const double gamma = dims_ * kFloat.rounding;
    if (gamma > 0.05) return std::nullopt;
    Known made = a;
    made.least = a.least;
    made.greatest = a.greatest * dims_;
    made.relative = (a.relative + gamma / (1 - gamma) * (1 + a.relative)) * kSlack;
    made.absolute = 1.1 * dims_ * a.absolute;
    return made;
  }

  const Expression& expression_;
  double dims_;
  double largest_;
  std::vector<Maybe> known_;
  bool is_float_ = false;
};

}  // namespace

std::optional<FormulaError> formula_error(const Expression& expression, std::int64_t dims, double largest) {
  const Maybe root = Bounds(expression, dims, largest).root();
  if (!root) return std::nullopt;
  // The last rounding, to float; and the key's own roundings in double, of which there are fewer than 2⁻³⁰ in all.
  return FormulaError{(root->relative + 0x1p-24) * kSlack + 0x1p-30, root->absolute * 1.1 + 0x1p-149};
}

double distance_above(float limit, const FormulaError& error) {
  const double raw = static_cast<double>(limit) - error.absolute;
  const double bound = raw >= 0 ? raw / (1 + error.relative) : raw / (1 - error.relative);
  return bound - std::abs(bound) * 0x1p-40;
}

}  // namespace kith::core
