#include "cli/machine.hpp"

#include <sched.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "kith/options.hpp"

namespace kith::cli {
namespace {

// The value of the first line "key : value".
std::string value_in(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    if (start != std::string::npos) return line.substr(start);
  }
  return {};
}

std::int64_t memory_of(const std::string& key) {
  std::istringstream text(value_in("/proc/meminfo", key));
  std::int64_t kibibytes = 0;
  text >> kibibytes;
  return kibibytes * 1024;
}

int count_usable_cores(int cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : cores;
}

}  // namespace

Machine inspect_machine() {
  Machine machine;
  machine.cpu_model = value_in("/proc/cpuinfo", "model name");
  if (machine.cpu_model.empty()) machine.cpu_model = "unknown";
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  machine.usable_cores = count_usable_cores(machine.cores);
  machine.simd_targets = simd_targets();
  machine.memory_bytes = memory_of("MemTotal");
  machine.available_bytes = memory_of("MemAvailable");
  return machine;
}

}  // namespace kith::cli
