// kith_bench: measures searches against ceilings and peers in one run. docs/benchmarks.md says how to read it.
// Exit code  0 when every answer was right, 1 when one was not or the run failed, 2 for wrong usage.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/program.hpp"
#include "cpu/environment.hpp"
#include "cpu/harness.hpp"
#include "cpu/json.hpp"
#include "cpu/suites/suites.hpp"
#include "cpu/table.hpp"
#include "kith/io.hpp"

namespace kith::bench {
namespace {

struct Arguments {
  std::vector<std::string> suites = {"search"};
  std::string filter;
  std::string points;   // a file in place of generated colors
  std::string surface;  // a folder
  std::string json_path;
  int threads = 0;  // 0: all cores this process may use
  int rounds = 0;   // 0: kRounds, or kQuickRounds
  bool quick = false;
  bool list = false;
};

constexpr int kRounds = 7;
constexpr int kQuickRounds = 2;

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : all_suites()) names.push_back(suite.name);
  return names;
}

void define(CLI::App& app, Arguments& arguments) {
  app.add_option("suite", arguments.suites, "What to run (default: search)")->check(CLI::IsMember(suite_names()));
  app.add_flag("--list", arguments.list, "Print the rows and leave");
  app.add_option("--filter", arguments.filter, "Only rows whose name or description contains this");
  app.add_option("--points", arguments.points, "Points of this file in place of the colors of suite triangle")
      ->check(CLI::ExistingFile);
  app.add_option("--surface", arguments.surface, "Folder of bunny.npy and bunny_faces.npy for suite space");
  app.add_option("--repeats", arguments.rounds, fmt::format("Rounds (default: {})", kRounds))
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", arguments.threads, "Threads of every contender (default: all cores)")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", arguments.json_path, "Also write the results to this file");
  app.add_flag("--quick", arguments.quick, "Small problems, to test the benchmark itself");
}

// The row on points of a file, as far as it has them.
RowSpec with_file(RowSpec row, const std::string& path) {
  const io::Array points = io::load(path);
  row.data = DataKind::file;
  row.file = path;
  row.base_rows = row.queries = std::min(row.base_rows, points.rows());
  row.dims = points.cols();
  return row;
}

std::vector<RowSpec> select_rows(const Arguments& arguments) {
  std::vector<RowSpec> rows;
  for (const Suite& suite : all_suites()) {
    const auto& wanted = arguments.suites;
    if (std::find(wanted.begin(), wanted.end(), suite.name) == wanted.end()) continue;
    for (const RowSpec& row : suite.rows) {
      const bool matches = row.name.find(arguments.filter) != std::string::npos ||
                           describe(row).find(arguments.filter) != std::string::npos;
      if (!matches) continue;
      rows.push_back(arguments.quick ? shrink(row) : row);
      if (row.data == DataKind::colors && !arguments.points.empty())
        rows.back() = with_file(rows.back(), arguments.points);
      if (row.data == DataKind::space) rows.back().file = arguments.surface;
    }
  }
  return rows;
}

// Whether every answer was right.
bool run(const Arguments& arguments, const std::vector<RowSpec>& rows) {
  const Json environment = inspect_environment();
  const int threads = arguments.threads > 0 ? arguments.threads : environment["machine"]["usable_cores"].get<int>();
  const int rounds = arguments.rounds > 0 ? arguments.rounds : arguments.quick ? kQuickRounds : kRounds;
  fmt::print("{}", format_header(environment, threads, rounds));
  std::vector<RowResult> results;
  for (const RowSpec& row : rows) {
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "{} ...\r", row.name);
    results.push_back(run_row(row, threads, rounds));
    fmt::print("{}", format_row(results.back()));
    std::fflush(stdout);
  }
  fmt::print("{}", format_summary(results));
  if (!arguments.json_path.empty())
    write_json(arguments.json_path, to_json(environment, threads, rounds, arguments.quick, results), 2);
  return std::none_of(results.begin(), results.end(), [](const RowResult& result) { return result.wrong(); });
}

int main_of(int argc, char** argv) {
  CLI::App app("Measures Kith against ceilings of the machine and against peers", "kith_bench");
  Arguments arguments;
  define(app, arguments);
  if (const auto done = parse(app, argc, argv)) return *done;
  const std::vector<RowSpec> rows = select_rows(arguments);
  if (rows.empty()) {
    fmt::print(stderr, "kith_bench: no row contains '{}'; --list shows them\n", arguments.filter);
    return kUsageError;
  }
  if (arguments.list) {
    for (const RowSpec& row : rows) fmt::print("{}", format_spec(row));
    return 0;
  }
  return run(arguments, rows) ? 0 : 1;
}

}  // namespace
}  // namespace kith::bench

int main(int argc, char** argv) {
  return kith::bench::run_program("kith_bench", argc, argv, kith::bench::main_of);
}
