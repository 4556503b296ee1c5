// random_formula.hpp: made-up formulas, each as text and as a function that evaluates it without the library.
#pragma once

#include <functional>
#include <string>

#include "definitions.hpp"
#include "support/random.hpp"

namespace kith::test {

// Of coordinate c of two rows; of a pair of rows where c does not matter.
using Value = std::function<double(const Row& x, const Row& y, std::size_t c)>;

struct Formula {
  std::string text;
  Value value;
};

// A formula of a pair, with operations nested up to `depth` levels.
Formula random_formula(Random& random, int depth);

}  // namespace kith::test
