#include "cache.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace kith::bench {
namespace {

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

}  // namespace

std::int64_t last_level_cache_bytes() {
  std::map<std::string, std::int64_t> caches;  // by the processors that share one
  for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) {
    std::string last;
    for (int index = 0;; ++index) {
      const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}", cpu, index);
      if (first_line(folder + "/size").empty()) break;
      last = folder;
    }
    if (!last.empty()) caches[first_line(last + "/shared_cpu_list")] = parse_size(first_line(last + "/size"));
  }
  std::int64_t bytes = 0;
  for (const auto& [processors, size] : caches) bytes += size;
  return bytes;
}

}  // namespace kith::bench
