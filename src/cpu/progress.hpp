// progress.hpp: counts finished work of all threads, reports it from the calling thread, and handles cancellation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "cpu/process_exit.hpp"
#include "kith/error.hpp"
#include "kith/options.hpp"

namespace kith::cpu {

class ProgressMeter {
 public:
  ProgressMeter(const ProgressCallback& callback, std::int64_t total) : callback_(callback), total_(total) {}

  // Counts a finished tile. The callback runs on worker 0 only, which is the calling thread.
  void add(std::int64_t amount, int worker) {
    const std::int64_t done = done_ += amount;
    if (worker == 0) report(done);
    pass();
  }

  // Asks the callback now and then whether to go on: between pieces of work that are not counted, or that are parts of
  // what is, and small enough for somebody who waits.
  void check(int worker) {
    if (worker == 0 && callback_ && Clock::now() - reported_ >= kInterval) report(done_);
    pass();
  }

  // Reports the end of all work.
  void finish() {
    report(total_);
    pass();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{20};

  void report(std::int64_t done) {
    if (!callback_) return;
    {
      const TasksPaused paused;
      if (!callback_({done, total_})) cancelled_ = true;
    }
    reported_ = Clock::now();
  }

  void pass() const {
    stop_at_exit();
    if (cancelled_) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }

  const ProgressCallback& callback_;
  std::int64_t total_;
  std::atomic<std::int64_t> done_{0};
  std::atomic<bool> cancelled_{false};
  // Of the calling thread. Nobody asks for the time where there is no callback: it takes as long as a box of a tree.
  Clock::time_point reported_ = callback_ ? Clock::now() : Clock::time_point();
};

}  // namespace kith::cpu
