// expression_program.cpp: aggregations become stages, innermost first; what is of a pair of points is computed once,
// before the stage that needs it first.
#include "custom/expression_program.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kith::custom {
namespace {

using core::ExpressionNode;
using core::Op;
using cpu::VmStage;
using cpu::VmStep;
using cpu::VmTerm;

class Compiler {
 public:
  Compiler(const core::Expression& expression, bool fuse)
      : expression_(expression), fuse_(fuse), pair_slots_(expression.nodes.size(), -1) {
    count_uses();
  }

  cpu::VmProgram compile() {
    for (int at = 0; at < static_cast<int>(expression_.nodes.size()); ++at)
      if (uses_[static_cast<std::size_t>(at)] > 0 && core::is_aggregation(node(at).op)) add_stage(at);
    program_.result = pair(expression_.root, program_.last);
    return std::move(program_);
  }

 private:
  const ExpressionNode& node(int at) const { return expression_.nodes[static_cast<std::size_t>(at)]; }

  // How many nodes that count have a node as an argument.
  void count_uses() {
    uses_.assign(expression_.nodes.size(), 0);
    uses_[static_cast<std::size_t>(expression_.root)] = 1;
    for (int at = expression_.root; at >= 0; --at) {
      if (uses_[static_cast<std::size_t>(at)] == 0) continue;
      for (const int argument : node(at).arguments)
        if (argument >= 0) ++uses_[static_cast<std::size_t>(argument)];
    }
  }

  bool is(int at, Op op) const { return node(at).op == op; }
  bool is_points(int at, Op op) const {
    return is(at, op) && is(node(at).arguments[0], Op::x) && is(node(at).arguments[1], Op::y);
  }

  VmTerm term_of(int at) const {
    const ExpressionNode& top = node(at);
    if (top.op == Op::absolute && is_points(top.arguments[0], Op::subtract)) return VmTerm::absolute_difference;
    if (top.op == Op::absolute && is_points(top.arguments[0], Op::add)) return VmTerm::absolute_sum;
    if (is_points(at, Op::multiply)) return VmTerm::product;
    if (is_points(at, Op::minimum)) return VmTerm::minimum;
    if (is_points(at, Op::maximum)) return VmTerm::maximum;
    const bool is_square = top.op == Op::multiply && top.arguments[0] == top.arguments[1];
    if (is_square && is_points(top.arguments[0], Op::subtract)) return VmTerm::squared_difference;
    return VmTerm::none;
  }

  int new_slot() { return program_.slots++; }

  // The slot with a pair's number, which `steps` compute unless steps before have done so.
  int pair(int at, std::vector<VmStep>& steps) {
    int& slot = pair_slots_[static_cast<std::size_t>(at)];
    if (slot >= 0) return slot;
    const ExpressionNode& made = node(at);
    VmStep step;
    step.op = made.op;
    if (made.op == Op::number || made.op == Op::dims) {
      step.form = made.op == Op::number ? VmStep::Form::constant : VmStep::Form::dims;
      step.value = made.value;
      step.out = slot = new_slot();
      program_.constants.push_back(step);
      return slot;
    }
    set_arguments(made, step, [&](int argument) { return pair(argument, steps); });
    // Slots of arguments were made meanwhile.
    step.out = pair_slots_[static_cast<std::size_t>(at)] = new_slot();
    steps.push_back(step);
    return step.out;
  }

  template <class SlotOf>
  static void set_arguments(const ExpressionNode& made, VmStep& step, const SlotOf& slot_of) {
    if (made.arguments[0] >= 0) step.a = slot_of(made.arguments[0]);
    if (made.arguments[1] >= 0) step.b = slot_of(made.arguments[1]);
    if (made.arguments[2] >= 0) step.c = slot_of(made.arguments[2]);
  }

  void add_stage(int at) {
    VmStage stage;
    stage.aggregation = node(at).op;
    const int argument = node(at).arguments[0];
    const bool has_loop = fuse_ && (stage.aggregation == Op::sum || stage.aggregation == Op::greatest);
    if (has_loop) stage.term = term_of(argument);
    if (stage.term == VmTerm::none) {
      std::vector<int> slots(expression_.nodes.size(), -1);
      stage.argument = coordinates(argument, stage, slots);
      share_slots(stage);
    }
    stage.out = pair_slots_[static_cast<std::size_t>(at)] = new_slot();
    program_.stages.push_back(std::move(stage));
  }

