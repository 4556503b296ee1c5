// parallel.cpp: parallel_for on OpenMP or std::thread, with BLAS kept to one thread.
#include "cpu/parallel.hpp"

#include <openblas_config.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <cblas.h>
#include <omp.h>

namespace kith::cpu {
namespace {

// Keeps BLAS to one thread while it exists. An OpenMP build of OpenBLAS starts no threads inside a parallel region and
// otherwise follows the calling thread's OpenMP setting; a pthreads build has one setting for the process.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas()
      : omp_threads_(omp_get_max_threads()),
        blas_threads_(openblas_get_parallel() == OPENBLAS_THREAD ? openblas_get_num_threads() : 0) {
    if (blas_threads_ > 1) openblas_set_num_threads(1);
  }
  ~SingleThreadedBlas() {
    if (blas_threads_ > 1) openblas_set_num_threads(blas_threads_);
    omp_set_num_threads(omp_threads_);
  }
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

  static void limit_this_thread() { omp_set_num_threads(1); }

 private:
  int omp_threads_;
  int blas_threads_;
};

// Runs work(worker) on every worker and waits for all. ThreadSanitizer supports std::thread but not libgomp, so its
// build uses KITH_STD_THREADS.
void run_workers(int threads, const std::function<void(int)>& work) {
#ifdef KITH_STD_THREADS
  std::vector<std::thread> others;
  for (int worker = 1; worker < threads; ++worker)
    others.emplace_back([&work, worker] {
      SingleThreadedBlas::limit_this_thread();
      work(worker);
    });
  SingleThreadedBlas::limit_this_thread();
  work(0);
  for (std::thread& other : others) other.join();
#else
  if (threads == 1) {
    SingleThreadedBlas::limit_this_thread();
    return work(0);
  }
#pragma omp parallel num_threads(threads)
  work(omp_get_thread_num());
#endif
}

}  // namespace

void parallel_for(int threads, std::int64_t count, const std::function<void(std::int64_t, int)>& task) {
  const SingleThreadedBlas blas;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::int64_t failed_at = count;
  std::mutex failure_mutex;
  run_workers(static_cast<int>(std::clamp<std::int64_t>(count, 1, threads)), [&](int worker) {
    while (!stop) {
      const std::int64_t i = next++;
      if (i >= count) break;
      try {
        task(i, worker);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        stop = true;
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kith::cpu
