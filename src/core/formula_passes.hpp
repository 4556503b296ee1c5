// formula_passes.hpp: in which order the nodes of a formula are computed where a pair's numbers stay in registers:
// passes over the coordinates, since a sum may need another one, and what is of the pair alone before, between and
// after them.
#pragma once

#include <vector>

#include "core/expression.hpp"

namespace kith::core {

// Nodes by number, arguments before what they are arguments of. Numbers and dims are in none of these.
struct FormulaPasses {
  struct Pass {
    std::vector<int> before;        // numbers of the pair that coordinates of this pass, or of a later one, need
    std::vector<int> each;          // for every coordinate
    std::vector<int> aggregations;  // whose argument is then added
  };
  std::vector<Pass> passes;
  std::vector<int> last;  // of the pair
  std::vector<int> slot;  // of a node: where the pair keeps it; −1 where it does not
  int slots = 0;
};

FormulaPasses formula_passes(const Expression& expression);

// Whether all operations are rounded correctly wherever they are computed, so that distances have the same bits:
// false where there are exponentials, logarithms, powers or trigonometric functions.
bool is_reproducible(const Expression& expression);

// What an aggregation begins with.
double identity_of(Op aggregation);

}  // namespace kith::core
