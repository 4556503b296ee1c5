// kith_plan_replay: what the planner would choose today for the problems of a file of kith_bench_device, suite
// search/grid, at first and once an index has timed what it tried, and how far that is from the best that was measured.
// Costs can be fitted so without a device.
// Idea    results have the time of every contender, and plans come from plain values: a choice is as good as the time
//         of the contender of its name. Searches are repeated as an index would have them, each taking its measured
//         time, until the plan stays.
// Limits  samples of the data are not there: method triangle is taken to leave the fraction of the distances that
//         explains its time. A contender that was left out takes what was predicted then. Facts are those of an H200;
//         with --derived its costs are those that follow from its datasheet, as for devices that nobody measured.
// Exit code  0, or 1 where fewer settled choices than --least, or fewer first ones than --least-first, are near the
//         best, or fewer predictions than --least-predicted near the measured time, or the file cannot be read.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "core/derived_profile.hpp"
#include "kith/error.hpp"
#include "plan/choose.hpp"
#include "plan/device_costs.hpp"
#include "plan/products.hpp"

namespace kith::bench {
namespace {

using Json = nlohmann::json;

constexpr double kNear = 1.10;
constexpr double kFar = 1.5;

struct Choice {
  std::string problem;
  std::string kind;  // of points
  std::string first;
  std::string settled;
  std::string best;
  double first_ratio = 1;    // of the time of the best
  double settled_ratio = 1;  // the same
  int searches = 0;          // until it settled
  double lost = 0;           // by them, in searches by the best
};

// What a plan says that its search takes, beside what it took.
struct Prediction {
  std::size_t number;  // of the problem in the file
  std::string problem;
  std::string kind;  // of points
  std::string contender;
  bool chosen;  // the planner's first choice, else a contender by name
  double predicted;
  double measured;

  double ratio() const { return std::max(predicted / measured, measured / predicted); }  // of the larger
};

std::string name_of(const std::string& method, const std::string& distance) {
  return method == "triangle" ? method : method + " " + distance;
}

// What searches of points have shown of fp16: whether most of few queries, or of many, took a second pass.
struct SecondPasses {
  std::optional<bool> few;
  std::optional<bool> many;
  bool many_took_split = false;  // many queries began with split fp16, and took longer by fp16

  // Whether none of many queries had a proof by fp16.
  bool fp16_fails() const { return many_took_split && many.value_or(true); }
};

// By the points that problems share: rows, dimensions, kind and metric.
using Shown = std::map<std::tuple<std::int64_t, std::int64_t, std::string, std::string>, SecondPasses>;

Shown::key_type points_of(const Json& row) {
  return {row["base_rows"], row["dims"], row["data"], row["metric"]};
}

bool takes_longer(const Json& row, const char* contender) {
  return std::any_of(row["others"].begin(), row["others"].end(), [&](const Json& other) {
    return other["name"] == contender && other.contains("median_ms") && other["median_ms"] > row["median_ms"];
  });
}

void note_second_pass(Shown& shown, const Json& row) {
  const Json& steps = row["steps"];
  if (steps.empty()) return;
  if (steps[0]["distance"] == "fused split-fp16" && row["queries"] >= plan::kJudgedQueries &&
      takes_longer(row, "fused fp16"))
    shown[points_of(row)].many_took_split = true;
  if (!(steps[0]["distance"] == "fp16" || steps[0]["distance"] == "fused fp16")) return;
  const bool two = steps.size() > 1 && 2 * steps[1]["queries"].get<double>() > steps[0]["queries"].get<double>();
  SecondPasses& passes = shown[points_of(row)];
  std::optional<bool>& known = row["queries"].get<std::int64_t>() < plan::kJudgedQueries ? passes.few : passes.many;
  known = known.value_or(false) || two;
}

// What an index of the points knows once it has served the other problems of the file. Where no search by fp16 says
// what few queries take, or many, the others' searches do; where none says anything, nothing is known.
plan::IndexFacts facts_of(const Json& row, const Shown& shown) {
  // As device/search/points.cu makes copies, and from where on an index looks for them.
  constexpr std::int64_t kDistinct = 3003;
  constexpr std::int64_t kLookedFor = 4096;
  plan::IndexFacts facts;
  if (const auto found = shown.find(points_of(row)); found != shown.end()) {
    const SecondPasses& passes = found->second;
    facts.fp16_fails = passes.fp16_fails();
    facts.many_need_second_pass = facts.fp16_fails || (passes.many ? *passes.many : passes.few.value_or(false));
    facts.few_need_second_pass = passes.few ? *passes.few : facts.many_need_second_pass;
  }
  const auto rows = row["base_rows"].get<std::int64_t>();
  if (row["data"] == "copies" && rows >= kLookedFor) facts.distinct_rows = std::min(kDistinct, (rows + 2) / 3);
  return facts;
}

// A problem of the file, searched again and again.
class Replay {
 public:
  Replay(const Json& row, const core::DeviceFacts& device, const Shown& shown)
      : row_(row),
        device_(device),
        problem_{row["base_rows"], row["queries"], row["dims"], row["k"],
                 row["data"] == "bytes" ? DType::uint8 : DType::float32},
        facts_(facts_of(row, shown)) {
    options_.metric = parse_metric(row["metric"].get<std::string>());
    for (const Json& other : row["left_out"]) seconds_[other["name"]] = other["predicted_ms"].get<double>() * 1e-3;
    for (const Json& other : row["others"])
      if (other.contains("median_ms")) {
        seconds_[other["name"]] = other["median_ms"].get<double>() * 1e-3;
        timed_.push_back(other["name"]);
      }
    // The planner's choice took part too, and may know of copies what others did not.
    const Json& taken = row["plan"];
    const std::string name = name_of(taken["method"], taken["distance"]);
    const double seconds = row["median_ms"].get<double>() * 1e-3;
    seconds_[name] = seconds_.contains(name) ? std::min(seconds_[name], seconds) : seconds;
    samples_.surviving_fractions = [this](const Plan& plan) {
      return plan::SurvivingFractions{surviving_fraction(plan), 1};
    };
    samples_.first_pass_suffices = [this](const Plan&) { return !facts_.many_need_second_pass; };
  }

