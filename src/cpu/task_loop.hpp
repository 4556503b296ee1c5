// task_loop.hpp: the tasks of a parallel_for, as the threads that share them see it.
#pragma once

#include <cxxabi.h>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "cpu/process_exit.hpp"
#include "cpu/task_ref.hpp"

namespace kith::cpu {

class TaskLoop {
 public:
  TaskLoop(std::int64_t count, TaskRef task) : count_(count), task_(task), failed_at_(count) {}

  // Runs one task after the other, until none is left or leave() says so. Throws nothing but the unwinding of a thread
  // that ends itself in a task.
  template <class Leave>
  void run(int worker, Leave leave) {
    const TasksRunning running;
    while (!stop_) {
      const std::int64_t i = next_++;
      if (i >= count_) break;
      try {
        task_(i, worker);
      } catch (const abi::__forced_unwind&) {
        stop_ = true;
        throw;
      } catch (...) {
        keep(i, std::current_exception());
      }
      stop_at_exit();
      if (leave()) break;
    }
  }

  bool has_tasks() const { return !stop_ && next_ < count_; }

  // Throws the exception of the lowest index, if there was one; once nobody runs tasks.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void keep(std::int64_t index, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (index >= failed_at_) return;
    failed_at_ = index;
    failure_ = std::move(failure);
  }

  std::int64_t count_;
  TaskRef task_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::int64_t failed_at_;
  std::exception_ptr failure_;
};

}  // namespace kith::cpu
