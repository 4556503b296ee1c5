// kith_bench_words: strings under Levenshtein's distance, searched by brute force and by what spares distances, one
// after the other: bounded distances, pivots, lower bounds by lengths, lower bounds by counts of letters. Evaluations
// are counted; times are those of the processor, the least of some rounds in which all take turns, so that others on
// the machine change them little.
// Exit code  0 when every answer was that of brute force, 1 when one was not or the run failed, 2 for wrong usage.
#include <fmt/format.h>
#include <ctime>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "common/program.hpp"
#include "common/statistics.hpp"
#include "cpu/environment.hpp"
#include "kith/pivots.hpp"
#include "kith/sequence_distances.hpp"
#include "words/strings.hpp"

namespace kith::bench {
namespace {

struct Arguments {
  std::string words;  // a file
  std::string json_path;
  int rounds = 3;
  std::int64_t pivots = 0;
  bool quick = false;
};

// Distances with less and less in them than kith::Levenshtein has.
struct Plain {
  double operator()(const EditText& a, const EditText& b) const { return static_cast<double>(levenshtein(a, b)); }
};

struct Bounded {
  double operator()(const EditText& a, const EditText& b) const { return Levenshtein{}(a, b); }
  double operator()(const EditText& a, const EditText& b, double bound) const { return Levenshtein{}(a, b, bound); }
};

struct WithLengths : Bounded {
  static double lower_bound(const EditText& a, const EditText& b) {
    return static_cast<double>(std::abs(a.size() - b.size()));
  }
};

using Search = std::function<PivotNeighbors(std::span<const EditText>, std::int64_t k)>;

struct Contender {
  std::string name;
  Search search;
  double build_ms = 0;
  std::int64_t build_evaluations = 0;
  std::int64_t pivots = 0;
};

// Of this process, all threads.
double cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

template <class Distance>
Contender make(const std::string& name, const std::vector<EditText>& texts, bool metric, std::int64_t pivots) {
  DistanceProperties properties = Levenshtein::properties();
  properties.triangle_inequality = metric;
  PivotOptions options;
  options.pivots = metric ? pivots : 0;
  options.threads = 1;
  const double start = cpu_ms();
  const auto index =
      std::make_shared<PivotIndex<EditText, Distance>>(std::span(texts), Distance{}, properties, options);
  return {name,
          [index](std::span<const EditText> queries, std::int64_t k) { return index->search(queries, k); },
          cpu_ms() - start,
          index->build_evaluations(),
          std::ssize(index->pivots())};
}

std::vector<Contender> line_up(const std::vector<EditText>& texts, std::int64_t pivots) {
  return {make<Plain>("brute force", texts, false, pivots),
          make<Bounded>("brute force, bounded", texts, false, pivots),
          make<Plain>("pivots", texts, true, pivots),
          make<Bounded>("pivots, bounded", texts, true, pivots),
          make<WithLengths>("pivots, bounded, lengths", texts, true, pivots),
          make<Levenshtein>("pivots, bounded, letters", texts, true, pivots),
          make<Levenshtein>("bounded, letters", texts, false, pivots)};
}

std::vector<EditText> texts_of(const std::vector<std::string>& strings) {
  std::vector<EditText> texts;
  for (const std::string& each : strings) texts.push_back(EditText::of_utf8(each));
  return texts;
}

struct Row {
  std::int64_t k;
  std::vector<Times> times;  // of each contender
  std::vector<PivotReport> reports;
  std::vector<bool> right;
};

Row run_row(const std::vector<Contender>& contenders, std::span<const EditText> queries, std::int64_t k, int rounds) {
  Row row{k, std::vector<Times>(contenders.size()), {}, {}};
  PivotNeighbors truth;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const double start = cpu_ms();
      PivotNeighbors found = contenders[i].search(queries, k);
      row.times[i].samples_ms.push_back(cpu_ms() - start);
      if (round > 0) continue;
      row.reports.push_back(found.report);
      if (i == 0) truth = std::move(found);
      row.right.push_back(i == 0 || (found.ids == truth.ids && found.distances == truth.distances));
    }
  return row;
}

void print(const std::vector<Contender>& contenders, const Row& row) {
  fmt::print("k = {}\n", row.k);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const PivotReport& report = row.reports[i];
    fmt::print("  {:<26} {:>10.1f} a query  saved {:>8.4f} %  {:>9.1f} ms  {:>6.3f} × brute force{}\n",
               contenders[i].name, static_cast<double>(report.evaluations) / static_cast<double>(report.queries),
               100 * report.saved(), row.times[i].min_ms(), row.times[i].min_ms() / row.times[0].min_ms(),
               row.right[i] ? "" : "  WRONG");
  }
}

