#include "api/devices/worker_thread.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "kith/error.hpp"

namespace kith::api {
namespace {

// A new thread has its maker's mask: signals are for the program's own threads.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

struct WorkerThread::Jobs {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  bool end = false;

  void work() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [this] { return end || !waiting.empty(); });
        if (waiting.empty()) return;
        job = std::move(waiting.front());
        waiting.pop_front();
      }
      job();
    }
  }
};

WorkerThread::WorkerThread() : jobs_(std::make_unique<Jobs>()) {
  const AllSignalsBlocked blocked;
  try {
    thread_ = std::thread([jobs = jobs_.get()] { jobs->work(); });
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::internal, fmt::format("no thread could be started for a device: {}", error.what()));
  }
}

WorkerThread::~WorkerThread() {
  if (!is_here()) {
    thread_.detach();
    // Whoever destroys a condition waits for those that wait for it.
    static_cast<void>(jobs_.release());
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(jobs_->mutex);
    jobs_->end = true;
  }
  jobs_->changed.notify_one();
  thread_.join();
}

void WorkerThread::run(std::function<void()> job) {
  if (!is_here())
    throw Error(ErrorCode::no_device,
                "this process is the child of a fork; the threads of its devices stayed in the parent");
  {
    const std::lock_guard<std::mutex> lock(jobs_->mutex);
    jobs_->waiting.push_back(std::move(job));
  }
  jobs_->changed.notify_one();
}

}  // namespace kith::api
