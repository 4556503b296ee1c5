// kith_bench_device: measures selection and search on a CUDA device. docs/benchmarks.md says how to read it.
// Exit code  0 when every answer was right, 1 when one was not or the run failed, 2 for wrong usage, 5 without a
// device.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>

#include "common/program.hpp"
#include "device/harness/report.hpp"
#include "device/lowdim/shifted_sort.hpp"
#include "device/search/problem.hpp"
#include "device/select/select_case.hpp"
#include "kith/tune.hpp"

namespace kith::bench::device {
namespace {

constexpr const char* kProgram = "kith_bench_device";

struct Arguments {
  std::vector<std::string> suites = {"must"};
  std::string filter;
  std::string row;
  std::string json_path;
  std::string tune_path;
  std::string commit = built_commit();
  std::string driver;
  std::vector<std::function<void(Limits&)>> limits;  // that replace those of a suite
  Settings settings;
  bool list = false;
};

void define(CLI::App& app, Arguments& arguments) {
  Settings& settings = arguments.settings;
  app.add_option("--suite", arguments.suites,
                 "What to run (default: must): select/must, select for all of select, must for every must; several may "
                 "be given");
  app.add_option("--filter", arguments.filter, "Only cases whose figure or problem contains this");
  app.add_option("--row", arguments.row, "Only the case of this name, as --list has it: search/engine, search/memory");
  app.add_option("--contender", settings.contender, "Only contenders of this name, where a suite names its own");
  app.add_flag("--list", arguments.list, "Print the suites and what is in them, and leave");
  app.add_option("--json", arguments.json_path, "Also add the results to this file");
  app.add_option("--commit", arguments.commit, "What to record as the commit (default: the one it was built from)");
  app.add_option("--driver", arguments.driver, "What to record as the version of the device's driver");
  app.add_flag("--quick", settings.quick, "Small problems, to test the benchmark itself; no bars");
  app.add_option("--data", settings.data, "search/must: what points are like (default: gaussian); several may be given")
      ->check(CLI::IsMember(search::data_names()));
  app.add_flag("--all-stages", settings.all_stages, "search/must: every distance stage beside the planner's choice");
  app.add_flag(
      "--profile", settings.profile,
      "No times, no checks: each contender is warmed up and run once for a profiler (ncu --profile-from-start off)");
  app.add_option_function<std::string>(
         "--part",
         [&settings](const std::string& text) {
           if (std::sscanf(text.c_str(), "%d/%d", &settings.part, &settings.parts) != 2 || settings.part < 1 ||
               settings.part > settings.parts)
             throw CLI::ValidationError("--part", text + " is no part; 1/3 to 3/3 are the parts of three");
         },
         "search/grid: only part i of m, written i/m")
      ->default_str("1/1");
  app.add_option("--points", settings.points, "search/triangle: a file of points (fbin) to search as well")
      ->check(CLI::ExistingFile);
  app.add_option("--stream-bytes", settings.stream_bytes, "search/stream: of the base")
      ->check(CLI::Range(std::int64_t{100'000'000}, std::int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--surface", settings.surface,
                 "lowdim: folder of bunny.npy and bunny_faces.npy; else a surface is made up");
  const auto limit = [&](const char* name, auto member, const char* what) {
    using Value = std::remove_reference_t<decltype(std::declval<Limits>().*member)>;
    app.add_option_function<Value>(
           name,
           [=, &arguments](const Value& value) {
             arguments.limits.push_back([=](Limits& limits) { limits.*member = value; });
           },
           fmt::format("{} (default: the suite's own)", what))
        ->check(CLI::PositiveNumber);
  };
  limit("--rounds", &Limits::rounds, "Timed runs of a contender, at most");
  limit("--budget-ms", &Limits::budget_ms, "For the timed runs of one contender");
  limit("--slow-ms", &Limits::slow_ms, "A contender slower than this is run once");
  limit("--skip-ms", &Limits::skip_ms,
        "A contender expected to be slower than this is left out, but for the planner's choice");
  limit("--suite-seconds", &Limits::suite_seconds, "After this a suite leaves out the rest");
  limit("--samples", &Limits::samples, "Queries whose answers are checked against all points");
  app.add_option("--tune", arguments.tune_path,
                 "Measure what kith tune measures, write it to this file for KITH_PROFILE to name, and leave");
}

std::vector<Suite> all_suites(const Settings& settings) {
  std::vector<Suite> suites = {
      select::must_suite(settings),         select::queues_suite(settings),  select::thesis_suite(settings),
      select::multi_select_suite(settings), search::must_suite(settings),    search::engine_suite(settings),
      search::passes_suite(settings),       search::tree_suite(settings),    search::memory_suite(settings),
      search::grid_suite(settings),         search::figures_suite(settings), search::triangle_suite(settings),
      search::radius_suite(settings),       search::stream_suite(settings),  search::types_suite(settings),
      search::bits_suite(settings),         search::custom_suite(settings),  search::filter_suite(settings),
      search::devices_suite(settings)};
  for (Suite& suite : lowdim::all_suites(settings)) suites.push_back(std::move(suite));
  return suites;
}

// "select/must" by that name, by its group "select", or by its own name "must".
bool is_called(const Suite& suite, const std::string& name) {
  return suite.name == name || suite.name.starts_with(name + "/") || suite.name.ends_with("/" + name);
}

std::vector<Suite> wanted_suites(const Arguments& arguments) {
  std::vector<Suite> wanted;
  const std::vector<Suite> all = all_suites(arguments.settings);
  for (const std::string& name : arguments.suites)
    if (std::none_of(all.begin(), all.end(), [&](const Suite& suite) { return is_called(suite, name); }))
      throw CLI::ValidationError("--suite",
                                 name + " is no suite; --list --suite select --suite search --suite lowdim shows all");
  for (Suite suite : all) {
    if (std::none_of(arguments.suites.begin(), arguments.suites.end(),
                     [&](const std::string& name) { return is_called(suite, name); }))
      continue;
    std::erase_if(suite.cases, [&](const Case& one) {
      if (!arguments.row.empty() && one.figure != arguments.row) return true;
      return (one.figure + ": " + one.problem + ": " + one.contenders).find(arguments.filter) == std::string::npos;
    });
    for (const auto& replace : arguments.limits) replace(suite.limits);
    wanted.push_back(std::move(suite));
  }
  return wanted;
}

void measure_cases(const Suite& suite, Harness& harness) {
  if (suite.ceilings && !harness.profiles())
    harness.measure_ceilings(suite.ceilings(harness.quick(), harness.stream()));
  print(harness.ceilings());
  for (const Case& one : suite.cases)
    for (Row& row : one.measure(harness)) {
      row.figure = one.figure;
      print(row);
      harness.rows.push_back(std::move(row));
    }
  if (suite.conclude) {
    suite.conclude(harness);
    for (const Row& row : harness.rows)
      if (row.bar) print(row);
  }
  if (suite.summarize) suite.summarize(harness);
}

// What was measured is kept even if the suite breaks off. Returns whether it did not and every answer was right.
bool measure(const Suite& suite, const Arguments& arguments, const Json& device) {
  Json run = {{"program", kProgram},        {"suite", suite.name}, {"date", now()},
              {"commit", arguments.commit}, {"device", device},    {"machine", machine_json()}};
  run["device"]["driver"] = arguments.driver;
  fmt::print("\n{}: {} ({}, {})\n", suite.name, suite.what, device["name"].get<std::string>(),
             run["date"].get<std::string>());
  Harness harness(suite.limits, arguments.settings.quick, arguments.settings.profile);
  std::string failure;
  try {
    measure_cases(suite, harness);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const auto count = [&](auto of) { return std::count_if(harness.rows.begin(), harness.rows.end(), of); };
  const auto bars = count([](const Row& row) { return row.bar.has_value(); });
  const auto met = count([](const Row& row) { return row.bar && row.bar->ok; });
  const auto wrong = count([](const Row& row) { return row.status == Status::wrong; });
  if (bars > 0) fmt::print("{} of {} bars met\n", met, bars);
  fmt::print("{}: {:.1f} s\n", suite.name, harness.seconds());
  run["complete"] = failure.empty() && arguments.filter.empty() && arguments.row.empty() &&
                    arguments.settings.parts == 1 && !arguments.settings.profile;
  run.update(to_json(suite, harness));
  if (!arguments.json_path.empty()) append_run(arguments.json_path, kSchema, std::move(run));
  if (!failure.empty()) fmt::print(stderr, "{}: {}: {}\n", kProgram, suite.name, failure);
  if (wrong > 0) fmt::print(stderr, "{}: {}: {} wrong answers\n", kProgram, suite.name, wrong);
  return failure.empty() && wrong == 0;
}

// What `kith tune` does, on a machine that has this program and nothing else of Kith.
int write_profile(const std::string& path, bool quick) {
  const TuneReport report = tune({kBackend, quick});
  for (const StepCost& cost : report.costs)
    fmt::print("{:<16} {:.4g} s before, {:.4g} s now: {}\n", cost.name, cost.before, cost.after, cost.meaning);
  std::ofstream file(path);
  file << profile_text(report);
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
  return 0;
}

int main_of(int argc, char** argv) {
  CLI::App app("Measures selection and search on a CUDA device", kProgram);
  Arguments arguments;
  define(app, arguments);
  if (const auto done = parse(app, argc, argv)) return *done;
  std::vector<Suite> suites;
  try {
    suites = wanted_suites(arguments);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kUsageError;
  }
  if (arguments.list) {
    for (const Suite& suite : suites) list(suite);
    return 0;
  }
  const Json device = device_json();
  if (device.is_null()) {
    fmt::print(stderr, "{}: no CUDA device here; --list shows what would be measured\n", kProgram);
    return kNoDevice;
  }
  if (!arguments.tune_path.empty()) return write_profile(arguments.tune_path, arguments.settings.quick);
  bool right = true;
  for (const Suite& suite : suites) right = measure(suite, arguments, device) && right;
  return right ? 0 : kFailure;
}

}  // namespace
}  // namespace kith::bench::device

int main(int argc, char** argv) {
  return kith::bench::run_program(kith::bench::device::kProgram, argc, argv, kith::bench::device::main_of);
}
