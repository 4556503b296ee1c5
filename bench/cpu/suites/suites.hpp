// suites.hpp: the rows there are.
#pragma once

#include <string>
#include <vector>

#include "cpu/problem/row.hpp"

namespace kith::bench {

struct Suite {
  std::string name;
  std::string about;
  std::vector<RowSpec> rows;
};

Suite search_suite();
Suite triangle_suite();
Suite space_suite();
Suite tree_suite();
Suite filter_suite();
Suite bits_suite();
Suite formula_suite();

inline std::vector<Suite> all_suites() {
  return {search_suite(), triangle_suite(), space_suite(), tree_suite(), filter_suite(), bits_suite(), formula_suite()};
}

}  // namespace kith::bench
