// expression.cpp: recursive descent, from comparisons down to names.
#include "core/expression.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kith/error.hpp"

namespace kith::core {
namespace {

struct Function {
  std::string_view name;
  Op op;
};

// min and max of one argument are those of all coordinates; mean is made of a sum.
constexpr std::array<Function, 10> kFunctions{{
    {"abs", Op::absolute},
    {"sqrt", Op::square_root},
    {"exp", Op::exponential},
    {"log", Op::logarithm},
    {"sin", Op::sine},
    {"cos", Op::cosine},
    {"asin", Op::arcsine},
    {"acos", Op::arccosine},
    {"pow", Op::power},
    {"select", Op::select},
}};
constexpr std::string_view kNames =
    "a number, x, y, i, n, pi, '(' or a function: sum, prod, mean, min, max, abs, sqrt, exp, log, sin, cos, asin, "
    "acos, "
    "pow, select";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Makes nodes: equal ones once, constants at once, and some forms of the same value as one.
class Builder {
 public:
  explicit Builder(Expression& expression) : nodes_(expression.nodes) {}

  int number(double value) { return add({Op::number, value, {-1, -1, -1}, false}); }
  int leaf(Op op) { return add({op, 0, {-1, -1, -1}, op != Op::dims}); }

  int make(Op op, int a, int b = -1, int c = -1) {
    if (const std::optional<double> value = constant(op, a, b, c)) return number(*value);
    if (op == Op::power)
      if (const int power = whole_power(a, b); power >= 0) return power;
    if (op == Op::absolute) a = forward(a);
    if (op == Op::multiply && a == b) a = b = forward(a);
    const bool commutes = op == Op::add || op == Op::multiply || op == Op::equal || op == Op::not_equal;
    if (commutes && b < a) std::swap(a, b);
    bool by_coordinate = false;
    for (const int each : {a, b, c}) by_coordinate = by_coordinate || (each >= 0 && node(each).by_coordinate);
    return add({op, 0, {a, b, c}, by_coordinate && !is_aggregation(op)});
  }

 private:
  const ExpressionNode& node(int at) const { return nodes_[static_cast<std::size_t>(at)]; }

  int add(const ExpressionNode& node) {
    const auto same = [&](const ExpressionNode& other) {
      // NaN, which formulas such as 0 / 0 make, and −0 are themselves only.
      return other == node && std::signbit(other.value) == std::signbit(node.value);
    };
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), same);
    if (found != nodes_.end()) return static_cast<int>(found - nodes_.begin());
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }

  std::optional<double> constant(Op op, int a, int b, int c) const {
    if (is_aggregation(op)) return std::nullopt;
    double value[3] = {0, 0, 0};
    int i = 0;
    for (const int each : {a, b, c}) {
      if (each >= 0 && node(each).op != Op::number) return std::nullopt;
      if (each >= 0) value[i] = node(each).value;
      ++i;
    }
    return evaluate(op, value[0], value[1], value[2]);
  }

  // Small powers are products.
  int whole_power(int base, int exponent) {
    if (node(exponent).op != Op::number) return -1;
    const double value = node(exponent).value;
    if (value == 1) return base;
    if (value != 2 && value != 3 && value != 4) return -1;
    const int square = make(Op::multiply, base, base);
    if (value == 2) return square;
    return make(Op::multiply, square, value == 3 ? base : square);
  }

  // x − y for y − x, where the sign does not matter.
  int forward(int at) {
    const ExpressionNode& difference = node(at);
    if (difference.op != Op::subtract) return at;
    const int a = difference.arguments[0];
    const int b = difference.arguments[1];
    return node(a).op == Op::y && node(b).op == Op::x ? make(Op::subtract, b, a) : at;
  }

  std::vector<ExpressionNode>& nodes_;
};

constexpr std::size_t kNowhere = std::string_view::npos;

// A node, and where its first coordinate is that is in no aggregation.
struct Part {
  int node = -1;
  std::size_t coordinate_at = kNowhere;
};

class Parser {
 public:
  Parser(std::string_view text, Expression& expression) : text_(text), builder_(expression), expression_(expression) {}

