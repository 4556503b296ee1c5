#include "suite.hpp"

#include <fmt/format.h>

namespace kith::select_bench {

const char* to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::random: return "random";
    case Pattern::descending: return "descending";
    case Pattern::equal: return "all-equal";
    case Pattern::smooth: return "smooth";
  }
  return "";
}

std::string describe(const Shape& shape) {
  return fmt::format("{} × {} {}", shape.rows, shape.length, to_string(shape.pattern));
}

std::vector<Suite> all_suites() {
  return {must_suite(), queues_suite(), thesis_suite(), multi_select_suite()};
}

}  // namespace kith::select_bench
