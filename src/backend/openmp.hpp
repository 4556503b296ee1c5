// openmp.hpp: what the OpenMP runtime says of the calling thread, and of a build without one: that it asks for nothing.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#else
#include <limits>
#endif

namespace kith::backend::openmp {

#ifdef _OPENMP

inline constexpr bool kIsThere = true;

inline int max_threads() {
  return omp_get_max_threads();
}
inline void set_threads(int threads) {
  omp_set_num_threads(threads);
}
inline int thread_limit() {
  return omp_get_thread_limit();
}
// Whether the calling thread is in a parallel region that may start no others.
inline bool is_nested() {
  return omp_in_parallel() != 0 && omp_get_active_level() >= omp_get_max_active_levels();
}

#else

inline constexpr bool kIsThere = false;

inline int max_threads() {
  return std::numeric_limits<int>::max();
}
inline void set_threads(int) {}
inline int thread_limit() {
  return std::numeric_limits<int>::max();
}
inline bool is_nested() {
  return false;
}

#endif

}  // namespace kith::backend::openmp