  // The slot with the numbers of all coordinates of a block. `slots`: those of this stage.
  int coordinates(int at, VmStage& stage, std::vector<int>& slots) {
    if (slots[static_cast<std::size_t>(at)] >= 0) return slots[static_cast<std::size_t>(at)];
    const ExpressionNode& made = node(at);
    VmStep step;
    step.op = made.op;
    if (!made.by_coordinate) {
      const int slot = pair(at, stage.once);
      if (made.op == Op::number || made.op == Op::dims) return slots[static_cast<std::size_t>(at)] = slot;
      step.op = Op::number;
      step.form = VmStep::Form::repeat;
      step.a = slot;
      step.out = slots[static_cast<std::size_t>(at)] = new_slot();
      stage.once.push_back(step);
      return step.out;
    }
    const int inner = made.arguments[0];
    const bool absolute_difference =
        made.op == Op::absolute && is(inner, Op::subtract) && uses_[static_cast<std::size_t>(inner)] == 1;
    const ExpressionNode& operation = absolute_difference ? node(inner) : made;
    step.op = operation.op;
    step.absolute = absolute_difference;
    if (core::arity(operation.op) == 2 && is_points(absolute_difference ? inner : at, operation.op) &&
        operation.op != Op::power) {
      step.form = VmStep::Form::points;
    } else {
      set_arguments(operation, step, [&](int argument) { return coordinates(argument, stage, slots); });
    }
    step.out = slots[static_cast<std::size_t>(at)] = new_slot();
    stage.each.push_back(step);
    return step.out;
  }

  // Gives steps of a stage the slots of earlier ones that nobody reads any more. A step may write what it reads.
  void share_slots(VmStage& stage) {
    if (stage.each.empty()) return;
    const int first = std::min_element(stage.each.begin(), stage.each.end(), [](const VmStep& a, const VmStep& b) {
                        return a.out < b.out;
                      })->out;
    std::vector<bool> of_each(static_cast<std::size_t>(program_.slots - first), false);
    std::vector<std::size_t> last_use(of_each.size(), 0);
    for (const VmStep& step : stage.each) of_each[static_cast<std::size_t>(step.out - first)] = true;
    const auto is_shared = [&](int slot) { return slot >= first && of_each[static_cast<std::size_t>(slot - first)]; };
    for (std::size_t i = 0; i < stage.each.size(); ++i)
      for (const int slot : {stage.each[i].a, stage.each[i].b, stage.each[i].c})
        if (is_shared(slot)) last_use[static_cast<std::size_t>(slot - first)] = i;
    if (is_shared(stage.argument)) last_use[static_cast<std::size_t>(stage.argument - first)] = stage.each.size();

    std::vector<int> now(of_each.size(), -1);
    std::vector<int> unused;
    const auto moved = [&](int slot) { return is_shared(slot) ? now[static_cast<std::size_t>(slot - first)] : slot; };
    for (std::size_t i = 0; i < stage.each.size(); ++i) {
      VmStep& step = stage.each[i];
      std::vector<int> done;
      for (int* slot : {&step.a, &step.b, &step.c}) {
        const int before = *slot;
        *slot = moved(before);
        const bool ends = is_shared(before) && last_use[static_cast<std::size_t>(before - first)] == i;
        if (ends && std::find(done.begin(), done.end(), *slot) == done.end()) done.push_back(*slot);
      }
      unused.insert(unused.end(), done.begin(), done.end());
      const int before = step.out;
      if (unused.empty()) {
        step.out = before;
      } else {
        step.out = unused.back();
        unused.pop_back();
      }
      now[static_cast<std::size_t>(before - first)] = step.out;
    }
    stage.argument = moved(stage.argument);
  }

  const core::Expression& expression_;
  bool fuse_;
  std::vector<int> uses_;
  std::vector<int> pair_slots_;
  cpu::VmProgram program_;
};

}  // namespace

cpu::VmProgram compile_expression(const core::Expression& expression, bool fuse) {
  return Compiler(expression, fuse).compile();
}

}  // namespace kith::custom
