// worker_call.hpp: a call that several workers work on: jobs for all of them, how far they are, and the first error.
// Jobs wait for nothing but the worker's earlier jobs, so that calls of several threads cannot wait for each other.
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

struct Worker;

class WorkerCall {
 public:
  // `total`: distances in all, of which `progress` hears, in wait() and so on the calling thread.
  WorkerCall(std::vector<Worker>& workers, ProgressCallback progress, std::int64_t total);
  WorkerCall(const WorkerCall&) = delete;
  WorkerCall& operator=(const WorkerCall&) = delete;
  // Stops the workers and waits for them.
  ~WorkerCall();

  // Has every worker do job(worker), by its number, after what it was given before. Returns the number of the job.
  std::size_t start(std::function<void(std::size_t worker)> job);
  // Returns when all workers have done it. What the first worker threw, which is said to be of its device, or
  // Error(cancelled) where `progress` says so, is thrown when all of them have stopped.
  void wait(std::size_t job);

  // In a job: distances that the worker has computed. False: it must stop.
  bool advance(std::size_t worker, std::int64_t done);
  bool reports() const { return static_cast<bool>(progress_); }
  const std::atomic<bool>& stop() const { return stop_; }

 private:
  void do_job(const std::function<void(std::size_t)>& job, std::size_t number, std::size_t worker);
  void fail(std::exception_ptr error);
  void wait_for_all(std::unique_lock<std::mutex>& lock);

  std::vector<Worker>& workers_;
  const ProgressCallback progress_;
  std::int64_t total_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> open_;  // workers that have not done a job, by its number
  std::vector<std::int64_t> done_;
  std::int64_t reported_ = 0;
  std::exception_ptr error_;
};

}  // namespace kith::api
