// progress.hpp: counts finished work of all threads, reports it from the calling thread, and handles cancellation.
#pragma once

#include <atomic>
#include <cstdint>

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
    if (cancelled_) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }

  // Reports the end of all work.
  void finish() {
    report(total_);
    if (cancelled_) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
  }

 private:
  void report(std::int64_t done) {
    if (callback_ && !callback_({done, total_})) cancelled_ = true;
  }

  const ProgressCallback& callback_;
  std::int64_t total_;
  std::atomic<std::int64_t> done_{0};
  std::atomic<bool> cancelled_{false};
};

}  // namespace kith::cpu
