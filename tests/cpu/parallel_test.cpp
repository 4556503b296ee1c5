// parallel_for: every index once, known workers, exceptions to the caller; threads that are shared, refused, forked.
#include "cpu/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/single_threaded_blas.hpp"
#include "kith/error.hpp"
#include "support/child.hpp"
#include "support/compare.hpp"

namespace kith::test {
namespace {

using namespace std::chrono_literals;

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

TEST(Parallel, NestedCallsRunOnTheThreadOfTheirTask) {
  std::atomic<int> elsewhere{0};
  std::atomic<std::int64_t> done{0};
  cpu::parallel_for(4, 40, [&](std::int64_t, int) {
    const std::thread::id outer = std::this_thread::get_id();
    cpu::parallel_for(4, 100, [&](std::int64_t, int worker) {
      if (std::this_thread::get_id() != outer || worker != 0) ++elsewhere;
      ++done;
    });
  });
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(done, 4000);
}

// How many of the tasks of a call, a millisecond each, helpers did.
std::int64_t helped(int threads, std::int64_t count) {
  std::atomic<std::int64_t> by_helpers{0};
  cpu::parallel_for(threads, count, [&](std::int64_t, int worker) {
    std::this_thread::sleep_for(1ms);
    if (worker > 0) ++by_helpers;
  });
  return by_helpers;
}

// A caller that comes while another has the only helper gets it too, by turns.
TEST(Parallel, CallersShareHelpers) {
  in_child([] {
    std::atomic<bool> begun{false};
    std::atomic<bool> over{false};
    std::thread first([&] {
      cpu::parallel_for(2, 2000, [&](std::int64_t, int) {
        begun = true;
        if (!over) std::this_thread::sleep_for(1ms);
      });
    });
    while (!begun) std::this_thread::yield();
    const std::int64_t share = helped(2, 200);
    over = true;
    first.join();
    EXPECT_GT(share, 20);
    EXPECT_LT(share, 120);
  });
}

// Many callers that want more threads than there are.
TEST(Parallel, ManyCallersNeverWaitForEachOther) {
  std::atomic<std::int64_t> done{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 16; ++caller)
    callers.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn)
        cpu::parallel_for(6, 20,
                          [&](std::int64_t, int) { cpu::parallel_for(3, 2, [&](std::int64_t, int) { ++done; }); });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(done, 16 * 50 * 20 * 2);
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

TEST(Parallel, HelpersSleepWithoutTasks) {
  cpu::parallel_for(8, 100, [](std::int64_t, int) {});
  const double before = processor_seconds();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(processor_seconds() - before, 0.05);
}

#ifdef _OPENMP
// OpenBLAS goes by this; a team of one thread would be no reason for it to start no more.
TEST(Parallel, BlasHasOneThreadInTasks) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(5);
  for (const int threads : {1, 4}) {
    std::atomic<int> most{0};
    {
      const cpu::SingleThreadedBlas blas;
      cpu::parallel_for(threads, 200, [&](std::int64_t, int) {
        std::this_thread::sleep_for(50us);
        if (omp_get_max_threads() > most) most = omp_get_max_threads();
      });
    }
    EXPECT_EQ(most, 1) << threads;
    EXPECT_EQ(omp_get_max_threads(), 5) << threads;
  }
  omp_set_num_threads(before);
}
#endif

// Threads are made with the environment of their maker.
TEST(Parallel, HelpersHaveTheDefaultFloatingPointEnvironment) {
  in_child([] {
    std::fesetround(FE_UPWARD);
    std::atomic<int> helpers{0};
    std::atomic<int> wrong{0};
    cpu::parallel_for(3, 100, [&](std::int64_t, int worker) {
      std::this_thread::sleep_for(1ms);
      if (worker == 0) return;
      ++helpers;
      if (std::fegetround() != FE_TONEAREST) ++wrong;
    });
    EXPECT_GT(helpers, 0);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
  });
}

TEST(Parallel, AChildHasHelpersOfItsOwn) {
  EXPECT_GT(helped(4, 100), 0);
  in_child([] {
    EXPECT_GT(helped(4, 100), 0);
    in_child([] { EXPECT_GT(helped(4, 100), 0); });
  });
  EXPECT_GT(helped(4, 100), 0);
}

// Other threads' tasks are none of the child's business.
TEST(Parallel, AChildIsMadeWhileOthersWork) {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) cpu::parallel_for(3, 50, [](std::int64_t, int) { std::this_thread::sleep_for(100us); });
  });
  for (int turn = 0; turn < 20; ++turn) in_child([] { EXPECT_GT(helped(3, 60), 0); });
  over = true;
  other.join();
}

// The tasks of helpers are lost in a child that goes on with the work it was made in.
TEST(Parallel, AChildMadeInATaskDoesNotWaitForThreadsThatItHasNot) {
  std::atomic<bool> helper_works{false};
  std::atomic<bool> forked{false};
  int status = -1;
  const auto work = [&] {
    cpu::parallel_for(2, 2, [&](std::int64_t, int worker) {
      if (worker == 1) {
        helper_works = true;
        while (!forked) std::this_thread::sleep_for(1ms);
        return;
      }
      while (!helper_works) std::this_thread::sleep_for(1ms);
      const pid_t child = fork();
      if (child > 0) waitpid(child, &status, 0);
      forked = true;
    });
  };
  const pid_t parent = getpid();
  try {
    work();
    if (getpid() != parent) _exit(1);
  } catch (const Error& error) {
    _exit(error.code() == ErrorCode::cancelled && getpid() != parent ? 0 : 2);
  }
  EXPECT_EQ(status, 0);
}

// The limit does not hold for root, so the child is nobody.
TEST(Parallel, WorksAloneWhereThreadsAreRefused) {
  in_child([] {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return;
    const rlimit none{1, 1};
    setrlimit(RLIMIT_NPROC, &none);
    EXPECT_EQ(printed_by([] { EXPECT_EQ(helped(64, 20), 0); }), "");
  });
}

#ifndef __SANITIZE_ADDRESS__  // which needs terabytes of it
TEST(Parallel, HasAsManyThreadsAsTheAddressSpaceHolds) {
  in_child([] {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto space = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (rlim_t{700} << 20);
    const rlimit limit{space, space};
    setrlimit(RLIMIT_AS, &limit);
    std::array<std::atomic<bool>, 256> seen{};
    cpu::parallel_for(256, 1000, [&](std::int64_t, int worker) {
      seen[static_cast<std::size_t>(worker)] = true;
      std::this_thread::sleep_for(1ms);
    });
    const auto workers = std::count(seen.begin(), seen.end(), true);
    EXPECT_GE(workers, 2);
    EXPECT_LT(workers, 100);
  });
}
#endif

}  // namespace
}  // namespace kith::test
