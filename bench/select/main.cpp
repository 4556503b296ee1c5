// kith_bench_select: measures selection on a CUDA device. docs/benchmarks.md says how to read it.
// Exit code  0 when every answer was right, 1 when one was not or the run failed, 2 for wrong usage, 5 without a
// device.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "commit.hpp"
#include "device/run_file.hpp"
#include "json.hpp"
#include "methods.hpp"
#include "program.hpp"

namespace kith::select_bench {
namespace {

struct Arguments {
  std::vector<std::string> suites;
  std::string figure;
  std::string json_path;
  std::string commit = bench::kCommit;
  std::string driver;
  Limits limits;
  bool list = false;
};

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : all_suites()) names.push_back(suite.name);
  return names;
}

void define(CLI::App& app, Arguments& arguments) {
  app.add_option("--suite", arguments.suites, "What to run (default: must); several may be given")
      ->check(CLI::IsMember(suite_names()));
  app.add_option("--figure", arguments.figure, "Only what belongs to a figure whose name contains this");
  app.add_option("--json", arguments.json_path, "Also add the results to this file");
  app.add_option("--commit", arguments.commit, "What to record as the commit (default: the one it was built from)");
  app.add_option("--driver", arguments.driver, "What to record as the version of the device's driver");
  app.add_option("--budget-ms", arguments.limits.budget_ms, "For the timed runs of one entry")->capture_default_str();
  app.add_option("--slow-ms", arguments.limits.slow_ms, "An entry slower than this is run once")->capture_default_str();
  app.add_option("--skip-ms", arguments.limits.skip_ms, "An entry expected to be slower than this is left out")
      ->capture_default_str();
  app.add_option("--suite-seconds", arguments.limits.suite_seconds, "After this a suite leaves out the rest; 0: never")
      ->capture_default_str();
  app.add_flag("--list", arguments.list, "Print the suites and what is in them, and leave");
}

std::vector<Suite> wanted_suites(const Arguments& arguments) {
  const std::vector<std::string> names = arguments.suites.empty() ? std::vector<std::string>{"must"} : arguments.suites;
  std::vector<Suite> suites;
  for (Suite& suite : all_suites()) {
    if (std::find(names.begin(), names.end(), suite.name) == names.end()) continue;
    const auto unwanted = [&](const auto& part) { return part.figure.find(arguments.figure) == std::string::npos; };
    std::erase_if(suite.heats, unwanted);
    std::erase_if(suite.counts, unwanted);
    suites.push_back(std::move(suite));
  }
  return suites;
}

// Returns whether every contender's method exists.
bool list(const std::vector<Suite>& suites) {
  bool known = true;
  for (const Suite& suite : suites) {
    fmt::print("{}: {}\n", suite.name, suite.what);
    if (!suite.left_out.empty()) fmt::print("  left out: {}\n", suite.left_out);
    for (const Heat& heat : suite.heats) {
      fmt::print("  {}: {}\n", heat.figure, describe(heat.shape));
      for (const Entry& entry : heat.entries) {
        fmt::print("    k = {}, {}, {}\n", entry.k, entry.sorted ? "sorted" : "unsorted", entry.contender.label);
        if (is_method(entry.contender.method)) continue;
        fmt::print("      there is no method {}\n", entry.contender.method);
        known = false;
      }
    }
    for (const UpdateCount& count : suite.counts)
      fmt::print("  {}: updates of the {} queue, {}, k = {}\n", count.figure, count.queue, describe(count.shape),
                 count.k);
  }
  return known;
}

void print(const Measurement& measurement, const Run& run) {
  const Entry& entry = measurement.entry;
  fmt::print("{} {:<26} k {:<7}{:<9} {:<28} ", measurement.suite, describe(measurement.shape), entry.k,
             entry.sorted ? "" : "unsorted", entry.contender.label);
  if (measurement.status == Status::timed)
    fmt::print("{:10.4f} ms {:6.3f} TB/s {:6.3f} R  {} runs", measurement.median_ms(), measurement.terabytes_a_second(),
               measurement.terabytes_a_second() / run.read_rate.terabytes_a_second, measurement.samples_ms.size());
  else
    fmt::print("{}: {}", to_string(measurement.status), measurement.reason);
  if (const auto bar = judge(measurement, run.measurements, run.read_rate.terabytes_a_second))
    fmt::print("  {} {}: {}", bar->ok ? "ok" : "MISSED", bar->asked, bar->reached);
  fmt::print("\n");
}

void run_suite(const Suite& suite, bool whole, Harness& harness, Run& run) {
  harness.start_suite();
  run.suites.push_back({suite.name, suite.left_out});
  for (const UpdateCount& count : suite.counts) {
    run.updates.push_back(harness.run(count));
    fmt::print("{} updates of the {} queue, k {}: {}\n", suite.name, count.queue, count.k,
               run.updates.back().skipped.empty() ? "counted" : run.updates.back().skipped);
  }
  for (const Heat& heat : suite.heats) {
    for (Measurement& measurement : harness.run(heat)) {
      measurement.suite = suite.name;
      run.measurements.push_back(std::move(measurement));
      print(run.measurements.back(), run);
    }
    std::fflush(stdout);
  }
  run.suites.back().seconds = harness.suite_seconds();
  run.suites.back().complete = whole;
  fmt::print("{}: {:.1f} s\n", suite.name, run.suites.back().seconds);
}

// What was measured is kept even if the run breaks off.
int measure(const Arguments& arguments, const std::vector<Suite>& suites, const DeviceFacts& device) {
  Run run{device_bench::now(), arguments.commit, arguments.driver, device, arguments.limits, {}, {}, {}, {}};
  std::string failure;
  try {
    Harness harness(arguments.limits);
    run.read_rate = harness.read_rate();
    fmt::print("{}, {}; R = {:.3f} TB/s\n", device.name, run.date, run.read_rate.terabytes_a_second);
    for (const Suite& suite : suites) run_suite(suite, arguments.figure.empty(), harness, run);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!arguments.json_path.empty()) append_run(arguments.json_path, run);
  if (!failure.empty()) fmt::print(stderr, "kith_bench_select: {}\n", failure);
  const bool wrong = std::any_of(run.measurements.begin(), run.measurements.end(),
                                 [](const Measurement& measurement) { return measurement.status == Status::wrong; });
  if (wrong) fmt::print(stderr, "kith_bench_select: there were wrong answers\n");
  return wrong || !failure.empty() ? bench::kFailure : 0;
}

int main_of(int argc, char** argv) {
  CLI::App app("Measures selection methods on a CUDA device", "kith_bench_select");
  Arguments arguments;
  define(app, arguments);
  if (const auto done = bench::parse(app, argc, argv)) return *done;
  const std::vector<Suite> suites = wanted_suites(arguments);
  if (arguments.list) return list(suites) ? 0 : bench::kFailure;
  const auto device = device_facts();
  if (!device) {
    fmt::print(stderr, "kith_bench_select: no CUDA device here; --list shows what would be measured\n");
    return bench::kNoDevice;
  }
  return measure(arguments, suites, *device);
}

}  // namespace
}  // namespace kith::select_bench

int main(int argc, char** argv) {
  return kith::bench::run_program("kith_bench_select", argc, argv, kith::select_bench::main_of);
}
