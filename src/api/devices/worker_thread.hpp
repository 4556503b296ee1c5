// worker_thread.hpp: a thread that does one job after the other: what is made current for it stays so.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include <unistd.h>

namespace kith::api {

class WorkerThread {
 public:
  // Error(internal) where the system grants no thread.
  WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;
  // Waits for the jobs. In a child of fork(), where the thread is not, what it used is left as it is.
  ~WorkerThread();

  bool is_here() const { return getpid() == owner_; }
  // Jobs are done in the order in which they come, and throw nothing. Error(no_device) in a child of fork().
  void run(std::function<void()> job);

 private:
  struct Jobs;

  std::unique_ptr<Jobs> jobs_;
  pid_t owner_ = getpid();
  std::thread thread_;
};

}  // namespace kith::api