Json to_json(const Strings& set, const std::vector<Contender>& contenders, const std::vector<Row>& rows) {
  Json json = {{"name", set.name},
               {"about", set.about},
               {"objects", set.objects.size()},
               {"queries", set.queries.size()},
               {"rows", Json::array()}};
  for (const Row& row : rows) {
    Json list = Json::array();
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const PivotReport& report = row.reports[i];
      Json each = {{"name", contenders[i].name},
                   {"right", static_cast<bool>(row.right[i])},
                   {"pivots", contenders[i].pivots},
                   {"build_evaluations", contenders[i].build_evaluations},
                   {"build_cpu_ms", contenders[i].build_ms},
                   {"evaluations", report.evaluations},
                   {"pivot_evaluations", report.pivot_evaluations},
                   {"lower_bounds", report.lower_bounds},
                   {"saved", report.saved()},
                   {"cpu_ratio_to_brute_force", row.times[i].min_ms() / row.times[0].min_ms()}};
      Json cpu = Json::object();
      put_times(cpu, row.times[i]);
      each["cpu"] = std::move(cpu);
      list.push_back(std::move(each));
    }
    json["rows"].push_back({{"k", row.k}, {"contenders", std::move(list)}});
  }
  return json;
}

bool run(const Arguments& arguments) {
  Json json = {{"schema", "kith-bench-words"}, {"schema_version", 1}};
  json.update(inspect_environment());
  json.update({{"threads", 1}, {"rounds", arguments.rounds}, {"quick", arguments.quick}, {"sets", Json::array()}});
  const std::int64_t scale = arguments.quick ? 50 : 1;
  bool right = true;
  for (const Strings& set : {words(arguments.words, 100000 / scale, 1000 / scale), reads(10000 / scale, 50 / scale)}) {
    const std::vector<EditText> texts = texts_of(set.objects);
    const std::vector<EditText> queries = texts_of(set.queries);
    const std::vector<Contender> contenders = line_up(texts, arguments.pivots);
    fmt::print("{}: {}; {} of them, {} queries, {} pivots\n", set.name, set.about, texts.size(), queries.size(),
               contenders[2].pivots);
    std::vector<Row> rows;
    for (const std::int64_t k : {1, 5, 10}) {
      rows.push_back(run_row(contenders, queries, k, arguments.rounds));
      print(contenders, rows.back());
      std::fflush(stdout);
      right = right && std::find(rows.back().right.begin(), rows.back().right.end(), false) == rows.back().right.end();
    }
    json["sets"].push_back(to_json(set, contenders, rows));
    json["correct"] = right;
    if (!arguments.json_path.empty()) write_json(arguments.json_path, json, 2);
  }
  fmt::print("{}\n", right ? "every answer is that of brute force, id for id" : "an answer is WRONG");
  return right;
}

int main_of(int argc, char** argv) {
  CLI::App app("Measures what pivots and lower bounds save of edit distances", "kith_bench_words");
  Arguments arguments;
  app.add_option("--words", arguments.words, "Words, a line each (default: made-up ones)")->check(CLI::ExistingFile);
  app.add_option("--pivots", arguments.pivots, "Pivots (default: 32)")->check(CLI::PositiveNumber);
  app.add_option("--repeats", arguments.rounds, "Rounds (default: 3)")->check(CLI::PositiveNumber);
  app.add_option("--json", arguments.json_path, "Also write the results to this file");
  app.add_flag("--quick", arguments.quick, "Few strings, to test the benchmark itself");
  if (const auto done = parse(app, argc, argv)) return *done;
  return run(arguments) ? 0 : kFailure;
}

}  // namespace
}  // namespace kith::bench

int main(int argc, char** argv) {
  return kith::bench::run_program("kith_bench_words", argc, argv, kith::bench::main_of);
}
