#include "backend/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend/cgroup.hpp"
#include "backend/openmp.hpp"
#include "backend/recent.hpp"
#include "kith/error.hpp"

namespace kith::backend {
namespace {

void lower(ThreadLimit& limit, int threads, const char* source) {
  if (threads < limit.threads) limit = {threads, source};
}

ThreadLimit affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return {std::max(1, CPU_COUNT(&set)), "CPU affinity"};
  return {std::max(1, static_cast<int>(std::thread::hardware_concurrency())), "the machine's processors"};
}

// Throws where the variable is set to no number from 1 on; `otherwise` where it is not set.
int threads_of_variable(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  int threads = 0;
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, threads);
  if (error != std::errc() || stopped != end || threads < 1)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} = '{}'; it must be a number from 1 on", name, text));
  return threads;
}

}  // namespace

ThreadLimit process_threads() {
  ThreadLimit limit = affinity();
  static Recent<double> quota(std::chrono::milliseconds(500));
  const double processors = std::ceil(quota.get([] { return cgroup_processors(); }));
  if (processors < limit.threads) lower(limit, std::max(1, static_cast<int>(processors)), "CPU quota of a cgroup");
  lower(limit, threads_of_variable("KITH_NUM_THREADS", limit.threads), "KITH_NUM_THREADS");
  return limit;
}

ThreadLimit calling_thread_limit(const ThreadLimit& process) {
  ThreadLimit limit = process;
  lower(limit, std::max(1, openmp::max_threads()), "OpenMP: OMP_NUM_THREADS, threadpoolctl");
  lower(limit, std::max(1, openmp::thread_limit()), "OMP_THREAD_LIMIT");
  if (openmp::is_nested()) lower(limit, 1, "called in a parallel region of OpenMP");
  return limit;
}

ThreadLimit available_threads() {
  return calling_thread_limit(process_threads());
}

MemoryLimit free_memory() {
  constexpr std::int64_t kUnknown = std::int64_t{1} << 30;
  MemoryLimit limit{kUnknown, "unknown, taken to be 1 GiB"};
  std::ifstream info("/proc/meminfo");
  std::string key;
  std::string rest;
  for (std::int64_t kib = 0; info >> key >> kib && std::getline(info, rest);)
    if (key == "MemAvailable:") limit = {kib * 1024, "the machine's memory"};
  const std::int64_t group = cgroup_memory().free;
  if (group < limit.bytes) limit = {group, "memory limit of a cgroup"};
  return limit;
}

std::int64_t free_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::int64_t>::max();
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return static_cast<std::int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE);
}

std::int64_t largest_memory() {
  return std::min<std::int64_t>(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), cgroup_memory().free);
}

}  // namespace kith::backend
