#include "fork.hpp"

#include <pthread.h>

#include <string>
#include <utility>

#include "kith/error.hpp"

namespace kith::python {
namespace {

int generation = 0;

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ++generation; });

}  // namespace

int fork_generation() {
  return generation;
}

int threads_after_fork(int threads) {
  if (generation == 0) return threads;
  if (threads > 1)
    throw Error(ErrorCode::invalid_argument, "threads = " + std::to_string(threads) +
                                                 " in a forked process, which has 1; start processes by "
                                                 "'spawn' or 'forkserver' to have more");
  return 1;
}

Options after_fork(Options options) {
  options.threads = threads_after_fork(options.threads);
  return options;
}

}  // namespace kith::python