  int parse() {
    const Part part = comparison();
    skip_blanks();
    if (at_ < text_.size()) fail(at_, "an operator or the end");
    if (part.coordinate_at != kNowhere)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("expression '{}': position {}: {} is a coordinate; sum(…), mean(…), prod(…), min(…) or "
                              "max(…) of one argument makes a number of all coordinates",
                              shown(), part.coordinate_at + 1, text_[part.coordinate_at]));
    return part.node;
  }

 private:
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > ExpressionLimits::kDepth)
        parser_.refuse(parser_.at_, fmt::format("more than {} levels of nesting", ExpressionLimits::kDepth));
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  std::string shown() const {
    constexpr std::size_t kShown = 120;
    std::string printable(text_.substr(0, kShown));
    for (char& c : printable)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    // What was cut off, or is no text, would make the message none.
    for (char& c : printable)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    return text_.size() > kShown ? printable + "…" : printable;
  }

  [[noreturn]] void refuse(std::size_t at, const std::string& what) const {
    throw Error(ErrorCode::invalid_argument, fmt::format("expression '{}': position {}: {}", shown(), at + 1, what));
  }

  [[noreturn]] void fail(std::size_t at, std::string_view expected) const {
    std::string found = "the end";
    if (at < text_.size()) {
      std::size_t end = at + 1;
      if (is_letter(text_[at]))
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end])) && end - at < 40) ++end;
      const auto code = static_cast<unsigned char>(text_[at]);
      found = code < 0x20 || code >= 0x7f ? fmt::format("the byte 0x{:02x}", code)
                                          : fmt::format("'{}'", text_.substr(at, end - at));
    }
    refuse(at, fmt::format("expected {} but found {}", expected, found));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }

  // Takes the token if it is the next.
  bool take(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  void need(std::string_view token, std::string_view expected) {
    if (!take(token)) fail(at_, expected);
  }

  Part made(Op op, const Part& a, const Part& b = {}, const Part& c = {}) {
    const int node = builder_.make(op, a.node, b.node, c.node);
    if (expression_.nodes.size() > ExpressionLimits::kNodes)
      refuse(at_, fmt::format("more than {} operations", ExpressionLimits::kNodes));
    if (is_aggregation(op)) return {node, kNowhere};
    return {node, std::min({a.coordinate_at, b.coordinate_at, c.coordinate_at})};
  }

  Part comparison() {
    const Part left = sum();
    if (take("<=")) return made(Op::less_equal, left, sum());
    if (take(">=")) return reversed(Op::less_equal, left);
    if (take("<")) return made(Op::less, left, sum());
    if (take(">")) return reversed(Op::less, left);
    if (take("==")) return made(Op::equal, left, sum());
    if (take("!=")) return made(Op::not_equal, left, sum());
    return left;
  }

  Part reversed(Op op, const Part& left) {
    const Part right = sum();
    return made(op, right, left);
  }

  Part sum() {
    Part left = product();
    for (;;) {
      if (take("+")) {
        left = made(Op::add, left, product());
      } else if (take("-")) {
        left = made(Op::subtract, left, product());
      } else {
        return left;
      }
    }
  }

  Part product() {
    Part left = signed_power();
    for (;;) {
      skip_blanks();
      if (text_.substr(at_, 2) == "**") return left;  // a power whose base has a sign in front
      if (take("*")) {
        left = made(Op::multiply, left, signed_power());
      } else if (take("/")) {
        left = made(Op::divide, left, signed_power());
      } else {
        return left;
      }
    }
  }

  // −x^2 is −(x^2).
  Part signed_power() {
    const Level level(*this);
    if (take("-")) return made(Op::negate, signed_power());
    if (take("+")) return signed_power();
    const Part base = primary();
    if (take("^") || take("**")) return made(Op::power, base, signed_power());
    return base;
  }

  Part primary() {
    skip_blanks();
    const std::size_t start = at_;
    if (take("(")) {
      const Part inner = comparison();
      need(")", "an operator or ')'");
      return inner;
    }
    if (start < text_.size() && (is_digit(text_[start]) || text_[start] == '.')) return number();
    std::size_t end = start;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string_view name = text_.substr(start, end - start);
    at_ = end;
    if (name == "x") return {builder_.leaf(Op::x), start};
    if (name == "y") return {builder_.leaf(Op::y), start};
    if (name == "i") return {builder_.leaf(Op::coordinate), start};
    if (name == "n") return {builder_.leaf(Op::dims), kNowhere};
    if (name == "pi") return {builder_.number(3.141592653589793), kNowhere};
    return call(name, start);
  }

  Part number() {
    double value = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = fast_float::from_chars(first, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument || end == first) fail(at_, kNames);
    if (!std::isfinite(value)) refuse(at_, "the number is too large for double");
    at_ += static_cast<std::size_t>(end - first);
    return {builder_.number(value), kNowhere};
  }

  std::vector<Part> arguments(std::string_view name) {
    need("(", fmt::format("'(' after {}", name));
    std::vector<Part> parts{comparison()};
    while (take(",")) parts.push_back(comparison());
    need(")", "an operator, ',' or ')'");
    return parts;
  }

  Part call(std::string_view name, std::size_t start) {
    const auto is = [name](const Function& function) { return function.name == name; };
    const auto known = std::find_if(kFunctions.begin(), kFunctions.end(), is);
    const bool aggregates = name == "sum" || name == "prod" || name == "mean";
    const bool orders = name == "min" || name == "max";
    if (known == kFunctions.end() && !aggregates && !orders) fail(start, kNames);
    const std::vector<Part> parts = arguments(name);
    const auto need_count = [&](int count) {
      if (static_cast<int>(parts.size()) != count)
        refuse(start, fmt::format("{} takes {} argument{}, not {}", name, count, count == 1 ? "" : "s", parts.size()));
    };
    if (known != kFunctions.end()) {
      need_count(arity(known->op));
      return made(known->op, parts[0], parts.size() > 1 ? parts[1] : Part{}, parts.size() > 2 ? parts[2] : Part{});
    }
    if (orders && parts.size() > 1) {
      Part all = parts[0];
      for (std::size_t i = 1; i < parts.size(); ++i)
        all = made(name == "min" ? Op::minimum : Op::maximum, all, parts[i]);
      return all;
    }
    need_count(1);
    if (orders) return made(name == "min" ? Op::least : Op::greatest, parts[0]);
    if (name == "prod") return made(Op::product, parts[0]);
    const Part total = made(Op::sum, parts[0]);
    return name == "sum" ? total : made(Op::divide, total, {builder_.leaf(Op::dims), kNowhere});
  }

  std::string_view text_;
  Builder builder_;
  Expression& expression_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// Looks at nodes by their form.
class Form {
 public:
  explicit Form(const Expression& expression) : nodes_(expression.nodes) {}

  bool is(int at, Op op) const { return at >= 0 && node(at).op == op; }
  int argument(int at, int i = 0) const { return node(at).arguments[i]; }

  bool is_difference(int at) const {
    return is(at, Op::subtract) && is(argument(at), Op::x) && is(argument(at, 1), Op::y);
  }
  bool is_absolute_difference(int at) const { return is(at, Op::absolute) && is_difference(argument(at)); }
  bool is_sum_of_squares(int at) const {
    if (!is(at, Op::sum)) return false;
    const int square = argument(at);
    return is(square, Op::multiply) && argument(square) == argument(square, 1) && is_difference(argument(square));
  }
  bool is_share_of_mismatches(int at) const {
    if (!is(at, Op::divide) || !is(argument(at, 1), Op::dims) || !is(argument(at), Op::sum)) return false;
    const int mismatch = argument(argument(at));
    return is(mismatch, Op::not_equal) && node(argument(mismatch)).op != node(argument(mismatch, 1)).op &&
           is_point(argument(mismatch)) && is_point(argument(mismatch, 1));
  }

 private:
  const ExpressionNode& node(int at) const { return nodes_[static_cast<std::size_t>(at)]; }
  bool is_point(int at) const { return is(at, Op::x) || is(at, Op::y); }

  const std::vector<ExpressionNode>& nodes_;
};

}  // namespace

