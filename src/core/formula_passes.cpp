#include "core/formula_passes.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kith::core {
namespace {

class Scheduler {
 public:
  explicit Scheduler(const Expression& expression)
      : nodes_(expression.nodes), used_(nodes_.size(), false), kept_(nodes_.size(), false), pass_(nodes_.size(), 0) {
    mark(used_, expression.root);
    made_.slot.assign(nodes_.size(), -1);
  }

  FormulaPasses schedule() {
    find_passes();
    find_kept();
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (!used_[at]) continue;
      const ExpressionNode& node = nodes_[at];
      const auto number = static_cast<int>(at);
      if (is_aggregation(node.op) || kept_[at]) made_.slot[at] = made_.slots++;
      if (is_aggregation(node.op)) {
        pass_of(node).aggregations.push_back(number);
      } else if (is_of_pair(node)) {
        auto& list = kept_[at] ? made_.passes[as_size(pass_[at])].before : made_.last;
        list.push_back(number);
      }
    }
    for (FormulaPasses::Pass& pass : made_.passes) add_coordinates(pass);
    return std::move(made_);
  }

 private:
  static std::size_t as_size(int at) { return static_cast<std::size_t>(at); }
  static bool is_constant(const ExpressionNode& node) { return node.op == Op::number || node.op == Op::dims; }
  static bool is_of_pair(const ExpressionNode& node) {
    return !node.by_coordinate && !is_constant(node) && !is_aggregation(node.op);
  }

  void mark(std::vector<bool>& marks, int root) const {
    marks[as_size(root)] = true;
    for (int at = root; at >= 0; --at) {
      if (!marks[as_size(at)]) continue;
      for (const int argument : nodes_[as_size(at)].arguments)
        if (argument >= 0) marks[as_size(argument)] = true;
    }
  }

  FormulaPasses::Pass& pass_of(const ExpressionNode& aggregation) {
    return made_.passes[as_size(pass_[as_size(aggregation.arguments[0])])];
  }

  // The pass in which, or before which, a node is known.
  void find_passes() {
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (!used_[at]) continue;
      for (const int argument : nodes_[at].arguments)
        if (argument >= 0) pass_[at] = std::max(pass_[at], pass_[as_size(argument)]);
      if (is_aggregation(nodes_[at].op)) {
        ++pass_[at];
        made_.passes.resize(std::max(made_.passes.size(), as_size(pass_[at])));
      }
    }
  }

  // Numbers of the pair that coordinates or sums need, with the numbers that these are made of.
  void find_kept() {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const ExpressionNode& node = nodes_[i];
      if (!used_[i] || !(node.by_coordinate || is_aggregation(node.op) || kept_[i])) continue;
      for (const int argument : node.arguments)
        if (argument >= 0 && is_of_pair(nodes_[as_size(argument)])) kept_[as_size(argument)] = true;
    }
  }

  void add_coordinates(FormulaPasses::Pass& pass) const {
    std::vector<bool> needed(nodes_.size(), false);
    for (const int aggregation : pass.aggregations) needed[as_size(nodes_[as_size(aggregation)].arguments[0])] = true;
    for (std::size_t at = nodes_.size(); at-- > 0;) {
      if (!needed[at] || !nodes_[at].by_coordinate) continue;
      pass.each.push_back(static_cast<int>(at));
      for (const int argument : nodes_[at].arguments)
        if (argument >= 0) needed[as_size(argument)] = true;
    }
    std::reverse(pass.each.begin(), pass.each.end());
  }

  const std::vector<ExpressionNode>& nodes_;
  std::vector<bool> used_;
  std::vector<bool> kept_;
  std::vector<int> pass_;
  FormulaPasses made_;
};

}  // namespace

FormulaPasses formula_passes(const Expression& expression) {
  return Scheduler(expression).schedule();
}

bool is_reproducible(const Expression& expression) {
  return std::none_of(expression.nodes.begin(), expression.nodes.end(), [](const ExpressionNode& node) {
    return (node.op >= Op::exponential && node.op <= Op::arccosine) || node.op == Op::power;
  });
}

double identity_of(Op aggregation) {
  switch (aggregation) {
    case Op::product: return 1;
    case Op::least: return std::numeric_limits<double>::infinity();
    case Op::greatest: return -std::numeric_limits<double>::infinity();
    default: return 0;
  }
}

}  // namespace kith::core
