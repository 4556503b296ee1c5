// single_threaded_blas.hpp: keeps OpenBLAS to the thread that calls it, whichever way it was built.
#pragma once

namespace kith::cpu {

// While one lives, BLAS calls of its thread start no others. An OpenMP build of OpenBLAS follows the calling thread's
// OpenMP setting, which is put back afterwards. A pthreads build has one setting for the process: it is put back when
// the last of these goes. Helpers of parallel_for have one thread anyway, so that the caller's own serves its tasks.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

  // For good, of an OpenMP build: for threads that are ours.
  static void limit_this_thread();

  // Around a fork, so that the child's setting is not in another thread's hands.
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

 private:
  int omp_threads_;
};

}  // namespace kith::cpu
