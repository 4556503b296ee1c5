// formula_source.cpp: a local variable for each node, in the order of core/formula_passes.hpp. Operations are those of
// core::evaluate, written out, so that they are rounded alike.
#include "cuda/pairs/formula_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/formula_passes.hpp"
#include "core/pair_kernel_text.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::pairs {
namespace {

using core::ExpressionNode;
using core::Op;

std::string literal(double value) {
  if (std::isnan(value)) return "__longlong_as_double(0x7FF8000000000000LL)";
  if (std::isinf(value))
    return value > 0 ? "__longlong_as_double(0x7FF0000000000000LL)" : "__longlong_as_double(0xFFF0000000000000LL)";
  char text[48];
  std::snprintf(text, sizeof text, "%a", value);
  return value < 0 || std::signbit(value) ? std::string("(") + text + ")" : text;
}

class Writer {
 public:
  explicit Writer(const core::Expression& expression)
      : expression_(expression), passes_(core::formula_passes(expression)) {}

  std::string metric() {
    std::string text = "template <class F> struct Formula {\n";
    text += "static constexpr unsigned kState = " + std::to_string(std::max(passes_.slots, 1)) + ";\n";
    text += std::string("static constexpr bool kLong = ") + (is_long(expression_) ? "true" : "false") + ";\n";
    text += "__device__ __forceinline__ unsigned passes() const { return " + std::to_string(passes_.passes.size()) +
            "; }\n";
    text += "__device__ __forceinline__ void begin(F (&s)[kState]) const {\n" + begin() + "}\n";
    text += "__device__ __forceinline__ void before(F (&s)[kState], unsigned pass, unsigned dims) const {\n";
    text += each_pass([this](const auto& pass) {
      std::string made;
      for (const int at : pass.before) made += "s[" + std::to_string(slot(at)) + "] = " + operation(at) + ";\n";
      return made;
    });
    text +=
        "}\n__device__ __forceinline__ void add(F (&s)[kState], unsigned pass, F x, F y, unsigned c, unsigned dims)"
        " const {\n";
    text += each_pass([this](const auto& pass) { return coordinate(pass); });
    text += "}\n__device__ __forceinline__ double finish(const F (&s)[kState], unsigned dims) const {\n" + finish() +
            "}\n};\n";
    return text;
  }

 private:
  const ExpressionNode& node(int at) const { return expression_.nodes[static_cast<std::size_t>(at)]; }
  int slot(int at) const { return passes_.slot[static_cast<std::size_t>(at)]; }

  std::string begin() const {
    std::string text;
    for (const auto& pass : passes_.passes)
      for (const int at : pass.aggregations)
        text +=
            "s[" + std::to_string(slot(at)) + "] = static_cast<F>(" + literal(core::identity_of(node(at).op)) + ");\n";
    return text;
  }

  template <class Body>
  std::string each_pass(Body body) const {
    if (passes_.passes.size() == 1) return body(passes_.passes[0]);
    std::string text;
    for (std::size_t i = 0; i < passes_.passes.size(); ++i)
      text += "if (pass == " + std::to_string(i) + ") {\n" + body(passes_.passes[i]) + "}\n";
    return text;
  }

  std::string coordinate(const core::FormulaPasses::Pass& pass) {
    std::string text;
    for (const int at : pass.each)
      if (node(at).op != Op::x && node(at).op != Op::y)
        text += "const F v" + std::to_string(at) + " = " + operation(at) + ";\n";
    for (const int at : pass.aggregations) {
      const std::string sum = "s[" + std::to_string(slot(at)) + "]";
      const std::string term = value(node(at).arguments[0]);
      text += sum + " = " + joined(node(at).op, sum, term) + ";\n";
    }
    return text;
  }

  std::string finish() {
    type_ = "double";
    std::string text;
    for (const int at : passes_.last) text += "const double v" + std::to_string(at) + " = " + operation(at) + ";\n";
    text += "return " + value(expression_.root) + ";\n";
    type_ = "F";
    return text;
  }

  // How a node is read.
  std::string value(int at) const {
    const ExpressionNode& made = node(at);
    if (made.op == Op::x) return "x";
    if (made.op == Op::y) return "y";
    if (made.op == Op::number) return "static_cast<" + type_ + ">(" + literal(made.value) + ")";
    if (made.op == Op::dims) return "static_cast<" + type_ + ">(dims)";
    if (slot(at) >= 0) return "static_cast<" + type_ + ">(s[" + std::to_string(slot(at)) + "])";
    return "v" + std::to_string(at);
  }

