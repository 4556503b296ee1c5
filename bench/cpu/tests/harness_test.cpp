#include "cpu/harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "cpu/cpu_wait.hpp"
#include "cpu/environment.hpp"
#include "cpu/json.hpp"
#include "cpu/suites/suites.hpp"
#include "cpu/table.hpp"
#include "cpu/tests/support.hpp"

namespace kith::bench {
namespace {

constexpr int kRounds = 3;

class Race : public testing::Test {
 protected:
  Race() : problem(make_problem<float>(small_row(), 1)), right(library_answer(problem)), wrong(right) {
    wrong.ids[0] = wrong.ids[1];
  }

  void enter(Kind kind, std::function<Answer(int)> act) { entries.push_back(entry_of(kind, std::move(act))); }
  RowResult run() { return race(problem, std::move(entries), kRounds); }

  Problem<float> problem;
  Answer right;
  Answer wrong;
  std::vector<Entry> entries;
};

TEST_F(Race, TimesRightAnswersOncePerRound) {
  enter(Kind::kith, [&](int) { return right; });
  const RowResult result = run();
  EXPECT_FALSE(result.wrong());
  EXPECT_EQ(result.contenders[0].samples_ms.size(), std::size_t{kRounds});
}

TEST_F(Race, GivesNoTimeToAWrongAnswer) {
  enter(Kind::kith, [&](int) { return wrong; });
  enter(Kind::gemm, [](int) { return Answer(); });
  const RowResult result = run();
  EXPECT_TRUE(result.wrong());
  EXPECT_FALSE(result.contenders[0].timed());
  EXPECT_TRUE(result.contenders[1].timed());
  EXPECT_NE(format_row(result).find("WRONG ANSWER, not timed: query 0, rank 1"), std::string::npos);
  const auto json = to_json(inspect_environment(), 1, kRounds, true, {result});
  EXPECT_FALSE(json["correct"].get<bool>());
  EXPECT_EQ(json["rows"][0]["contenders"][0]["check"]["status"], "wrong");
  EXPECT_FALSE(json["rows"][0]["contenders"][0].contains("median_ms"));
}

// Right when checked, wrong in a later round.
TEST_F(Race, TakesTimesBackWhenTheAnswerChanges) {
  enter(Kind::kith, [&](int run) { return run < 2 ? right : wrong; });
  const RowResult result = run();
  EXPECT_TRUE(result.wrong());
  EXPECT_FALSE(result.contenders[0].timed());
}

TEST_F(Race, ReportsAnExceptionAsAFault) {
  enter(Kind::kith, [](int) -> Answer { throw std::runtime_error("no luck"); });
  const RowResult result = run();
  EXPECT_TRUE(result.wrong());
  EXPECT_EQ(result.contenders[0].verdict.fault, "no luck");
}

TEST_F(Race, FailsWhenACeilingIsNotWhatItClaims) {
  enter(Kind::kith, [&](int) { return right; });
  auto ceiling = std::make_unique<Puppet>([](int) { return Answer(); });
  ceiling->find_fault("half a product");
  entries.push_back({Kind::gemm, "sgemm", std::move(ceiling), "", 0});
  EXPECT_TRUE(run().wrong());
}

TEST_F(Race, JudgesBarsByMedians) {
  problem.row.bars = {{Kind::gemm, 0.5}, {Kind::faiss, 1.0}, {Kind::read, 1.0}};
  enter(Kind::kith, [&](int) { return right; });
  enter(Kind::gemm, [](int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return Answer();
  });
  enter(Kind::faiss, [&](int) {
    Answer poor = right;
    poor.distances[0] += 1;
    return poor;
  });
  const RowResult result = run();
  ASSERT_EQ(result.bars.size(), 3U);
  EXPECT_TRUE(result.bars[0].ok());
  EXPECT_FALSE(result.bars[1].judged) << "the peer is inexact";
  EXPECT_FALSE(result.bars[2].judged) << "it did not take part";
}

TEST_F(Race, SaysWhenABarIsMissed) {
  problem.row.bars = {{Kind::gemm, 1.15}};
  enter(Kind::kith, [&](int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return right;
  });
  enter(Kind::gemm, [](int) { return Answer(); });
  const RowResult result = run();
  EXPECT_FALSE(result.wrong());
  EXPECT_TRUE(result.bars[0].judged);
  EXPECT_FALSE(result.bars[0].ok());
  EXPECT_NE(format_row(result).find("MISSED"), std::string::npos);
  EXPECT_NE(format_summary({result}).find("MISSED: at most 1.15 × sgemm"), std::string::npos);
}

TEST_F(Race, SaysWhoIsNotInstalled) {
  enter(Kind::kith, [&](int) { return right; });
  entries.push_back({Kind::faiss, "faiss", nullptr, "not installed", 0});
  const RowResult result = run();
  EXPECT_FALSE(result.wrong());
  EXPECT_NE(format_row(result).find("not installed"), std::string::npos);
}

TEST_F(Race, SaysWhenTheMachineWasBusy) {
  enter(Kind::kith, [&](int) { return right; });
  RowResult result = run();
  result.waited = 0.01;
  EXPECT_EQ(format_row(result).find("waited for a core"), std::string::npos);
  result.waited = 0.5;
  EXPECT_NE(format_row(result).find("waited for a core 50 % of the time"), std::string::npos);
}

// More threads than cores, all at work: some of them must wait.
TEST(CpuWait, SeesThreadsInLine) {
  const double before = cpu_wait_seconds();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  std::atomic<bool> go{true};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency() + 1; ++i)
    threads.emplace_back([&] {
      while (go) {
      }
    });
  std::this_thread::sleep_until(end);
  const double waited = cpu_wait_seconds() - before;
  go = false;
  for (std::thread& thread : threads) thread.join();
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "this kernel does not count it";
  EXPECT_GT(waited, 0.05);
}

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({5, 1, 3, 4}), 3.5);
}

TEST(Suites, RowsHaveDifferentNamesAndTheirBarsTakePart) {
  std::vector<std::string> names;
  for (const Suite& suite : all_suites())
    for (const RowSpec& row : suite.rows) {
      EXPECT_EQ(std::count(names.begin(), names.end(), row.name), 0) << row.name;
      names.push_back(row.name);
      ASSERT_FALSE(row.contenders.empty());
      EXPECT_LE(role_of(row.contenders.front()), Role::approximate);
      for (const Bar& bar : row.bars)
        EXPECT_EQ(std::count(row.contenders.begin(), row.contenders.end(), bar.against), 1) << row.name;
    }
}

}  // namespace
}  // namespace kith::bench
