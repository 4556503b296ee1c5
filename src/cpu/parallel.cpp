#include "cpu/parallel.hpp"

#include <algorithm>

#include "cpu/process_exit.hpp"
#include "cpu/task_loop.hpp"
#include "cpu/thread_pool.hpp"

namespace kith::cpu {
namespace {

// What TaskLoop does where nobody helps.
void run_alone(std::int64_t count, TaskRef task) {
  const TasksRunning running;
  for (std::int64_t i = 0; i < count; ++i) {
    task(i, 0);
    stop_at_exit();
  }
}

}  // namespace

void parallel_for(int threads, std::int64_t count, TaskRef task) {
  const auto workers = static_cast<int>(std::clamp<std::int64_t>(count, 1, threads));
  if (workers == 1 || TasksRunning::here() || is_exiting()) return run_alone(count, task);
  TaskLoop loop(count, task);
  share(loop, workers - 1);
  loop.rethrow();
}

}  // namespace kith::cpu
