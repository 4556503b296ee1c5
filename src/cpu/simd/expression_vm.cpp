// expression_vm.cpp: the steps of a formula, each over a block of numbers that stays in the nearest cache, so that what
// a step costs beside its numbers is spread over hundreds of them. Functions such as exp are those of <cmath>, number
// by number. The order of additions is that of coordinates.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/expression_vm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/aligned.hpp"
#include "cpu/simd/expression_vm.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using core::Op;

// Vectors no longer than a panel.
using RowTag = hn::CappedTag<double, static_cast<std::size_t>(kPanelRows)>;
using RowVec = hn::Vec<RowTag>;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(RowTag()));
constexpr std::int64_t kVectors = kPanelRows / kLanes;  // of a panel's coordinate

// Operations of two numbers; the others are done number by number.
struct Adding {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::Add(a, b); }
};
struct Subtracting {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::Sub(a, b); }
};
struct SubtractingAbsolute {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::Abs(hn::Sub(a, b)); }
};
struct SubtractingSquare {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) {
    const RowVec difference = hn::Sub(a, b);
    return hn::Mul(difference, difference);
  }
};
struct AddingAbsolute {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::Abs(hn::Add(a, b)); }
};
struct Multiplying {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::Mul(a, b); }
};
struct Dividing {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::Div(a, b); }
};
// NaN in either is the result.
struct TakingLess {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b); }
};
struct TakingGreater {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b); }
};
struct IsLess {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::IfThenElseZero(hn::Lt(a, b), hn::Set(RowTag(), 1.0)); }
};
struct IsLessEqual {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::IfThenElseZero(hn::Le(a, b), hn::Set(RowTag(), 1.0)); }
};
struct IsEqual {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::IfThenElseZero(hn::Eq(a, b), hn::Set(RowTag(), 1.0)); }
};
struct IsNotEqual {
  static HWY_INLINE RowVec of(RowVec a, RowVec b) { return hn::IfThenZeroElse(hn::Eq(a, b), hn::Set(RowTag(), 1.0)); }
};

// Where the numbers of a tile's part are: four queries, a panel, the coordinates of a block.
struct Block {
  const double* query;  // the first coordinate of the block
  std::int64_t query_stride;
  const double* panel;  // likewise
  std::int64_t first;   // number of that coordinate
  std::int64_t count;   // of coordinates
  std::int64_t dims;
  double* slots;

  double* slot(int at) const { return slots + at * kVmStride; }
};

// Calls f(x, y, at) for the vectors of all pairs and coordinates, `at` being their place in a slot.
template <class F>
HWY_INLINE void for_points(const Block& block, F f) {
  const RowTag d;
  for (std::int64_t c = 0; c < block.count; ++c)
    for (std::int64_t q = 0; q < kTileQueries; ++q) {
      const RowVec x = hn::Set(d, block.query[q * block.query_stride + c]);
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < kVectors; ++v)
        f(x, hn::LoadU(d, block.panel + c * kPanelRows + v * kLanes), (c * kTileQueries + q) * kPanelRows + v * kLanes);
    }
}

template <class F>
HWY_INLINE void two(const Block& block, const VmStep& step, std::int64_t count) {
  const RowTag d;
  double* HWY_RESTRICT out = block.slot(step.out);
  if (step.form == VmStep::Form::points) {
    for_points(block, [&](RowVec x, RowVec y, std::int64_t at) HWY_ATTR { hn::StoreU(F::of(x, y), d, out + at); });
    return;
  }
  // A slot may be its own argument.
  const double* a = block.slot(step.a);
  const double* b = block.slot(step.b);
  for (std::int64_t i = 0; i < count; i += kLanes)
    hn::StoreU(F::of(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, block.slot(step.out) + i);
}

template <class F>
HWY_INLINE void one(const Block& block, const VmStep& step, std::int64_t count, F f) {
  const RowTag d;
  const double* a = block.slot(step.a);
  double* out = block.slot(step.out);
  for (std::int64_t i = 0; i < count; i += kLanes) hn::StoreU(f(hn::LoadU(d, a + i)), d, out + i);
}

// By <cmath>.
HWY_INLINE void scalar(const Block& block, const VmStep& step, std::int64_t count) {
  const double* a = block.slot(step.a);
  const double* b = step.b >= 0 ? block.slot(step.b) : a;
  double* out = block.slot(step.out);
  for (std::int64_t i = 0; i < count; ++i) out[i] = core::evaluate(step.op, a[i], b[i], 0);
}

HWY_INLINE void choose(const Block& block, const VmStep& step, std::int64_t count) {
  const RowTag d;
  const double* a = block.slot(step.a);
  const double* b = block.slot(step.b);
  const double* c = block.slot(step.c);
  double* out = block.slot(step.out);
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const auto is_zero = hn::Eq(hn::LoadU(d, a + i), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(is_zero, hn::LoadU(d, c + i), hn::LoadU(d, b + i)), d, out + i);
  }
}

