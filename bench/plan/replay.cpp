// kith_plan_replay: what the planner would choose today for the problems of a file of kith_bench_device, suite
// search/grid, and how far that is from the best that was measured. Costs can be fitted so without a device.
// Idea    results have the time of every contender, and plans come from plain values: a choice is as good as the time
//         of the contender of its name.
// Limits  method triangle is chosen by samples of the data, which are not there: where it was taken, or where the
//         choice was not measured, what the planner took then counts. Facts are those of an H200.
// Exit code  0, or 1 where fewer choices than --least are near the best, or the file cannot be read.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "kith/error.hpp"
#include "plan/choose.hpp"

namespace kith::bench {
namespace {

using Json = nlohmann::json;

constexpr double kNear = 1.10;
constexpr double kFar = 1.5;

struct Choice {
  std::string problem;
  std::string kind;  // of points
  std::string name;
  std::string best;
  double ratio = 1;  // of the time of the best
};

std::string name_of(const std::string& method, const std::string& distance) {
  return method == "triangle" ? method : method + " " + distance;
}

// What searches of the index had shown when the plan was made: from what became of its queries.
plan::IndexFacts facts_of(const Json& row) {
  // As device/search/points.cu makes copies, and from where on an index looks for them.
  constexpr std::int64_t kDistinct = 3003;
  constexpr std::int64_t kLookedFor = 4096;
  plan::IndexFacts facts;
  const Json& steps = row["steps"];
  const bool two = steps.size() > 1 && 2 * steps[1]["queries"].get<double>() > steps[0]["queries"].get<double>();
  facts.few_need_second_pass = facts.many_need_second_pass = two || row["data"] == "clustered";
  const auto rows = row["base_rows"].get<std::int64_t>();
  if (row["data"] == "copies" && rows >= kLookedFor) facts.distinct_rows = std::min(kDistinct, (rows + 2) / 3);
  return facts;
}

Choice replay(const Json& row, const core::DeviceFacts& device) {
  const Problem problem{row["base_rows"], row["queries"], row["dims"], row["k"],
                        row["data"] == "bytes" ? DType::uint8 : DType::float32};
  Options options;
  options.metric = parse_metric(row["metric"].get<std::string>());
  const Plan plan = plan::choose(problem, options, device, facts_of(row));
  Choice choice{row["problem"], row["data"], name_of(to_string(plan.method), to_string(plan.distance)), row["best"]};
  const Json& taken = row["plan"];
  double milliseconds = row["median_ms"];
  if (taken["method"] != "triangle")
    for (const Json& other : row["others"])
      if (other["name"] == choice.name && other.contains("median_ms")) milliseconds = other["median_ms"];
  choice.ratio = milliseconds / row["best_ms"].get<double>();
  return choice;
}

std::vector<Choice> replay_file(const std::string& path) {
  std::ifstream in(path);
  const Json file = Json::parse(in);
  core::DeviceFacts device;
  device.free_memory = std::int64_t{139} << 30U;
  std::vector<Choice> choices;
  for (const Json& run : file["runs"]) {
    if (run["suite"] != "search/grid") continue;
    for (const Json& row : run["rows"])
      if (row.contains("best_ms")) choices.push_back(replay(row, device));
  }
  return choices;
}

// Prints how many choices of each kind are near the best, and returns the fraction of all.
double print_tallies(const std::vector<Choice>& choices) {
  struct Tally {
    int all = 0;
    int near = 0;
    int far = 0;
  };
  std::map<std::string, Tally> tallies;
  for (const Choice& choice : choices)
    for (const std::string& kind : {std::string("all"), choice.kind}) {
      Tally& tally = tallies[kind];
      ++tally.all;
      tally.near += choice.ratio <= kNear ? 1 : 0;
      tally.far += choice.ratio > kFar ? 1 : 0;
    }
  for (const auto& [kind, tally] : tallies)
    fmt::print("{:<10} {} of {} within {:.2f} of the best ({:.1f} %), {} beyond {}\n", kind, tally.near, tally.all,
               kNear, 100.0 * tally.near / tally.all, tally.far, kFar);
  return choices.empty() ? 0 : static_cast<double>(tallies["all"].near) / tallies["all"].all;
}

}  // namespace
}  // namespace kith::bench

int main(int argc, char** argv) {
  using namespace kith::bench;
  std::string path;
  std::size_t worst = 10;
  double least = 0;
  CLI::App app("What the planner would choose for measured problems");
  app.add_option("file", path, "Results of kith_bench_device, suite search/grid")->required()->check(CLI::ExistingFile);
  app.add_option("--worst", worst, "Choices to print, those farthest from the best")->capture_default_str();
  app.add_option("--least", least, "Fraction of choices that must be near the best")->check(CLI::Range(0.0, 1.0));
  CLI11_PARSE(app, argc, argv);
  try {
    std::vector<Choice> choices = replay_file(path);
    std::stable_sort(choices.begin(), choices.end(), [](const auto& a, const auto& b) { return a.ratio > b.ratio; });
    for (std::size_t i = 0; i < std::min(worst, choices.size()); ++i)
      fmt::print("{:5.2f} {:<50} {} instead of {}\n", choices[i].ratio, choices[i].problem, choices[i].name,
                 choices[i].best);
    return print_tallies(choices) >= least ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kith_plan_replay: {}\n", error.what());
    return 1;
  }
}