int arity(Op op) {
  if (op <= Op::dims) return 0;
  if (op <= Op::arccosine || is_aggregation(op)) return 1;
  return op == Op::select ? 3 : 2;
}

double evaluate(Op op, double a, double b, double c) {
  switch (op) {
    case Op::negate: return -a;
    case Op::absolute: return std::abs(a);
    case Op::square_root: return std::sqrt(a);
    case Op::exponential: return std::exp(a);
    case Op::logarithm: return std::log(a);
    case Op::sine: return std::sin(a);
    case Op::cosine: return std::cos(a);
    case Op::arcsine: return std::asin(a);
    case Op::arccosine: return std::acos(a);
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::divide: return a / b;
    case Op::power: return std::pow(a, b);
    case Op::minimum: return a < b || std::isnan(a) ? a : b;
    case Op::maximum: return a > b || std::isnan(a) ? a : b;
    case Op::less: return a < b ? 1 : 0;
    case Op::less_equal: return a <= b ? 1 : 0;
    case Op::equal: return a == b ? 1 : 0;
    case Op::not_equal: return a != b ? 1 : 0;
    case Op::select: return a != 0 ? b : c;
    case Op::number:
    case Op::x:
    case Op::y:
    case Op::coordinate:
    case Op::dims:
    case Op::sum:
    case Op::product:
    case Op::least:
    case Op::greatest: break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Expression parse_expression(std::string_view text) {
  if (text.size() > ExpressionLimits::kLength)
    throw Error(ErrorCode::invalid_argument, fmt::format("an expression of {} characters; at most {} are allowed",
                                                         text.size(), ExpressionLimits::kLength));
  Expression expression;
  expression.text = text;
  expression.root = Parser(text, expression).parse();
  return expression;
}

std::optional<Metric> built_in_metric(const Expression& expression) {
  const Form form(expression);
  const int root = expression.root;
  if (form.is(root, Op::sum) && form.is_absolute_difference(form.argument(root))) return MetricKind::manhattan;
  if (form.is(root, Op::greatest) && form.is_absolute_difference(form.argument(root))) return MetricKind::chebyshev;
  if (form.is_sum_of_squares(root)) return MetricKind::sqeuclidean;
  if (form.is(root, Op::square_root) && form.is_sum_of_squares(form.argument(root))) return MetricKind::euclidean;
  if (form.is_share_of_mismatches(root)) return MetricKind::hamming;
  return std::nullopt;
}

}  // namespace kith::core
