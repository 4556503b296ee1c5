// Chen et al. (Sweet KNN): their nine sets as shapes (Table III), filled with clusters, and uniform points beside them,
// which have nothing to rule out. Queries are the base, as theirs are. What is timed is everything, clusters included.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "search_device/suite.hpp"

namespace kith::search_bench {
namespace {

struct Set {
  const char* name;
  std::int64_t points;
  std::int64_t dims;
  Data data = Data::table;
};

constexpr Set kSets[] = {{"3DNet", 434874, 4},
                         {"kegg", 65554, 29},
                         {"keggD", 53414, 24},
                         {"ipums", 256932, 61},
                         {"skin", 245057, 4},
                         {"arcene", 100, 10000},
                         {"kdd", 4000000, 42},
                         {"dor", 1950, 100000},
                         {"blog", 60021, 281},
                         {"uniform", 100000, 3, Data::uniform},
                         {"uniform", 100000, 16, Data::uniform},
                         {"uniform", 100000, 64, Data::uniform},
                         {"gaussian", 1000000, 32, Data::gaussian}};

// Of the largest set a tenth are queries; all points of the others.
constexpr std::int64_t kMostQueries = 500000;
constexpr std::int64_t kTenth = 10;

Problem problem_of(const Set& set, std::int64_t k) {
  Problem problem{set.points > kMostQueries ? set.points / kTenth : set.points, set.points, set.dims, k};
  if (set.data == Data::gaussian) problem.queries = 10000;
  problem.data = set.data;
  problem.name = set.name;
  problem.queries_are_base = true;
  return problem;
}

TriangleTuning with_form(TriangleForm form) {
  TriangleTuning tuning;
  tuning.form = form;
  return tuning;
}

TriangleTuning with_landmarks(std::int64_t count) {
  TriangleTuning tuning;
  tuning.base_landmarks = tuning.query_landmarks = count;
  return tuning;
}

Contender windows(const std::string& name = "interval-scan",
                  const TriangleTuning& tuning = with_form(TriangleForm::interval_scan)) {
  return {name, Method::triangle, {}, {}, tuning};
}

Contender paper(const std::string& name = "paper", TriangleTuning tuning = {}) {
  tuning.form = TriangleForm::sweet_knn;
  return {name, Method::triangle, {}, {}, tuning};
}

const Contender kTwoStage{"two-stage", Method::two_stage};

void add_sets(Suite& suite, const std::string& file) {
  const std::vector<Contender> all = {kAuto, windows(), paper(), kFused, kTwoStage};
  for (const Set& set : kSets) suite.cases.push_back({problem_of(set, 20), all, "Table IV"});
  if (file.empty()) return;
  Problem problem{0, 0, 0, 20};  // the file says how many
  problem.data = Data::file;
  problem.queries_are_base = true;
  problem.name = problem.file = file;
  suite.cases.push_back({problem, all, "Table IV"});
}

// Threads whose queries are of one cluster, or not; the bound tightened as neighbors are found, or not.
void add_forms(Suite& suite) {
  TriangleTuning scattered;
  scattered.remapped = false;
  TriangleTuning full;
  full.filter = TriangleFilter::full;
  TriangleTuning partial;
  partial.filter = TriangleFilter::partial;
  for (const int i : {0, 1, 4, 8})
    suite.cases.push_back({problem_of(kSets[i], 20), {paper(), paper("not remapped", scattered)}, "Table IV, forms"});
  for (const int i : {1, 2, 4})
    suite.cases.push_back(
        {problem_of(kSets[i], 512), {paper("full", full), paper("partial", partial), windows(), kAuto}, "Table V"});
}

void add_sweeps(Suite& suite) {
  for (const int i : {0, 1, 3, 4, 8})
    for (const std::int64_t k : {1, 8, 20, 64, 512})
      suite.cases.push_back({problem_of(kSets[i], k), {kAuto, windows(), kFused}, "10"});
  for (const int i : {0, 1, 2, 3, 4, 8}) {
    std::vector<Contender> contenders;
    for (const double factor : {0.5, 1.0, 2.0, 3.0, 6.0, 12.0}) {
      const double count = factor * std::sqrt(static_cast<double>(kSets[i].points));
      contenders.push_back(windows(fmt::format("{:g} √n", factor), with_landmarks(static_cast<std::int64_t>(count))));
    }
    suite.cases.push_back({problem_of(kSets[i], 20), contenders, "11"});
  }
  for (const int threads : {1, 4, 16, 64, 256, 1024})
    for (const int i : {5, 7}) {
      if (i == 7 && threads < 16) continue;  // tens of seconds
      TriangleTuning tuning;
      tuning.threads_per_query = threads;
      std::vector<Contender> contenders = {paper("paper", tuning)};
      if (threads >= 32 && threads <= 256) contenders.push_back(windows("interval-scan", tuning));
      Problem problem = problem_of(kSets[i], 20);
      problem.name += fmt::format(", {} threads a query,", threads);
      suite.cases.push_back({problem, contenders, "12"});
    }
}

}  // namespace

Suite triangle_suite(const std::string& file) {
  Suite suite{"triangle", "method triangle, as Chen et al. measure theirs", {}, false, {}, {}};
  suite.limits = {.rounds = 5, .budget_ms = 300, .slow_ms = 1000, .skip_ms = 3000, .check_rows = 16, .fresh = true};
  add_sets(suite, file);
  add_forms(suite);
  add_sweeps(suite);
  return suite;
}

}  // namespace kith::search_bench
