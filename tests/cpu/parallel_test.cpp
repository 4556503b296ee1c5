// parallel_for: every index once, known workers, exceptions to the caller.
#include "cpu/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backend/machine.hpp"

namespace kith::test {
namespace {

TEST(Parallel, EveryIndexOnce) {
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      std::atomic<bool> known_workers{true};
      cpu::parallel_for(threads, count, [&](std::int64_t index, int worker) {
        ++seen[static_cast<std::size_t>(index)];
        if (worker < 0 || worker >= threads) known_workers = false;
      });
      for (const std::atomic<int>& times : seen) EXPECT_EQ(times, 1);
      EXPECT_TRUE(known_workers);
    }
  }
}

TEST(Parallel, WorkerZeroIsTheCallingThread) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> right{true};
  cpu::parallel_for(4, 500, [&](std::int64_t, int worker) {
    if ((worker == 0) != (std::this_thread::get_id() == caller)) right = false;
  });
  EXPECT_TRUE(right);
}

// A worker's scratch memory is its own while a task runs.
TEST(Parallel, NoWorkerRunsTwoTasksAtOnce) {
  std::vector<std::atomic<int>> busy(4);
  std::atomic<bool> alone{true};
  cpu::parallel_for(4, 2000, [&](std::int64_t, int worker) {
    if (++busy[static_cast<std::size_t>(worker)] != 1) alone = false;
    --busy[static_cast<std::size_t>(worker)];
  });
  EXPECT_TRUE(alone);
}

TEST(Parallel, AnExceptionStopsTheHandOutAndReachesTheCaller) {
  for (const int threads : {1, 3}) {
    std::atomic<std::int64_t> started{0};
    try {
      cpu::parallel_for(threads, 1000000, [&](std::int64_t index, int) {
        ++started;
        if (index == 5) throw std::runtime_error("five");
      });
      ADD_FAILURE() << "the exception was lost";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "five");
    }
    EXPECT_LT(started, 1000000);
  }
}

TEST(Parallel, CallsFromSeveralThreadsDoNotMeet) {
  std::vector<std::int64_t> sums(3);
  std::vector<std::thread> callers;
  for (std::size_t t = 0; t < sums.size(); ++t) {
    callers.emplace_back([&sums, t] {
      std::atomic<std::int64_t> sum{0};
      cpu::parallel_for(2, 1000, [&](std::int64_t index, int) { sum += index; });
      sums[t] = sum;
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, 999 * 500);
}

// Indices go out in order, so of several faults the first in the data is reported, whatever the threads do.
TEST(Parallel, TheExceptionOfTheLowestIndexWins) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    try {
      cpu::parallel_for(4, 100, [](std::int64_t i, int) {
        if (i >= 7) throw i;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::int64_t index) {
      EXPECT_EQ(index, 7);
    }
  }
}

TEST(Parallel, ThisProcessHasAThread) {
  EXPECT_GE(backend::available_threads(), 1);
}

}  // namespace
}  // namespace kith::test
