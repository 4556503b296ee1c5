#include "cpu/process_exit.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include <unistd.h>

namespace kith::cpu {
namespace {

std::atomic<int> running_threads{0};  // threads in tasks
std::atomic<bool> exiting{false};
std::atomic<std::thread::id> exiting_thread{};
thread_local int depth = 0;  // of TasksRunning in this thread

[[noreturn]] void stop_for_good() {
  for (;;) pause();
}

bool must_stop() {
  return exiting.load(std::memory_order_acquire) && exiting_thread.load() != std::this_thread::get_id();
}

void wait_for_tasks() {
  constexpr std::chrono::seconds kLongest{1};
  constexpr std::chrono::milliseconds kStep{1};
  exiting_thread = std::this_thread::get_id();
  exiting.store(true, std::memory_order_release);
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  const int mine = depth > 0 ? 1 : 0;
  while (running_threads > mine && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(kStep);
}

void enter() {
  [[maybe_unused]] static const int registered = std::atexit(wait_for_tasks);
  ++running_threads;
}

}  // namespace

TasksRunning::TasksRunning() {
  if (depth++ > 0) return;
  enter();
  stop_at_exit();
}

TasksRunning::~TasksRunning() {
  if (--depth == 0) --running_threads;
}

bool TasksRunning::here() {
  return depth > 0;
}

TasksPaused::TasksPaused() : depth_(std::exchange(depth, 0)) {
  if (depth_ > 0) --running_threads;
}

TasksPaused::~TasksPaused() {
  depth = depth_;
  if (depth_ == 0) return;
  ++running_threads;
  stop_at_exit();
}

bool is_exiting() {
  return exiting;
}

void stop_at_exit() {
  if (!must_stop()) return;
  if (depth > 0) --running_threads;
  stop_for_good();
}

void reset_tasks_after_fork() {
  running_threads = depth > 0 ? 1 : 0;
}

}  // namespace kith::cpu