  static std::string joined(Op aggregation, const std::string& sum, const std::string& term) {
    switch (aggregation) {
      case Op::product: return sum + " * " + term;
      case Op::least: return "lesser(" + sum + ", " + term + ")";
      case Op::greatest: return "greater(" + sum + ", " + term + ")";
      default: return sum + " + " + term;
    }
  }

  std::string operation(int at) const {
    const ExpressionNode& made = node(at);
    const auto argument = [&](int i) { return value(made.arguments[i]); };
    const auto two = [&](const char* sign) { return argument(0) + sign + argument(1); };
    const auto test = [&](const char* sign) { return "truth<" + type_ + ">(" + two(sign) + ")"; };
    switch (made.op) {
      case Op::coordinate: return "static_cast<" + type_ + ">(c)";
      case Op::negate: return "-" + argument(0);
      case Op::absolute: return "fabs(" + argument(0) + ")";
      case Op::square_root: return "sqrt(" + argument(0) + ")";
      case Op::add: return two(" + ");
      case Op::subtract: return two(" - ");
      case Op::multiply: return two(" * ");
      case Op::divide: return two(" / ");
      case Op::minimum: return "lesser(" + argument(0) + ", " + argument(1) + ")";
      case Op::maximum: return "greater(" + argument(0) + ", " + argument(1) + ")";
      case Op::less: return test(" < ");
      case Op::less_equal: return test(" <= ");
      case Op::equal: return test(" == ");
      case Op::not_equal: return test(" != ");
      case Op::select: return argument(0) + " != 0 ? " + argument(1) + " : " + argument(2);
      default: throw Error(ErrorCode::internal, "a formula for a device has a function without reproducible bits");
    }
  }

  const core::Expression& expression_;
  core::FormulaPasses passes_;
  std::string type_ = "F";
};

// __launch_bounds__ of two blocks leave a thread 128 registers.
std::string tile_kernel(const char* name, const std::string& output, const std::string& points,
                        const std::string& arithmetic) {
  const std::string types = points + ", " + arithmetic;
  return std::string("extern \"C\" __global__ void __launch_bounds__(256, 2) ") + name +
         "(const __grid_constant__ kith::PairTile tile) {\n__shared__ __align__(16) unsigned char "
         "memory[kith::pair_kernel::Shape<Formula<" +
         arithmetic + ">, " + types + ">::kShared];\nkith::pair_kernel::fill_tile<kith::pair_kernel::" + output + ", " +
         types + ">(Formula<" + arithmetic + ">(), tile, memory);\n}\n";
}

}  // namespace

unsigned state_of(const core::Expression& expression) {
  return static_cast<unsigned>(std::max(core::formula_passes(expression).slots, 1));
}

bool is_long(const core::Expression& expression) {
  int operations = 0;
  for (const ExpressionNode& node : expression.nodes) {
    if (!node.by_coordinate) continue;
    operations += node.op == Op::divide || node.op == Op::square_root ? 8 : 1;
  }
  return operations > 16;
}

std::string formula_source(const core::Expression& expression, const char* points, const char* scores) {
  std::string text = core::pair_kernel_text();
  text +=
      "namespace {\n"
      "template <class F> __device__ __forceinline__ F lesser(F a, F b) { return a < b || a != a ? a : b; }\n"
      "template <class F> __device__ __forceinline__ F greater(F a, F b) { return a > b || a != a ? a : b; }\n"
      "template <class F> __device__ __forceinline__ F truth(bool is) { return is ? F(1) : F(0); }\n";
  text += Writer(expression).metric() + "}\n";
  text += tile_kernel("kith_keys", "MatrixOutput", points, "double");
  text += tile_kernel("kith_scores", "MatrixOutput", points, scores);
  text += tile_kernel("kith_filter", "FilterOutput", points, scores);
  text += std::string(
              "extern \"C\" __global__ void __launch_bounds__(256) kith_candidates(const __grid_constant__ "
              "kith::PairTile tile) {\nkith::pair_kernel::fill_candidates<") +
          points + ">(Formula<double>(), tile);\n}\n";
  return text;
}

}  // namespace kith::KITH_BACKEND::pairs