  // Of the first choice and of every contender by brute force that was timed; what triangle takes only data can tell.
  void predict(std::size_t number, std::vector<Prediction>& predictions) const {
    const auto add = [&](const Options& options, const std::string& wanted) {
      const Plan plan = plan::choose(problem_, options, device_, facts_);
      const std::string name = name_of(to_string(plan.method), to_string(plan.distance));
      if (!wanted.empty() && name != wanted) return;
      if (std::find(timed_.begin(), timed_.end(), name) == timed_.end()) return;
      predictions.push_back(
          {number, row_["problem"], row_["data"], name, wanted.empty(), plan.seconds, seconds_.at(name)});
    };
    add(options_, "");
    for (const std::string& name : timed_) {
      const std::size_t blank = name.find(' ');
      if (blank == std::string::npos) continue;
      Options options = options_;
      options.method = parse_method(name.substr(0, blank));
      options.distance = parse_distance_stage(name.substr(blank + 1));
      add(options, name);
    }
  }

  Choice run() {
    constexpr int kStays = 3;  // searches, as device/search/search.cpp has it
    constexpr int kMost = 30;
    Choice choice{row_["problem"], row_["data"], {}, {}, row_["best"]};
    const double best = row_["best_ms"].get<double>() * 1e-3;
    std::map<std::string, int> taken;
    for (int stays = 0; stays < kStays && choice.searches < kMost; ++choice.searches) {
      const Plan plan = plan::choose(problem_, options_, device_, facts_, samples_);
      const std::string name = name_of(to_string(plan.method), to_string(plan.distance));
      if (!seconds_.contains(name)) throw Error(ErrorCode::bad_data, choice.problem + " has no time of " + name);
      stays = name == choice.settled ? stays + 1 : 1;
      choice.settled = name;
      choice.settled_ratio = seconds_[name] / best;
      choice.lost += choice.settled_ratio - 1;
      if (choice.searches == 0) choice.first = name;
      if (choice.searches == 0) choice.first_ratio = choice.settled_ratio;
      // From the second on a time counts (cuda/search_times.cpp).
      if (++taken[name] == 2) facts_.timed.push_back({plan.method, plan.distance, seconds_[name]});
    }
    return choice;
  }

 private:
  double surviving_fraction(const Plan& plan) {
    const auto seconds = seconds_.find("triangle");
    if (seconds == seconds_.end()) return 1;
    double low = 0;
    double high = 1;
    for (int halvings = 0; halvings < 40; ++halvings) {
      const double middle = (low + high) / 2;
      const double predicted =
          plan::triangle_seconds(device_.profile, problem_, options_.metric, plan.triangle, middle, true);
      (predicted < seconds->second ? low : high) = middle;
    }
    return high;
  }

