// budget.hpp: what a search does within a budget of memory.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "kith/error.hpp"

namespace kith::test {

// run(budget), or, where that is too small, run() of the least budget that the error names, which must be enough.
template <class Run>
auto run_within(std::int64_t budget, Run run) {
  std::int64_t least = budget;
  try {
    return run(budget);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    const std::string text = error.what();
    const std::size_t at = text.rfind("least ");
    if (at != std::string::npos) least = std::stoll(text.substr(at + 6));
    EXPECT_GT(least, budget) << "names no larger budget: " << error.what();
  }
  return run(least);
}

}  // namespace kith::test
