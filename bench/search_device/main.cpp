// kith_bench_search: measures search of points on a CUDA device. docs/benchmarks.md says how to read it.
// Exit code  0 when every answer was right, 1 when one was not or the run failed, 2 for wrong usage, 5 without a
// device.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <exception>

#include "commit.hpp"
#include "search_device/json.hpp"

namespace kith::search_bench {
namespace {

constexpr int kFailure = 1;
constexpr int kUsageError = 2;
constexpr int kNoDevice = 5;

struct Arguments {
  std::vector<std::string> data = {"gaussian"};
  std::string filter;
  std::string stages = "auto";
  std::string json_path;
  std::string commit = bench::kCommit;
  std::string driver;
  Limits limits;
  bool list = false;
};

void define(CLI::App& app, Arguments& arguments) {
  app.add_option("--data", arguments.data, "What the points are like (default: gaussian); several may be given")
      ->check(CLI::IsMember(data_names()));
  app.add_option("--filter", arguments.filter, "Only problems whose description contains this");
  app.add_option("--stages", arguments.stages, "auto: the planner's choice; all: every distance stage besides")
      ->check(CLI::IsMember({"auto", "all"}))
      ->capture_default_str();
  app.add_option("--json", arguments.json_path, "Also add the results to this file");
  app.add_option("--commit", arguments.commit, "What to record as the commit (default: the one it was built from)");
  app.add_option("--driver", arguments.driver, "What to record as the version of the device's driver");
  app.add_option("--rounds", arguments.limits.rounds, "Timed runs of a contender, at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--budget-ms", arguments.limits.budget_ms, "For the timed runs of one contender")
      ->capture_default_str();
  app.add_option("--slow-ms", arguments.limits.slow_ms, "A contender slower than this is run once")
      ->capture_default_str();
  app.add_option("--skip-ms", arguments.limits.skip_ms, "A contender predicted to be slower than this is left out")
      ->capture_default_str();
  app.add_option("--check-rows", arguments.limits.check_rows, "Queries whose answers are checked against all points")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--quick", arguments.limits.quick, "Small problems, to test the benchmark itself; no bars");
  app.add_flag("--list", arguments.list, "Print the problems and leave");
}

std::vector<Problem> wanted_problems(const Arguments& arguments) {
  std::vector<Problem> wanted;
  for (const std::string& name : arguments.data)
    for (Problem& problem : all_problems(parse_data(name), arguments.limits.quick))
      if (describe(problem).find(arguments.filter) != std::string::npos) wanted.push_back(std::move(problem));
  return wanted;
}

void list(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems)
    fmt::print("{}{}\n", describe(problem),
               problem.bar_ms > 0 ? fmt::format(": at most {:g} ms", problem.bar_ms) : std::string());
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

void print_ceilings(const std::vector<CeilingResult>& ceilings) {
  const double fma = best_rate(ceilings, "fma");
  for (const CeilingResult& result : ceilings) {
    fmt::print("{:<36} {:10.3f} {}", result.ceiling.name, result.rate(), result.ceiling.unit);
    if (result.ceiling.is_kernel) fmt::print(" {:6.3f} of the fma rate", result.rate() / fma);
    fmt::print("\n");
  }
}

std::string steps_of(const Measurement& measurement) {
  std::string text;
  for (const SearchStep& step : measurement.report.steps)
    text += fmt::format("{}{} {}", text.empty() ? "" : " → ", step.distance, step.queries);
  return text;
}

void print(const Measurement& measurement) {
  fmt::print("{:<52} {:<16} ", describe(measurement.problem), measurement.contender);
  if (measurement.status != Status::timed) {
    fmt::print("{}: {}\n", select_bench::to_string(measurement.status), measurement.reason);
    return;
  }
  fmt::print("{:10.4f} ms  {} runs  {}", measurement.median_ms(), measurement.samples_ms.size(), steps_of(measurement));
  if (measurement.problem.bar_ms > 0 && measurement.contender == "auto")
    fmt::print("  {} ≤ {:g} ms", measurement.meets_bar() ? "ok" : "MISSED", measurement.problem.bar_ms);
  fmt::print("\n");
}

// What was measured is kept even if the run breaks off.
int measure(const Arguments& arguments, const std::vector<Problem>& problems, const select_bench::DeviceFacts& device) {
  Run run{now(), arguments.commit, arguments.driver, device, arguments.limits, false, {}, {}};
  std::string failure;
  try {
    Harness harness(arguments.limits);
    fmt::print("{}, {}\n", device.name, run.date);
    run.ceilings = harness.run_ceilings();
    print_ceilings(run.ceilings);
    for (const Problem& problem : problems) {
      for (Measurement& measurement : harness.run(problem, arguments.stages == "all")) {
        print(measurement);
        run.measurements.push_back(std::move(measurement));
      }
      std::fflush(stdout);
    }
    run.complete = arguments.filter.empty();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!arguments.json_path.empty()) append_run(arguments.json_path, run);
  if (!failure.empty()) fmt::print(stderr, "kith_bench_search: {}\n", failure);
  const bool wrong = std::any_of(run.measurements.begin(), run.measurements.end(),
                                 [](const Measurement& measurement) { return measurement.status == Status::wrong; });
  if (wrong) fmt::print(stderr, "kith_bench_search: there were wrong answers\n");
  return wrong || !failure.empty() ? kFailure : 0;
}

int main_of(int argc, char** argv) {
  CLI::App app("Measures search of points on a CUDA device", "kith_bench_search");
  Arguments arguments;
  define(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const std::vector<Problem> problems = wanted_problems(arguments);
  if (arguments.list) {
    list(problems);
    return 0;
  }
  const auto device = select_bench::device_facts();
  if (!device) {
    fmt::print(stderr, "kith_bench_search: no CUDA device here; --list shows what would be measured\n");
    return kNoDevice;
  }
  return measure(arguments, problems, *device);
}

}  // namespace
}  // namespace kith::search_bench

int main(int argc, char** argv) {
  try {
    return kith::search_bench::main_of(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kith_bench_search: {}\n", error.what());
    return 1;
  }
}
