#include "api/devices/lane_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "api/devices/lane.hpp"
#include "api/guard.hpp"
#include "kith/error.hpp"

namespace kith::api {

LaneCall::LaneCall(std::vector<Lane>& lanes, const ProgressCallback& progress, std::int64_t total)
    : lanes_(lanes), progress_(progress), total_(total), done_(lanes.size()) {}

LaneCall::~LaneCall() {
  stop_ = true;
  std::unique_lock<std::mutex> lock(mutex_);
  wait_for_all(lock);
}

std::size_t LaneCall::start(std::function<void(std::size_t)> job) {
  std::size_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    number = open_.size();
    open_.push_back(0);
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++open_[number];
    }
    try {
      lanes_[lane].thread->run([this, job, number, lane] { do_job(job, number, lane); });
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      --open_[number];
      throw;
    }
  }
  return number;
}

void LaneCall::do_job(const std::function<void(std::size_t)>& job, std::size_t number, std::size_t lane) {
  try {
    if (!stop_) guarded([&] { job(lane); });
  } catch (const Error& error) {
    // What is wrong with points has nothing to do with the device that found it.
    fail(error.code() == ErrorCode::bad_data
             ? std::current_exception()
             : std::make_exception_ptr(
                   Error(error.code(), fmt::format("device {}: {}", lanes_[lane].device, error.what()))));
  } catch (...) {
    fail(std::current_exception());
  }
  // With the lock held: after that this object may be gone.
  const std::lock_guard<std::mutex> lock(mutex_);
  --open_[number];
  changed_.notify_all();
}

void LaneCall::fail(std::exception_ptr error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!error_) error_ = std::move(error);
  stop_ = true;
}

void LaneCall::wait(std::size_t job) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto done = [this] { return std::accumulate(done_.begin(), done_.end(), std::int64_t{0}); };
  while (!error_ && open_[job] > 0) {
    changed_.wait(lock, [&] { return error_ || open_[job] == 0 || (progress_ && done() != reported_); });
    if (error_ || !progress_ || done() == reported_) continue;
    reported_ = done();
    const Progress report{std::min(reported_, total_), total_};
    lock.unlock();
    const bool goes_on = progress_(report);
    lock.lock();
    if (!goes_on && !error_)
      error_ = std::make_exception_ptr(Error(ErrorCode::cancelled, "cancelled by the progress callback"));
  }
  if (!error_) return;
  stop_ = true;
  wait_for_all(lock);
  std::rethrow_exception(error_);
}

void LaneCall::wait_for_all(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return std::all_of(open_.begin(), open_.end(), [](auto open) { return open == 0; }); });
}

bool LaneCall::advance(std::size_t lane, std::int64_t done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  done_[lane] = done;
  changed_.notify_all();
  return !stop_;
}

}  // namespace kith::api
