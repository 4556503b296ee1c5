// kith_bench_lowdim: approximate search of points in space on a CUDA device.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "commit.hpp"
#include "device/run_file.hpp"
#include "lowdim/tables.hpp"
#include "program.hpp"

namespace kith::lowdim_bench {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::vector<std::string> tables = {"must"};
  std::string surface = "../shared/data";
  std::string json_path;
  std::string driver;
  std::string commit = bench::kCommit;
  bool quick = false;
  bool list = false;
  Rounds rounds;
};

void define(CLI::App& app, Arguments& arguments) {
  app.add_option("--table", arguments.tables, "What to measure")->check(CLI::IsMember(table_names()));
  app.add_option("--surface", arguments.surface, "Folder of bunny.npy and bunny_faces.npy; else a surface is made up");
  app.add_option("--json", arguments.json_path, "Add the run to this file");
  app.add_option("--driver", arguments.driver, "Version of the driver, to be recorded");
  app.add_option("--commit", arguments.commit, "Commit, to be recorded");
  app.add_option("--rounds", arguments.rounds.timed, "Rounds that are timed")->check(CLI::Range(1, 1000));
  app.add_option("--sample", arguments.rounds.sample, "Queries whose true neighbors are searched")
      ->check(CLI::Range(1, 100000000));
  app.add_flag("--quick", arguments.quick, "A tenth of all points and queries");
  app.add_flag("--list", arguments.list, "Print what would be measured");
}

std::string describe(const Case& one) {
  const ShiftedSortTuning usual;
  std::string text =
      fmt::format("{:<9} {:<19} {:>9} into {:>9}, k = {:<4}", one.table, one.set, one.queries, one.base, one.k);
  if (one.tuning.shifts != usual.shifts) text += fmt::format(" {} shifts", one.tuning.shifts);
  if (one.tuning.window != usual.window) text += fmt::format(" window {}", one.tuning.window);
  if (one.tuning.curve != usual.curve) text += fmt::format(" {}", to_string(one.tuning.curve));
  if (one.tuning.merge != usual.merge) text += fmt::format(" merge {}", to_string(one.tuning.merge));
  if (one.tuning.positions != usual.positions) text += " sorted together";
  if (one.tuning.guaranteed) text += " guaranteed";
  return text;
}

void print(const Result& result) {
  fmt::print(
      "{:<80} {:8.0f} queries/ms  orders {:7.3f} ms  search {:8.3f} ms  recall {:.4f}  ε mean {:.4f} p99 {:.3f} "
      "p99.9 {:.3f} max {:.3f}  ≥ 1.5 {:.3f} %{}\n",
      describe(result.of), result.queries_a_ms(), result.orders_ms, result.search_ms, result.recall, result.ratios.mean,
      result.ratios.p99, result.ratios.p999, result.ratios.max, 100 * result.ratios.share_from(1.5),
      result.fault.empty() ? "" : "  WRONG: " + result.fault);
  if (result.of.table == "figure-7") fmt::print("{}", histogram_text(result.ratios));
  std::fflush(stdout);
}

Json to_json(const Result& result) {
  Json histogram = Json::array();
  for (const DistanceRatios::Bin& bin : result.ratios.histogram) histogram.push_back({bin.from, bin.queries});
  return {{"table", result.of.table},
          {"set", result.of.set},
          {"base_rows", result.of.base},
          {"queries", result.of.queries},
          {"k", result.of.k},
          {"shifts", result.of.tuning.shifts},
          {"window", result.of.tuning.window},
          {"curve", to_string(result.of.tuning.curve)},
          {"guaranteed", result.of.tuning.guaranteed},
          {"merge", to_string(result.tuning.merge)},
          {"positions", to_string(result.tuning.positions)},
          {"orders_ms", result.orders_ms},
          {"search_ms", result.search_ms},
          {"queries_a_ms", result.queries_a_ms()},
          {"sample", result.sample},
          {"recall", result.recall},
          {"ratio",
           {{"mean", result.ratios.mean},
            {"p99", result.ratios.p99},
            {"p999", result.ratios.p999},
            {"max", result.ratios.max},
            {"from_1.5", result.ratios.share_from(1.5)},
            {"unbounded", result.ratios.unbounded},
            {"histogram", histogram}}},
          {"fault", result.fault}};
}

// Points of a set are made once for all cases of the same sizes that follow each other.
int measure_all(const Arguments& arguments, const std::vector<Case>& cases, const select_bench::DeviceFacts& device) {
  fmt::print("{}, {}\n", device.name, device_bench::now());
  const Triangles surface = load_surface(arguments.surface);
  Json results = Json::array();
  Pair pair;
  std::optional<Case> made;
  bool wrong = false;
  for (const Case& one : cases) {
    if (!made || made->set != one.set || made->base != one.base || made->queries != one.queries)
      pair = make_pair(one.set, one.base, one.queries, surface);
    made = one;
    const Result result = measure(one, pair.base, pair.queries, arguments.rounds);
    print(result);
    results.push_back(to_json(result));
    wrong = wrong || !result.fault.empty();
  }
  if (!arguments.json_path.empty())
    device_bench::append_run(arguments.json_path, "kith-bench-lowdim",
                             {{"date", device_bench::now()},
                              {"commit", arguments.commit},
                              {"device", device_bench::device_json(device, arguments.driver)},
                              {"quick", arguments.quick},
                              {"results", results}});
  return wrong ? bench::kFailure : 0;
}

int main_of(int argc, char** argv) {
  CLI::App app("Measures approximate search of points in space on a CUDA device", "kith_bench_lowdim");
  Arguments arguments;
  define(app, arguments);
  if (const auto done = bench::parse(app, argc, argv)) return *done;
  std::vector<Case> cases;
  for (const std::string& table : arguments.tables)
    for (const Case& one : cases_of(table, arguments.quick)) cases.push_back(one);
  if (arguments.list) {
    for (const Case& one : cases) fmt::print("{}\n", describe(one));
    return 0;
  }
  const auto device = select_bench::device_facts();
  if (!device) {
    fmt::print(stderr, "kith_bench_lowdim: no CUDA device here; --list shows what would be measured\n");
    return bench::kNoDevice;
  }
  return measure_all(arguments, cases, *device);
}

}  // namespace
}  // namespace kith::lowdim_bench

int main(int argc, char** argv) {
  return kith::bench::run_program("kith_bench_lowdim", argc, argv, kith::lowdim_bench::main_of);
}
