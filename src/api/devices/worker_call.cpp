#include "api/devices/worker_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "api/devices/worker.hpp"
#include "api/guard.hpp"
#include "kith/error.hpp"

namespace kith::api {

WorkerCall::WorkerCall(std::vector<Worker>& workers, ProgressCallback progress, std::int64_t total)
    : workers_(workers), progress_(std::move(progress)), total_(total), done_(workers.size()) {}

WorkerCall::~WorkerCall() {
  stop_ = true;
  std::unique_lock<std::mutex> lock(mutex_);
  wait_for_all(lock);
}

std::size_t WorkerCall::start(std::function<void(std::size_t)> job) {
  std::size_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = open_.size();
    open_.push_back(0);
  }
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++open_[number];
    }
    try {
      workers_[worker].thread->run([this, job, number, worker] { do_job(job, number, worker); });
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      --open_[number];
      throw;
    }
  }
  return number;
}

void WorkerCall::do_job(const std::function<void(std::size_t)>& job, std::size_t number, std::size_t worker) {
  try {
    if (!stop_) guarded([&] { job(worker); });
  } catch (const Error& error) {
    // What is wrong with points has nothing to do with the device that found it.
    fail(error.code() == ErrorCode::bad_data
             ? std::current_exception()
             : std::make_exception_ptr(
                   Error(error.code(), fmt::format("device {}: {}", workers_[worker].device, error.what()))));
  } catch (...) {
    fail(std::current_exception());
  }
  // With the lock held: after that this object may be gone.
  const std::lock_guard<std::mutex> lock(mutex_);
  --open_[number];
  changed_.notify_all();
}

void WorkerCall::fail(std::exception_ptr error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = std::move(error);
  stop_ = true;
}

void WorkerCall::wait(std::size_t job) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto done = [this] { return std::accumulate(done_.begin(), done_.end(), std::int64_t{0}); };
  const auto has_news = [&] { return progress_ && done() != reported_; };
  while (!error_) {
    changed_.wait(lock, [&] { return error_ || open_[job] == 0 || has_news(); });
    if (error_) break;
    if (!has_news()) return;
    reported_ = done();
    const Progress report{std::min(reported_, total_), total_};
    lock.unlock();
    const bool goes_on = progress_(report);
    lock.lock();
    if (!goes_on && !error_)
      error_ = std::make_exception_ptr(Error(ErrorCode::cancelled, "cancelled by the progress callback"));
  }
  stop_ = true;
  wait_for_all(lock);
  std::rethrow_exception(error_);
}

void WorkerCall::wait_for_all(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return std::all_of(open_.begin(), open_.end(), [](auto open) { return open == 0; }); });
}

bool WorkerCall::advance(std::size_t worker, std::int64_t done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  done_[worker] = done;
  changed_.notify_all();
  return !stop_;
}

}  // namespace kith::api
