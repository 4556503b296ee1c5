#include <gtest/gtest.h>

#include <cstring>

#include "cpu/contenders/sum_words.hpp"
#include "cpu/tests/support.hpp"
#include "support/machine.hpp"

namespace kith::bench {
namespace {

TEST(SumWords, IsThatOfAPlainLoop) {
  for (const std::int64_t words : {0, 1, 3, 4, 31, 32, 33, 64, 1000}) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(words) * 8);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 11);
    std::uint64_t expected = 0;
    for (std::int64_t i = 0; i < words; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i * 8, 8);
      expected += word;
    }
    EXPECT_EQ(sum_words(bytes.data(), words), expected) << words;
  }
}

// A ceiling that has not run has not done what it claims.
template <Element T>
void expect_honest(const std::unique_ptr<Contender>& ceiling) {
  ASSERT_NE(ceiling, nullptr);
  EXPECT_NE(ceiling->fault(), "");
  ceiling->run();
  EXPECT_EQ(ceiling->fault(), "");
  EXPECT_GT(ceiling->work().amount, 0);
}

template <Element T>
void expect_honest_ceilings() {
  for (const int threads : {1, 3}) {
    const Problem<T> problem = make_problem<T>(small_row(), threads);
    expect_honest<T>(make_gemm(problem));
    expect_honest<T>(make_read(problem));
  }
}

TEST(Ceilings, DoWhatTheyClaim) {
  expect_honest_ceilings<float>();
  expect_honest_ceilings<double>();
  expect_honest_ceilings<std::uint8_t>();
}

TEST(Cache, IsOfAPlausibleSize) {
  const std::int64_t bytes = support::inspect_machine().cache_bytes;
  if (bytes == 0) GTEST_SKIP() << "this system does not tell";
  EXPECT_GE(bytes, 64 * 1024);
}

}  // namespace
}  // namespace kith::bench