// Numbers that no step before has made.
void leaf(const Block& block, const VmStep& step) {
  const RowTag d;
  double* out = block.slot(step.out);
  switch (step.form) {
    case VmStep::Form::constant: std::fill_n(out, kVmSlot, step.value); return;
    case VmStep::Form::dims: std::fill_n(out, kVmSlot, static_cast<double>(block.dims)); return;
    case VmStep::Form::repeat:
      for (std::int64_t c = 0; c < kVmCoordinates; ++c) std::copy_n(block.slot(step.a), kVmPairs, out + c * kVmPairs);
      return;
    case VmStep::Form::slots:
    case VmStep::Form::points: break;
  }
  if (step.op == Op::x) {
    for_points(block, [&](RowVec x, RowVec, std::int64_t at) HWY_ATTR { hn::StoreU(x, d, out + at); });
  } else if (step.op == Op::y) {
    for_points(block, [&](RowVec, RowVec y, std::int64_t at) HWY_ATTR { hn::StoreU(y, d, out + at); });
  } else {
    for (std::int64_t c = 0; c < block.count; ++c)
      std::fill_n(out + c * kVmPairs, kVmPairs, static_cast<double>(block.first + c));
  }
}

// `count`: numbers of each slot.
void do_step(const Block& block, const VmStep& step, std::int64_t count) {
  switch (step.op) {
    case Op::number:
    case Op::x:
    case Op::y:
    case Op::coordinate:
    case Op::dims: return leaf(block, step);
    case Op::negate: return one(block, step, count, [](RowVec a) HWY_ATTR { return hn::Neg(a); });
    case Op::absolute: return one(block, step, count, [](RowVec a) HWY_ATTR { return hn::Abs(a); });
    case Op::square_root: return one(block, step, count, [](RowVec a) HWY_ATTR { return hn::Sqrt(a); });
    case Op::add: return two<Adding>(block, step, count);
    case Op::subtract:
      return step.absolute ? two<SubtractingAbsolute>(block, step, count) : two<Subtracting>(block, step, count);
    case Op::multiply: return two<Multiplying>(block, step, count);
    case Op::divide: return two<Dividing>(block, step, count);
    case Op::minimum: return two<TakingLess>(block, step, count);
    case Op::maximum: return two<TakingGreater>(block, step, count);
    case Op::less: return two<IsLess>(block, step, count);
    case Op::less_equal: return two<IsLessEqual>(block, step, count);
    case Op::equal: return two<IsEqual>(block, step, count);
    case Op::not_equal: return two<IsNotEqual>(block, step, count);
    case Op::select: return choose(block, step, count);
    case Op::exponential:
    case Op::logarithm:
    case Op::sine:
    case Op::cosine:
    case Op::arcsine:
    case Op::arccosine:
    case Op::power: return scalar(block, step, count);
    case Op::sum:
    case Op::product:
    case Op::least:
    case Op::greatest: return;  // stages are these
  }
}

// Takes the numbers of all coordinates of a block into those of the pairs at `total`.
template <class F>
HWY_INLINE void accumulate(const double* HWY_RESTRICT terms, std::int64_t coordinates, double* HWY_RESTRICT total) {
  const RowTag d;
  constexpr std::int64_t kAtOnce = 4;  // vectors
  constexpr std::int64_t kStep = std::min(kAtOnce * kLanes, kVmPairs);
  for (std::int64_t i = 0; i < kVmPairs; i += kStep) {
    RowVec sum[kStep / kLanes];
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < kStep / kLanes; ++v) sum[v] = hn::LoadU(d, total + i + v * kLanes);
    for (std::int64_t c = 0; c < coordinates; ++c)
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < kStep / kLanes; ++v)
        sum[v] = F::of(sum[v], hn::LoadU(d, terms + c * kVmPairs + i + v * kLanes));
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < kStep / kLanes; ++v) hn::StoreU(sum[v], d, total + i + v * kLanes);
  }
}

double identity_of(Op aggregation) {
  switch (aggregation) {
    case Op::product: return 1;
    case Op::least: return std::numeric_limits<double>::infinity();
    case Op::greatest: return -std::numeric_limits<double>::infinity();
    default: return 0;
  }
}

// Queries whose sums with a panel fit into registers.
constexpr std::int64_t kFusedQueries = std::clamp<std::int64_t>(8 / kVectors, 1, kTileQueries);

