// lane_call.hpp: a call that several lanes work on: jobs for all of them, how far they are, and the first error.
// Jobs wait for nothing but the lane's earlier jobs, so that calls of several threads cannot wait for each other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "kith/options.hpp"

namespace kith::api {

struct Lane;

class LaneCall {
 public:
  // `total`: distances in all, of which `progress` hears, in wait() and so on the calling thread.
  LaneCall(std::vector<Lane>& lanes, const ProgressCallback& progress, std::int64_t total);
  LaneCall(const LaneCall&) = delete;
  LaneCall& operator=(const LaneCall&) = delete;
  // Stops the lanes and waits for them.
  ~LaneCall();

  // Has every lane do job(lane), by its number, after what it was given before. Returns the number of the job.
  std::size_t start(std::function<void(std::size_t lane)> job);
  // Returns when all lanes have done it. What the first lane threw, which is said to be of its device, or
  // Error(cancelled) where `progress` says so, is thrown when all of them have stopped.
  void wait(std::size_t job);

  // In a job: distances that the lane has computed. False: it must stop.
  bool advance(std::size_t lane, std::int64_t done);
  bool reports() const { return static_cast<bool>(progress_); }
  const std::atomic<bool>& stop() const { return stop_; }

 private:
  void do_job(const std::function<void(std::size_t)>& job, std::size_t number, std::size_t lane);
  void fail(std::exception_ptr error);
  void wait_for_all(std::unique_lock<std::mutex>& lock);

  std::vector<Lane>& lanes_;
  const ProgressCallback& progress_;
  std::int64_t total_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> open_;  // lanes that have not done a job, by its number
  std::vector<std::int64_t> done_;
  std::int64_t reported_ = 0;
  std::exception_ptr error_;
};

}  // namespace kith::api
