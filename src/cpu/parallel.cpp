#include "cpu/parallel.hpp"

#include <algorithm>

#include "cpu/process_exit.hpp"
#include "cpu/single_threaded_blas.hpp"
#include "cpu/task_loop.hpp"
#include "cpu/thread_pool.hpp"

namespace kith::cpu {

void parallel_for(int threads, std::int64_t count, const std::function<void(std::int64_t, int)>& task) {
  const auto workers = static_cast<int>(std::clamp<std::int64_t>(count, 1, threads));
  TaskLoop loop(count, task);
  const SingleThreadedBlas blas;
  if (workers == 1 || TasksRunning::here() || is_exiting()) {
    loop.run(0, [] { return false; });
  } else {
    share(loop, workers - 1);
  }
  loop.rethrow();
}

}  // namespace kith::cpu
