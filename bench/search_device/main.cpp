// kith_bench_search: measures search of points on a CUDA device. docs/benchmarks.md says how to read it.
// Exit code  0 when every answer was right, 1 when one was not or the run failed, 2 for wrong usage, 5 without a
// device.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iterator>
#include <optional>

#include "commit.hpp"
#include "device/run_file.hpp"
#include "program.hpp"
#include "search_device/figure.hpp"
#include "search_device/json.hpp"
#include "search_device/profile.hpp"
#include "search_device/stream_report.hpp"
#include "search_device/suite.hpp"

namespace kith::search_bench {
namespace {

// Of the suite, unless they are given.
struct GivenLimits {
  std::optional<int> rounds;
  std::optional<double> budget_ms;
  std::optional<double> slow_ms;
  std::optional<double> skip_ms;
  std::optional<std::int64_t> check_rows;

  void replace(Limits& limits) const {
    limits.rounds = rounds.value_or(limits.rounds);
    limits.budget_ms = budget_ms.value_or(limits.budget_ms);
    limits.slow_ms = slow_ms.value_or(limits.slow_ms);
    limits.skip_ms = skip_ms.value_or(limits.skip_ms);
    limits.check_rows = check_rows.value_or(limits.check_rows);
  }
};

struct Arguments {
  std::string suite = "must";
  std::vector<std::string> data = {"gaussian"};
  std::string points;
  std::string contender;
  std::string filter;
  std::string stages = "auto";
  std::string json_path;
  std::string tune_path;
  std::string commit = bench::kCommit;
  std::string driver;
  GivenLimits limits;
  bool quick = false;
  StreamSettings stream;
  bool radius = false;
  bool list = false;
};

void define(CLI::App& app, Arguments& arguments) {
  app.add_option("--suite", arguments.suite,
                 "must: shapes with bars; grid: the planner's choice against all stages; "
                 "figures: those of Hanák's chapter 5")
      ->check(CLI::IsMember(suite_names()))
      ->capture_default_str();
  app.add_option("--data", arguments.data, "What the points of must are like (default: gaussian); several may be given")
      ->check(CLI::IsMember(data_names()));
  app.add_option("--points", arguments.points, "A file of points (fbin) for suite triangle to search as well")
      ->check(CLI::ExistingFile);
  app.add_option("--contender", arguments.contender, "Only contenders of this name");
  app.add_option("--filter", arguments.filter, "Only problems whose description contains this");
  app.add_option("--stages", arguments.stages, "auto: the planner's choice; all: every distance stage besides")
      ->check(CLI::IsMember({"auto", "all"}))
      ->capture_default_str();
  app.add_option("--json", arguments.json_path, "Also add the results to this file");
  app.add_option("--commit", arguments.commit, "What to record as the commit (default: the one it was built from)");
  app.add_option("--driver", arguments.driver, "What to record as the version of the device's driver");
  GivenLimits& limits = arguments.limits;
  app.add_option("--rounds", limits.rounds,
                 "Timed runs of a contender, at most; like the next four, the suite's own "
                 "unless given")
      ->check(CLI::PositiveNumber);
  app.add_option("--budget-ms", limits.budget_ms, "For the timed runs of one contender");
  app.add_option("--slow-ms", limits.slow_ms, "A contender slower than this is run once");
  app.add_option("--skip-ms", limits.skip_ms,
                 "A contender predicted to be slower than this is left out, but for the planner's choice");
  app.add_option("--check-rows", limits.check_rows, "Queries whose answers are checked against all points")
      ->check(CLI::PositiveNumber);
  app.add_option("--tune", arguments.tune_path,
                 "Measure what kith tune measures, write it to this file for KITH_PROFILE to name, and leave");
  app.add_flag("--quick", arguments.quick, "Small problems, to test the benchmark itself; no bars");
  app.add_flag("--stream", arguments.stream.wanted, "Only a base that is streamed from the host");
  app.add_option("--stream-bytes", arguments.stream.bytes, "Of the base that is streamed")
      ->check(CLI::Range(std::int64_t{100'000'000}, std::int64_t{1} << 40))
      ->capture_default_str();
  app.add_flag("--radius", arguments.radius, "Only radius searches of points of the host");
  app.add_flag("--list", arguments.list, "Print the problems and leave");
}

Suite wanted_suite(const Arguments& arguments) {
  std::vector<Data> data;
  for (const std::string& name : arguments.data) data.push_back(parse_data(name));
  Suite suite = make_suite(arguments.suite, data, arguments.points, arguments.quick);
  const auto unwanted = [&](const auto& one) { return describe(one).find(arguments.filter) == std::string::npos; };
  std::erase_if(suite.cases, unwanted);
  std::erase_if(suite.stage_cases, unwanted);
  for (Case& one : suite.cases)
    std::erase_if(one.contenders, [&](const Contender& contender) {
      return !arguments.contender.empty() && contender.name != arguments.contender;
    });
  suite.all_stages = suite.all_stages || arguments.stages == "all";
  arguments.limits.replace(suite.limits);
  return suite;
}

void list(const Suite& suite) {
  for (const StageCase& one : suite.stage_cases) fmt::print("{}\n", describe(one));
  for (const Case& one : suite.cases) {
    fmt::print("{}", describe(one));
    if (one.problem.bar_ms > 0) fmt::print(": at most {:g} ms", one.problem.bar_ms);
    for (const Contender& contender : one.contenders)
      fmt::print("{}{}", &contender == &one.contenders.front() ? ": " : ", ", contender.name);
    fmt::print("\n");
  }
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
    text += fmt::format("{}{} {}", text.empty() ? "" : " → ", to_string(step.pass), step.queries);
  return text;
}

void print(const Measurement& measurement) {
  fmt::print("{:<52} {:<30} ", describe(measurement.problem), measurement.contender);
  if (measurement.status != Status::timed) {
    fmt::print("{}: {}\n", select_bench::to_string(measurement.status), measurement.reason);
    return;
  }
  fmt::print("{:10.4f} ms  {} runs  {}", measurement.median_ms(), measurement.samples_ms.size(), steps_of(measurement));
  if (measurement.report.triangle) fmt::print("{:.2f} % saved", 100 * measurement.report.triangle->saved());
  if (measurement.contender == "auto") fmt::print(" ({})", describe(measurement.plan));
  if (measurement.problem.bar_ms > 0 && measurement.contender == "auto")
    fmt::print("  {} ≤ {:g} ms", measurement.meets_bar() ? "ok" : "MISSED", measurement.problem.bar_ms);
  fmt::print("\n");
}

void run_stages(const StageCase& one, Harness& harness, Run& run) {
  for (StageMeasurement& stage : harness.run_stages(one.tile)) {
    stage.figure = one.figure;
    run.stages.push_back(std::move(stage));
  }
}

void run_case(const Case& one, bool all_stages, Harness& harness, Run& run) {
  const std::vector<Contender> planned =
      all_stages ? harness.all_contenders(one.problem) : std::vector<Contender>{Contender()};
  std::vector<Measurement> measurements = harness.run(one.problem, one.contenders.empty() ? planned : one.contenders);
  for (Measurement& measurement : measurements) {
    measurement.figure = one.figure;
    print(measurement);
  }
  if (run.suite == "grid" || one.figure == "Table IV") {
    if (const auto point = grid_point(measurements)) {
      fmt::print("{:<52} {} is {:.2f} of the best, {}\n", describe(point->problem), point->choice, point->ratio(),
                 point->best);
      run.grid.push_back(*point);
    }
  }
  std::move(measurements.begin(), measurements.end(), std::back_inserter(run.measurements));
  std::fflush(stdout);
}

void print_conclusions(const Run& run) {
  for (const Figure& figure : make_figures(run.measurements, run.stages, run.ceilings))
    fmt::print("\n{}", to_string(figure));
  if (!run.grid.empty()) fmt::print("\n{}\n", to_string(judge(run.grid)));
}

int measure_streaming(const Arguments& arguments, const select_bench::DeviceFacts& device) {
  Limits limits;
  limits.quick = arguments.quick;
  Run run{"stream", device_bench::now(), arguments.commit, arguments.driver, device, limits, true, {}, {}, {}, {}};
  fmt::print("{}, {}\n", device.name, run.date);
  run.stream = measure_stream(arguments.stream, limits);
  print(*run.stream);
  if (!arguments.json_path.empty()) append_run(arguments.json_path, run);
  return run.stream->fault.empty() ? 0 : bench::kFailure;
}

int measure_radii(const Arguments& arguments, const select_bench::DeviceFacts& device) {
  Limits limits;
  limits.quick = arguments.quick;
  arguments.limits.replace(limits);
  Run run{"radius", device_bench::now(), arguments.commit, arguments.driver, device, limits, true, {}, {}, {}, {}};
  fmt::print("{}, {}\n", device.name, run.date);
  run.radius = measure_radius(limits);
  if (!arguments.json_path.empty()) append_run(arguments.json_path, run);
  const bool right =
      std::all_of(run.radius.begin(), run.radius.end(), [](const auto& row) { return row.fault.empty(); });
  return right ? 0 : bench::kFailure;
}

// What was measured is kept even if the run breaks off.
int measure(const Arguments& arguments, const Suite& suite, const select_bench::DeviceFacts& device) {
  Run run{suite.name, device_bench::now(), arguments.commit, arguments.driver, device, suite.limits, false, {}, {}, {},
          {}};
  std::string failure;
  try {
    Harness harness(suite.limits);
    fmt::print("{}, {}\n", device.name, run.date);
    run.ceilings = harness.run_ceilings();
    print_ceilings(run.ceilings);
    for (const StageCase& one : suite.stage_cases) run_stages(one, harness, run);
    for (const Case& one : suite.cases) run_case(one, suite.all_stages, harness, run);
    run.complete = arguments.filter.empty();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  print_conclusions(run);
  if (!arguments.json_path.empty()) append_run(arguments.json_path, run);
  if (!failure.empty()) fmt::print(stderr, "kith_bench_search: {}\n", failure);
  const bool wrong = std::any_of(run.measurements.begin(), run.measurements.end(),
                                 [](const Measurement& measurement) { return measurement.status == Status::wrong; });
  if (wrong) fmt::print(stderr, "kith_bench_search: there were wrong answers\n");
  return wrong || !failure.empty() ? bench::kFailure : 0;
}

int main_of(int argc, char** argv) {
  CLI::App app("Measures search of points on a CUDA device", "kith_bench_search");
  Arguments arguments;
  define(app, arguments);
  if (const auto done = bench::parse(app, argc, argv)) return *done;
  const Suite suite = wanted_suite(arguments);
  if (arguments.list) {
    list(suite);
    return 0;
  }
  const auto device = select_bench::device_facts();
  if (!device) {
    fmt::print(stderr, "kith_bench_search: no CUDA device here; --list shows what would be measured\n");
    return bench::kNoDevice;
  }
  if (arguments.stream.wanted) return measure_streaming(arguments, *device);
  if (arguments.radius) return measure_radii(arguments, *device);
  if (!arguments.tune_path.empty()) {
    write_profile(arguments.tune_path, arguments.quick);
    return 0;
  }
  return measure(arguments, suite, *device);
}

}  // namespace
}  // namespace kith::search_bench

int main(int argc, char** argv) {
  return kith::bench::run_program("kith_bench_search", argc, argv, kith::search_bench::main_of);
}
