#include "support/machine.hpp"

#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace kith::support {
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

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "32768K" in bytes.
std::int64_t parse_size(const std::string& text) {
  if (text.empty()) return 0;
  const std::int64_t unit = text.back() == 'K' ? 1024 : text.back() == 'M' ? 1024 * 1024 : 1;
  return std::atoll(text.c_str()) * unit;
}

// sysconf is no help: on some processors it gives the sum over parts of the package that a virtual machine lacks.
std::int64_t last_level_cache_bytes(int cores) {
  std::map<std::string, std::int64_t> caches;  // by the processors that share one
  for (int cpu = 0; cpu < cores; ++cpu) {
    std::string last;
    for (int index = 0;; ++index) {
      const std::string folder =
          "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index);
      if (first_line(folder + "/size").empty()) break;
      last = folder;
    }
    if (!last.empty()) caches[first_line(last + "/shared_cpu_list")] = parse_size(first_line(last + "/size"));
  }
  std::int64_t bytes = 0;
  for (const auto& [processors, size] : caches) bytes += size;
  return bytes;
}

}  // namespace

Machine inspect_machine() {
  Machine machine;
  machine.cpu_model = value_in("/proc/cpuinfo", "model name");
  if (machine.cpu_model.empty()) machine.cpu_model = "unknown";
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  machine.usable_cores = count_usable_cores(machine.cores);
  machine.cache_bytes = last_level_cache_bytes(machine.cores);
  machine.memory_bytes = memory_of("MemTotal");
  machine.available_bytes = memory_of("MemAvailable");
  return machine;
}

}  // namespace kith::support
