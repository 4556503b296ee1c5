// expression_vm.hpp: a formula as steps over blocks of numbers, and the kernel that follows them for panels of base
// rows. Layout  a slot has kVmCoordinates × kTileQueries × kPanelRows numbers: what differs from coordinate to
// coordinate fills
//         it, what is of a pair of points takes the first kVmPairs of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/expression.hpp"
#include "kith/pair_metric.hpp"

namespace kith::cpu {

inline constexpr std::int64_t kVmCoordinates = 8;
inline constexpr std::int64_t kVmPairs = kTileQueries * kPanelRows;
inline constexpr std::int64_t kVmSlot = kVmCoordinates * kVmPairs;
// From a slot to the next: not a multiple of 4096 bytes, at which processors take a load for one of what was just
// stored.
inline constexpr std::int64_t kVmStride = kVmSlot + 24;

// One operation on slots. `absolute` is taken of a difference at once, and x and y are read where they lie.
struct VmStep {
  enum class Form : std::uint8_t {
    slots,     // of slots a, b, c
    points,    // of x and y
    constant,  // value in all of the slot
    dims,
    repeat,  // a pair's numbers of slot a, for all coordinates
  };
  core::Op op = core::Op::number;
  Form form = Form::slots;
  bool absolute = false;
  int a = -1;
  int b = -1;
  int c = -1;
  int out = -1;
  double value = 0;
};

// Terms of x and y that have a loop of their own, with sums in registers.
enum class VmTerm : std::uint8_t {
  none,
  absolute_difference,
  squared_difference,
  product,
  minimum,
  maximum,
  absolute_sum
};

// An aggregation over coordinates: `once` is done before it, `each` for every block of coordinates.
struct VmStage {
  std::vector<VmStep> once;
  std::vector<VmStep> each;
  core::Op aggregation = core::Op::sum;  // sum, product, least or greatest
  VmTerm term = VmTerm::none;            // sum and greatest only
  int argument = -1;                     // slot
  int out = -1;
};

struct VmProgram {
  std::vector<VmStep> constants;  // slots of their own, filled once
  std::vector<VmStage> stages;
  std::vector<VmStep> last;  // of pairs
  int result = -1;           // slot
  int slots = 0;
};

void run_expression(const VmProgram& program, const PanelTile& tile);

}  // namespace kith::cpu
