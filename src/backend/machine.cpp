#include "backend/machine.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include <sched.h>

namespace kith::backend {

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::int64_t free_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  std::string rest;
  for (std::int64_t kib = 0; info >> key >> kib && std::getline(info, rest);)
    if (key == "MemAvailable:") return kib * 1024;
  return std::int64_t{1} << 30;
}

}  // namespace kith::backend
