// The parser of formulas: what it takes, what it says of what it does not, and its limits.
#include <gtest/gtest.h>

#include <string>

#include "core/expression.hpp"
#include "support/fails_with.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using core::ExpressionLimits;
using core::parse_expression;

testing::AssertionResult refuses(const std::string& text, const std::vector<std::string>& mentions) {
  return fails_with(ErrorCode::invalid_argument, mentions, [&] { parse_expression(text); });
}

TEST(ExpressionParser, NamesPositionAndWhatItExpected) {
  EXPECT_TRUE(refuses("", {"position 1:", "expected a number, x, y", "found the end"}));
  EXPECT_TRUE(refuses("sum(abs(x - ))", {"position 13:", "expected a number", "found ')'"}));
  EXPECT_TRUE(refuses("sum(abs(x - y)", {"position 15:", "expected an operator, ',' or ')'", "found the end"}));
  EXPECT_TRUE(refuses("sum(x) sum(y)", {"position 8:", "expected an operator or the end", "found 'sum'"}));
  EXPECT_TRUE(refuses("sum(z)", {"position 5:", "expected a number, x, y, i, n, pi", "found 'z'"}));
  EXPECT_TRUE(refuses("summ(x)", {"position 1:", "found 'summ'"}));
  EXPECT_TRUE(refuses("sum x", {"position 5:", "expected '(' after sum", "found 'x'"}));
  EXPECT_TRUE(refuses("(1 + 2", {"position 7:", "expected an operator or ')'", "found the end"}));
  EXPECT_TRUE(refuses("1 + * 2", {"position 5:", "found '*'"}));
  EXPECT_TRUE(refuses("sum(x) = 2", {"position 8:", "found '='"}));
  EXPECT_TRUE(refuses("2x", {"position 2:", "found 'x'"}));
  EXPECT_TRUE(refuses("1 < 2 < 3", {"position 7:", "found '<'"}));
  EXPECT_TRUE(refuses("sum(x);", {"position 7:", "found ';'"}));
  EXPECT_TRUE(refuses("sum(x\xc3\xa4)", {"position 6:", "found the byte 0xc3", "'sum(x\?\?)'"}));
  EXPECT_TRUE(refuses(std::string("1 +\0 2", 6), {"position 4:", "the byte 0x00", "'1 +? 2'"}));
  EXPECT_TRUE(refuses("1e999", {"position 1:", "too large for double"}));
  EXPECT_TRUE(refuses(".", {"position 1:", "found '.'"}));
}

TEST(ExpressionParser, WantsOneNumberOfAPair) {
  EXPECT_TRUE(refuses("x - y", {"position 1:", "x is a coordinate", "sum(…)"}));
  EXPECT_TRUE(refuses("sum(x) + y", {"position 10:", "y is a coordinate"}));
  EXPECT_TRUE(refuses("1 + abs(i)", {"position 9:", "i is a coordinate"}));
  EXPECT_TRUE(refuses("max(1, y)", {"position 8:", "y is a coordinate"}));
  EXPECT_NO_THROW(parse_expression("sum(x) + 1"));
}

TEST(ExpressionParser, CountsArguments) {
  EXPECT_TRUE(refuses("abs(1, 2)", {"position 1:", "abs takes 1 argument, not 2"}));
  EXPECT_TRUE(refuses("1 + pow(2)", {"position 5:", "pow takes 2 arguments, not 1"}));
  EXPECT_TRUE(refuses("select(1, 2)", {"select takes 3 arguments, not 2"}));
  EXPECT_TRUE(refuses("sum(x, y)", {"sum takes 1 argument, not 2"}));
  EXPECT_TRUE(refuses("sum()", {"position 5:", "found ')'"}));
}

TEST(ExpressionParser, HasLimitsInsteadOfCrashing) {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '(') + "1" +
           std::string(static_cast<std::size_t>(levels), ')');
  };
  EXPECT_NO_THROW(parse_expression(nested(ExpressionLimits::kDepth - 1)));
  EXPECT_TRUE(refuses(nested(ExpressionLimits::kDepth), {"position 101:", "more than 100 levels"}));
  EXPECT_TRUE(refuses(nested(2000), {"more than 100 levels"}));
  EXPECT_TRUE(refuses(std::string(3000, '-') + "1", {"more than 100 levels"}));
  std::string tower = "2";
  for (int i = 0; i < 200; ++i) tower += "^1.5";
  EXPECT_TRUE(refuses(tower, {"more than 100 levels"}));
  EXPECT_TRUE(refuses(std::string(ExpressionLimits::kLength + 1, ' '), {"4097 characters", "4096"}));
  std::string wide = "sum(x)";
  for (int i = 0; i < 600; ++i) wide += "+n*" + std::to_string(i);
  EXPECT_TRUE(refuses(wide, {"more than 512 operations"}));
  // What is written twice is one operation.
  std::string same = "sum(x)";
  for (int i = 0; i < 500; ++i) same += "+n*1.5";
  EXPECT_EQ(parse_expression(same).nodes.size(), 505U);
}

TEST(ExpressionParser, MakesEqualPartsOnce) {
  const core::Expression ratio = parse_expression("sum(abs(x - y)) / sum(abs(y - x))");
  const core::ExpressionNode& root = ratio.nodes[static_cast<std::size_t>(ratio.root)];
  EXPECT_EQ(root.op, core::Op::divide);
  EXPECT_EQ(root.arguments[0], root.arguments[1]);
  EXPECT_EQ(parse_expression("sum(x * y) + sum(y * x)").nodes.size(), 5U);
  EXPECT_EQ(parse_expression("2 * 3 + 4").nodes.back().value, 10);
}

// Bytes of any kind make an expression or an error, nothing else.
TEST(ExpressionParser, SurvivesRandomText) {
  const char* const tokens[] = {
      "sum(", "x", "y",       ")", "(",  "+",  "-",    "*",  "/",  "^", ",",    "max(",  "2",    "1.5e3", " ",
      "i",    "n", "select(", "<", ">=", "!=", "abs(", "**", "pi", "q", "\x01", "mean(", "min(", "."};
  Random random(5);
  int parsed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::int64_t i = random.below(14); i >= 0; --i)
      text += tokens[random.below(static_cast<std::int64_t>(std::size(tokens)))];
    try {
      const core::Expression expression = parse_expression(text);
      ++parsed;
      ASSERT_LT(expression.root, static_cast<int>(expression.nodes.size()));
      ASSERT_FALSE(expression.nodes[static_cast<std::size_t>(expression.root)].by_coordinate) << text;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::invalid_argument);
      ASSERT_NE(std::string(error.what()).find("position"), std::string::npos) << text;
    }
  }
  EXPECT_GT(parsed, 20);
}

}  // namespace
}  // namespace kith::test
