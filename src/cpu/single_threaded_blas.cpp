#include "cpu/single_threaded_blas.hpp"

#include <openblas_config.h>

#include <mutex>

#include <cblas.h>

#include "backend/openmp.hpp"

namespace kith::cpu {
namespace {

// The setting of a whole process. Constant-initialized and never destroyed: threads may outlive static objects.
struct ProcessSetting {
  std::mutex mutex;
  int users = 0;
  int threads = 0;  // to be put back
};
constinit ProcessSetting setting;
thread_local int uses = 0;  // of this thread

// Without OpenMP here, nobody can tell an OpenMP build of OpenBLAS what one thread may do.
bool has_process_setting() {
  static const bool has = openblas_get_parallel() == OPENBLAS_THREAD ||
                          (!backend::openmp::kIsThere && openblas_get_parallel() == OPENBLAS_OPENMP);
  return has;
}

void put_back() {
  if (setting.threads > 1) openblas_set_num_threads(setting.threads);
}

}  // namespace

SingleThreadedBlas::SingleThreadedBlas() : omp_threads_(backend::openmp::max_threads()) {
  limit_this_thread();
  if (!has_process_setting()) return;
  const std::lock_guard lock(setting.mutex);
  ++uses;
  if (setting.users++ > 0) return;
  setting.threads = openblas_get_num_threads();
  if (setting.threads > 1) openblas_set_num_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  backend::openmp::set_threads(omp_threads_);
  if (!has_process_setting()) return;
  const std::lock_guard lock(setting.mutex);
  --uses;
  if (--setting.users == 0) put_back();
}

void SingleThreadedBlas::limit_this_thread() {
  backend::openmp::set_threads(1);
}

void SingleThreadedBlas::before_fork() {
  setting.mutex.lock();
}

void SingleThreadedBlas::after_fork_in_parent() {
  setting.mutex.unlock();
}

void SingleThreadedBlas::after_fork_in_child() {
  if (setting.users > uses && uses == 0) put_back();
  setting.users = uses;
  setting.mutex.unlock();
}

}  // namespace kith::cpu
