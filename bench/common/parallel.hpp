// parallel.hpp: loops over many threads, for what is not timed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace kith::bench {

inline int all_threads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

// task(first, last) for parts of 0 … count. The task may not throw.
template <class Task>
void for_parts(std::int64_t count, std::int64_t part, int threads, const Task& task) {
  std::atomic<std::int64_t> next{0};
  std::vector<std::jthread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&] {
      for (std::int64_t first = next.fetch_add(part); first < count; first = next.fetch_add(part))
        task(first, std::min(count, first + part));
    });
}

}  // namespace kith::bench