template <class Term, class Sum>
HWY_INLINE void fused(const Block& block, double first, double* HWY_RESTRICT total) {
  const RowTag d;
  for (std::int64_t q = 0; q < kTileQueries; q += kFusedQueries) {
    const double* HWY_RESTRICT query = block.query + q * block.query_stride;
    RowVec sum[kFusedQueries][kVectors];
#pragma GCC unroll 16
    for (auto& row : sum)
#pragma GCC unroll 16
      for (RowVec& each : row) each = hn::Set(d, first);
    for (std::int64_t c = 0; c < block.count; ++c) {
      RowVec y[kVectors];
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < kVectors; ++v) y[v] = hn::LoadU(d, block.panel + c * kPanelRows + v * kLanes);
#pragma GCC unroll 16
      for (std::int64_t r = 0; r < kFusedQueries; ++r) {
        const RowVec x = hn::Set(d, query[r * block.query_stride + c]);
#pragma GCC unroll 16
        for (std::int64_t v = 0; v < kVectors; ++v) sum[r][v] = Sum::of(sum[r][v], Term::of(x, y[v]));
      }
    }
#pragma GCC unroll 16
    for (std::int64_t r = 0; r < kFusedQueries; ++r)
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, total + (q + r) * kPanelRows + v * kLanes);
  }
}

template <class Sum>
HWY_INLINE void run_fused(VmTerm term, const Block& block, double first, double* total) {
  switch (term) {
    case VmTerm::absolute_difference: return fused<SubtractingAbsolute, Sum>(block, first, total);
    case VmTerm::squared_difference: return fused<SubtractingSquare, Sum>(block, first, total);
    case VmTerm::product: return fused<Multiplying, Sum>(block, first, total);
    case VmTerm::minimum: return fused<TakingLess, Sum>(block, first, total);
    case VmTerm::maximum: return fused<TakingGreater, Sum>(block, first, total);
    case VmTerm::absolute_sum: return fused<AddingAbsolute, Sum>(block, first, total);
    case VmTerm::none: return;
  }
}

// `block`: all coordinates.
void run_stage(const VmStage& stage, const Block& block) {
  for (const VmStep& step : stage.once) do_step(block, step, kVmPairs);
  double* total = block.slot(stage.out);
  const double first = identity_of(stage.aggregation);
  if (stage.term != VmTerm::none) {
    if (stage.aggregation == Op::sum) return run_fused<Adding>(stage.term, block, first, total);
    return run_fused<TakingGreater>(stage.term, block, first, total);
  }
  std::fill_n(total, kVmPairs, first);
  for (std::int64_t c = 0; c < block.dims; c += kVmCoordinates) {
    Block part = block;
    part.query += c;
    part.panel += c * kPanelRows;
    part.first = c;
    part.count = std::min(kVmCoordinates, block.dims - c);
    for (const VmStep& step : stage.each) do_step(part, step, part.count * kVmPairs);
    const double* terms = block.slot(stage.argument);
    switch (stage.aggregation) {
      case Op::product: accumulate<Multiplying>(terms, part.count, total); break;
      case Op::least: accumulate<TakingLess>(terms, part.count, total); break;
      case Op::greatest: accumulate<TakingGreater>(terms, part.count, total); break;
      default: accumulate<Adding>(terms, part.count, total); break;
    }
  }
}

}  // namespace

void run_program(const VmProgram& program, const PanelTile& tile) {
  core::AlignedVector<double> slots(static_cast<std::size_t>(program.slots * kVmStride));
  for (const VmStep& step : program.constants) leaf({nullptr, 0, nullptr, 0, 0, tile.dims, slots.data()}, step);
  for (std::int64_t p = 0; p < tile.panel_count; ++p)
    for (std::int64_t q = 0; q < tile.query_count; q += kTileQueries) {
      const Block block{tile.queries + q * tile.dims,
                        tile.dims,
                        tile.panels + p * tile.dims * kPanelRows,
                        0,
                        tile.dims,
                        tile.dims,
                        slots.data()};
      for (const VmStage& stage : program.stages) run_stage(stage, block);
      for (const VmStep& step : program.last) do_step(block, step, kVmPairs);
      const double* result = block.slot(program.result);
      for (std::int64_t r = 0; r < kTileQueries; ++r)
        std::copy_n(result + r * kPanelRows, kPanelRows, tile.out + (q + r) * tile.out_stride + p * kPanelRows);
    }
}

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(run_program);

void run_expression(const VmProgram& program, const PanelTile& tile) {
  HWY_DYNAMIC_DISPATCH(run_program)(program, tile);
}

}  // namespace kith::cpu
#endif