  const Json& row_;
  const core::DeviceFacts& device_;
  Problem problem_;
  Options options_;
  plan::IndexFacts facts_;
  plan::DataSamples samples_;
  std::map<std::string, double> seconds_;  // by contender
  std::vector<std::string> timed_;         // those whose time is no prediction
};

struct Outcome {
  std::vector<Choice> choices;
  std::vector<Prediction> predictions;
};

Outcome replay_file(const std::string& path, bool derived) {
  std::ifstream in(path);
  const Json file = Json::parse(in);
  core::DeviceFacts device;
  device.free_memory = std::int64_t{139} << 30U;
  device.policy.tree_max_dims = 0;  // nobody has timed trees
  if (derived) device.profile = core::derive_profile(core::figures_of(*core::find_datasheet("h200")));
  std::vector<const Json*> rows;
  for (const Json& run : file["runs"])
    for (const Json& row : run["rows"])
      if (run["suite"] == "search/grid" && row.contains("best_ms")) rows.push_back(&row);
  Shown shown;
  for (const Json* row : rows) note_second_pass(shown, *row);
  Outcome outcome;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Replay replay(*rows[i], device, shown);
    replay.predict(i, outcome.predictions);
    outcome.choices.push_back(replay.run());
  }
  return outcome;
}

// Fractions of all choices that are near the best.
struct Near {
  double first = 0;
  double settled = 0;
};

// Prints how many choices of each kind are near the best.
Near print_tallies(const std::vector<Choice>& choices) {
  struct Tally {
    int all = 0;
    int first_near = 0;
    int near = 0;
    int far = 0;
    int searches = 0;
    double lost = 0;
  };
  std::map<std::string, Tally> tallies;
  for (const Choice& choice : choices)
    for (const std::string& kind : {std::string("all"), choice.kind}) {
      Tally& tally = tallies[kind];
      ++tally.all;
      tally.first_near += choice.first_ratio <= kNear ? 1 : 0;
      tally.near += choice.settled_ratio <= kNear ? 1 : 0;
      tally.far += choice.settled_ratio > kFar ? 1 : 0;
      tally.searches += choice.searches;
      tally.lost += choice.lost;
    }
  for (const auto& [kind, tally] : tallies)
    fmt::print(
        "{:<10} {} of {} within {:.2f} of the best ({:.1f} %), {} beyond {}, after {:.1f} searches that took as long "
        "as "
        "{:.1f} more by the best; first choices {:.1f} %\n",
        kind, tally.near, tally.all, kNear, 100.0 * tally.near / tally.all, tally.far, kFar,
        static_cast<double>(tally.searches) / tally.all, tally.lost / tally.all, 100.0 * tally.first_near / tally.all);
  if (choices.empty()) return {};
  const Tally& all = tallies["all"];
  return {static_cast<double>(all.first_near) / all.all, static_cast<double>(all.near) / all.all};
}

// Prints how many predictions are near what was measured, by kind of points and by halves of the problems, one of which
// can be held out when costs are fitted, and returns the fraction of all first choices.
double print_predictions(const std::vector<Prediction>& predictions) {
  struct Tally {
    int all = 0;
    int near = 0;
    double percent() const { return all == 0 ? 0 : 100.0 * near / all; }
  };
  std::map<std::string, std::pair<Tally, Tally>> tallies;
  for (const Prediction& prediction : predictions)
    for (const std::string& kind :
         {std::string("all"), std::string(prediction.number % 2 == 0 ? "even" : "odd"), prediction.kind}) {
      Tally& tally = prediction.chosen ? tallies[kind].first : tallies[kind].second;
      ++tally.all;
      tally.near += prediction.ratio() <= kFar ? 1 : 0;
    }
  for (const auto& [kind, tally] : tallies)
    fmt::print(
        "{:<10} predicted within a factor {} of the measured time: {:.1f} % of {} choices, {:.1f} % of {} contenders\n",
        kind, kFar, tally.first.percent(), tally.first.all, tally.second.percent(), tally.second.all);
  return tallies["all"].first.percent() / 100;
}

void write_predictions(const std::string& path, const std::vector<Prediction>& predictions) {
  std::ofstream out(path);
  out << "number;problem;contender;first choice;predicted ms;measured ms\n";
  for (const Prediction& one : predictions)
    out << fmt::format("{};{};{};{};{:.6f};{:.6f}\n", one.number, one.problem, one.contender, one.chosen ? 1 : 0,
                       one.predicted * 1e3, one.measured * 1e3);
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
  app.add_option("--worst", worst, "Choices to print, those farthest from the best once they settled")
      ->capture_default_str();
  app.add_option("--least", least, "Fraction of choices that must be near the best")->check(CLI::Range(0.0, 1.0));
  double least_first = 0;
  app.add_option("--least-first", least_first, "Fraction of first choices that must be near the best")
      ->check(CLI::Range(0.0, 1.0));
  bool derived = false;
  double least_predicted = 0;
  app.add_flag("--derived", derived, "Costs as they follow from the datasheet, in place of those that were measured");
  app.add_option("--least-predicted", least_predicted, "Fraction of first choices whose prediction must be near")
      ->check(CLI::Range(0.0, 1.0));
  std::string predictions;
  app.add_option("--predictions", predictions, "File for all predictions beside times, to look at and to fit costs to");
  CLI11_PARSE(app, argc, argv);
  try {
    Outcome outcome = replay_file(path, derived);
    std::vector<Choice>& choices = outcome.choices;
    std::stable_sort(choices.begin(), choices.end(),
                     [](const auto& a, const auto& b) { return a.settled_ratio > b.settled_ratio; });
    for (std::size_t i = 0; i < std::min(worst, choices.size()); ++i)
      fmt::print("{:5.2f} {:<50} {} ({:.2f} {} at first) instead of {}\n", choices[i].settled_ratio, choices[i].problem,
                 choices[i].settled, choices[i].first_ratio, choices[i].first, choices[i].best);
    if (!predictions.empty()) write_predictions(predictions, outcome.predictions);
    const Near near = print_tallies(choices);
    const bool chosen_well = near.settled >= least && near.first >= least_first;
    return print_predictions(outcome.predictions) >= least_predicted && chosen_well ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kith_plan_replay: {}\n", error.what());
    return 1;
  }
}
