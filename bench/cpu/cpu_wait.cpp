#include "cpu/cpu_wait.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace kith::bench {
namespace {

// The second number of a schedstat file: nanoseconds spent runnable but not running.
double run_queue_seconds() {
  double nanoseconds = 0;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(task.path() / "schedstat");
    double running = 0;
    double waiting = 0;
    if (file >> running >> waiting) nanoseconds += waiting;
  }
  return nanoseconds * 1e-9;
}

// The eighth number of the first line of /proc/stat, in clock ticks.
double stolen_seconds() {
  constexpr int kStealField = 8;
  std::ifstream file("/proc/stat");
  std::string label;
  double ticks = 0;
  file >> label;
  for (int field = 0; field < kStealField; ++field) file >> ticks;
  return file ? ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) : 0;
}

}  // namespace

double cpu_wait_seconds() {
  return run_queue_seconds() + stolen_seconds();
}

}  // namespace kith::bench
