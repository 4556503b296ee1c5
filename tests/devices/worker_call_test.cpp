// Calls of several workers: jobs in their order, the first error, progress on the calling thread, calls at once.
#include "api/devices/worker_call.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "api/devices/worker.hpp"
#include "kith/error.hpp"
#include "support/child.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

using api::Worker;
using api::WorkerCall;

std::vector<Worker> workers_of(const std::vector<int>& devices) {
  std::vector<Worker> workers;
  for (const int device : devices) {
    Worker worker;
    worker.device = device;
    worker.thread = std::make_unique<api::WorkerThread>();
    workers.push_back(std::move(worker));
  }
  return workers;
}

TEST(WorkerCall, EveryWorkerDoesItsJobsInTheirOrderOnOneThread) {
  std::vector<Worker> workers = workers_of({0, 1, 1});
  std::vector<std::vector<int>> seen(workers.size());
  std::vector<std::thread::id> threads(workers.size());
  WorkerCall call(workers, {}, 0);
  std::size_t last = 0;
  for (int job = 0; job < 5; ++job)
    last = call.start([&, job](std::size_t worker) {
      if (job == 0) threads[worker] = std::this_thread::get_id();
      EXPECT_EQ(std::this_thread::get_id(), threads[worker]);
      seen[worker].push_back(job);
    });
  call.wait(last);
  for (const auto& jobs : seen) EXPECT_EQ(jobs, std::vector<int>({0, 1, 2, 3, 4}));
  EXPECT_NE(threads[1], threads[2]);
}

TEST(WorkerCall, TheFirstErrorStopsTheOthersAndNamesTheDevice) {
  std::vector<Worker> workers = workers_of({4, 2, 7});
  std::atomic<int> at_work{0};
  std::atomic<int> late{0};
  const auto run = [&] {
    WorkerCall call(workers, {}, 0);
    const std::size_t job = call.start([&](std::size_t worker) {
      if (worker == 1) throw Error(ErrorCode::out_of_memory, "no room");
      ++at_work;
      while (!call.stop()) std::this_thread::yield();
      --at_work;
      throw Error(ErrorCode::cancelled, "the search was stopped");
    });
    call.start([&](std::size_t) { ++late; });
    call.wait(job);
  };
  for (int round = 0; round < 50; ++round) {
    EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"device 2: no room"}, run));
    EXPECT_EQ(at_work, 0);
  }
  EXPECT_EQ(late, 0);
}

TEST(WorkerCall, BadDataIsOfNoDevice) {
  std::vector<Worker> workers = workers_of({3});
  WorkerCall call(workers, {}, 0);
  try {
    call.wait(call.start([](std::size_t) { throw Error(ErrorCode::bad_data, "row 7"); }));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "row 7");
  }
}

TEST(WorkerCall, ProgressIsHeardOnTheCallingThread) {
  std::vector<Worker> workers = workers_of({0, 1});
  const std::thread::id here = std::this_thread::get_id();
  std::int64_t last = 0;
  const ProgressCallback progress = [&](const Progress& report) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_GT(report.done, last);
    EXPECT_EQ(report.total, 200);
    last = report.done;
    return true;
  };
  WorkerCall call(workers, progress, 200);
  call.wait(call.start([&](std::size_t worker) {
    for (std::int64_t done = 1; done <= 100; ++done) EXPECT_TRUE(call.advance(worker, done));
  }));
  EXPECT_EQ(last, 200);
}

TEST(WorkerCall, ProgressCancels) {
  std::vector<Worker> workers = workers_of({0, 1});
  std::atomic<int> at_work{0};
  const auto run = [&](const ProgressCallback& progress) {
    WorkerCall call(workers, progress, 1 << 20);
    call.wait(call.start([&](std::size_t worker) {
      ++at_work;
      std::int64_t done = 0;
      while (call.advance(worker, ++done)) std::this_thread::yield();
      --at_work;
    }));
  };
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled by the progress callback"},
                         [&] { run([](const Progress& report) { return report.done < 10; }); }));
  EXPECT_EQ(at_work, 0);
  EXPECT_THROW(run([](const Progress&) -> bool { throw std::runtime_error("the caller's own"); }), std::runtime_error);
  EXPECT_EQ(at_work, 0);
}

// Each caller waits for its own jobs, in whatever order workers get those of all.
TEST(WorkerCall, CallersDoNotWaitForEachOther) {
  std::vector<Worker> workers = workers_of({0, 1, 2});
  std::atomic<int> jobs{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        WorkerCall call(workers, {}, 0);
        const std::size_t first = call.start([&](std::size_t) { ++jobs; });
        const std::size_t second = call.start([&](std::size_t) { ++jobs; });
        call.wait(first);
        call.wait(second);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(jobs, 4 * 50 * 2 * 3);
}

TEST(WorkerCall, StaysInTheParentOfAFork) {
  std::vector<Worker> workers = workers_of({0});
  in_child([&] {
    EXPECT_TRUE(fails_with(ErrorCode::no_device, {"child of a fork"}, [&] {
      WorkerCall call(workers, {}, 0);
      call.wait(call.start([](std::size_t) {}));
    }));
    workers.clear();  // does not wait for a thread that is not here
  });
  WorkerCall call(workers, {}, 0);
  call.wait(call.start([](std::size_t) {}));
}

}  // namespace
}  // namespace kith::test
