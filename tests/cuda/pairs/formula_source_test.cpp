// The program of a formula, compiled by NVRTC where that is here: no device is needed.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cuda/pairs/formula_source.hpp"
#include "cuda/pairs/nvrtc.hpp"
#include "kith/error.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

namespace pairs = KITH_BACKEND::pairs;

class FormulaSource : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& obstacle = pairs::nvrtc_obstacle(); !obstacle.empty()) GTEST_SKIP() << obstacle;
  }

  static std::vector<char> compiled(const std::string& formula, const char* points, const char* scores) {
    return pairs::compile_program(pairs::formula_source(core::parse_expression(formula), points, scores), 90);
  }
};

TEST_F(FormulaSource, CompilesForEveryType) {
  for (const char* formula :
       {"sum(abs(x - y))", "1 - sum(min(x, y)) / sum(max(x, y))", "sum((x - mean(x)) * (y - mean(y)))",
        "max(select(x <= y, i / n, 0 / 0)) * prod(-3e200)", "sum(abs(x - sum(abs(y - min(x)))))"})
    for (const auto& [points, scores] : {std::pair("float", "float"), {"float", "double"}, {"double", "double"}})
      EXPECT_FALSE(compiled(formula, points, scores).empty()) << formula;
}

// Pairs stay in registers, and two blocks fit on a multiprocessor.
TEST_F(FormulaSource, ScoresSpillNothing) {
  for (const char* formula :
       {"sum(abs(x - y))", "sum(abs(x - y) / (1 + abs(x)))", "sum(abs(x - y)) / sum(abs(x + y))"}) {
    // NVRTC says nothing of a program that it finds in its cache.
    const std::string unlike_others = "\n// " + std::to_string(std::random_device{}()) + "\n";
    std::string resources;
    pairs::compile_program(pairs::formula_source(core::parse_expression(formula), "float", "float") + unlike_others, 90,
                           &resources);
    for (const char* kernel : {"kith_scores", "kith_filter", "kith_candidates"}) {
      const std::size_t at = resources.find(std::string("'") + kernel);
      ASSERT_NE(at, std::string::npos) << resources;
      const std::string after = resources.substr(at, resources.find("Compiling", at) - at);
      EXPECT_NE(after.find(" 0 bytes spill stores, 0 bytes spill loads"), std::string::npos) << formula << after;
    }
  }
}

TEST_F(FormulaSource, ErrorsSayWhatTheCompilerSays) {
  EXPECT_TRUE(fails_with(ErrorCode::internal, {"NVRTC", "formula.cu"}, [] { pairs::compile_program("nonsense", 90); }));
  EXPECT_TRUE(fails_with(ErrorCode::no_device, {"sm_999"}, [] { pairs::compile_program("", 999); }));
}

}  // namespace
}  // namespace kith::test
