// interpreted_formula.cuh: a formula as a metric for the kernel of kith/cuda_pair_kernel.cuh whose steps are read as
// they are done. It is what the emulator runs in the place of machine code by NVRTC: the same kernel, in the same
// order.
#pragma once

#include <cstdint>
#include <vector>

#include "core/formula_passes.hpp"
#include "cuda/runtime/platform.cuh"
#include "kith/cuda_pair_kernel.cuh"

namespace kith::KITH_BACKEND::pairs {

struct FormulaNode {
  core::Op op;
  int arguments[3];
  int slot;
  double value;
};

// Nodes by number, and lists of their numbers: of pass p what is before, for each coordinate, and aggregated, from
// begins[3 p], begins[3 p + 1] and begins[3 p + 2] on; then what is last.
struct FormulaSteps {
  std::vector<FormulaNode> nodes;
  std::vector<int> steps;
  std::vector<int> begins;
  unsigned passes = 0;
  int root = -1;
  int slots = 0;

  explicit FormulaSteps(const core::Expression& formula) : root(formula.root) {
    const core::FormulaPasses passes_of = core::formula_passes(formula);
    for (std::size_t at = 0; at < formula.nodes.size(); ++at) {
      const core::ExpressionNode& node = formula.nodes[at];
      nodes.push_back(
          {node.op, {node.arguments[0], node.arguments[1], node.arguments[2]}, passes_of.slot[at], node.value});
    }
    const auto append = [&](const std::vector<int>& list) {
      begins.push_back(static_cast<int>(steps.size()));
      steps.insert(steps.end(), list.begin(), list.end());
    };
    for (const auto& pass : passes_of.passes) {
      append(pass.before);
      append(pass.each);
      append(pass.aggregations);
    }
    append(passes_of.last);
    append({});
    passes = static_cast<unsigned>(passes_of.passes.size());
    slots = passes_of.slots;
  }
};

// Pointers to the device. kSlots: at least the formula's.
template <class F, unsigned kSlots>
struct InterpretedFormula {
  static constexpr unsigned kState = kSlots;
  static constexpr bool kLong = false;
  static constexpr unsigned kMostNodes = core::ExpressionLimits::kNodes;

  const FormulaNode* nodes;
  const int* steps;
  const int* begins;
  unsigned pass_count;
  int root;

  __device__ unsigned passes() const { return pass_count; }

  __device__ void begin(F (&s)[kState]) const {
    for (unsigned pass = 0; pass < pass_count; ++pass)
      for (int i = begins[3 * pass + 2]; i < begins[3 * pass + 3]; ++i) {
        const FormulaNode& node = nodes[steps[i]];
        s[node.slot] = static_cast<F>(first_of(node.op));
      }
  }
  __device__ void before(F (&s)[kState], unsigned pass, unsigned dims) const {
    for (int i = begins[3 * pass]; i < begins[3 * pass + 1]; ++i)
      s[nodes[steps[i]].slot] = value(nodes[steps[i]], Numbers<F>{s, nullptr, 0, 0, 0, dims});
  }
  __device__ void add(F (&s)[kState], unsigned pass, F x, F y, unsigned c, unsigned dims) const {
    F made[kMostNodes];
    const Numbers<F> numbers{s, made, x, y, c, dims};
    for (int i = begins[3 * pass + 1]; i < begins[3 * pass + 2]; ++i) made[steps[i]] = value(nodes[steps[i]], numbers);
    for (int i = begins[3 * pass + 2]; i < begins[3 * pass + 3]; ++i) {
      const FormulaNode& node = nodes[steps[i]];
      s[node.slot] = joined(node.op, s[node.slot], read(node.arguments[0], numbers));
    }
  }
  __device__ double finish(const F (&s)[kState], unsigned dims) const {
    double made[kMostNodes];
    double kept[kState];
    for (unsigned i = 0; i < kState; ++i) kept[i] = static_cast<double>(s[i]);
    const Numbers<double> numbers{kept, made, 0, 0, 0, dims};
    for (int i = begins[3 * pass_count]; i < begins[3 * pass_count + 1]; ++i)
      made[steps[i]] = value(nodes[steps[i]], numbers);
    return read(root, numbers);
  }

 private:
  template <class G>
  struct Numbers {
    const G* kept;
    const G* made;  // of nodes, by number
    G x;
    G y;
    unsigned c;
    unsigned dims;
  };

  __device__ static double first_of(core::Op aggregation) {
    if (aggregation == core::Op::product) return 1;
    if (aggregation == core::Op::sum) return 0;
    const double infinity = static_cast<double>(__int_as_float(0x7F800000));
    return aggregation == core::Op::least ? infinity : -infinity;
  }
  template <class G>
  __device__ static G lesser(G a, G b) {
    return a < b || a != a ? a : b;
  }
  template <class G>
  __device__ static G greater(G a, G b) {
    return a > b || a != a ? a : b;
  }
  __device__ static F joined(core::Op aggregation, F sum, F term) {
    switch (aggregation) {
      case core::Op::product: return sum * term;
      case core::Op::least: return lesser(sum, term);
      case core::Op::greatest: return greater(sum, term);
      default: return sum + term;
    }
  }

  template <class G>
  __device__ G read(int at, const Numbers<G>& numbers) const {
    const FormulaNode& node = nodes[at];
    switch (node.op) {
      case core::Op::x: return numbers.x;
      case core::Op::y: return numbers.y;
      case core::Op::number: return static_cast<G>(node.value);
      case core::Op::dims: return static_cast<G>(numbers.dims);
      default: return node.slot >= 0 ? numbers.kept[node.slot] : numbers.made[at];
    }
  }

  template <class G>
  __device__ G value(const FormulaNode& node, const Numbers<G>& numbers) const {
    const G a = node.arguments[0] >= 0 ? read(node.arguments[0], numbers) : G{0};
    const G b = node.arguments[1] >= 0 ? read(node.arguments[1], numbers) : G{0};
    switch (node.op) {
      case core::Op::x: return numbers.x;
      case core::Op::y: return numbers.y;
      case core::Op::coordinate: return static_cast<G>(numbers.c);
      case core::Op::negate: return -a;
      case core::Op::absolute: return fabs(a);
      case core::Op::square_root: return sqrt(a);
      case core::Op::add: return a + b;
      case core::Op::subtract: return a - b;
      case core::Op::multiply: return a * b;
      case core::Op::divide: return a / b;
      case core::Op::minimum: return lesser(a, b);
      case core::Op::maximum: return greater(a, b);
      case core::Op::less: return a < b ? G{1} : G{0};
      case core::Op::less_equal: return a <= b ? G{1} : G{0};
      case core::Op::equal: return a == b ? G{1} : G{0};
      case core::Op::not_equal: return a != b ? G{1} : G{0};
      case core::Op::select: return a != 0 ? b : read(node.arguments[2], numbers);
      default: return G{0};
    }
  }
};

}  // namespace kith::KITH_BACKEND::pairs
