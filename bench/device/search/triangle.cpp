// triangle.cpp: Chen et al. (Sweet KNN): their nine sets as shapes (Table III), filled with clusters, and uniform
// points beside them, which have nothing to rule out. Queries are the base, as theirs are. What is timed is everything,
// clusters included.
#include <fmt/format.h>

#include <cmath>

#include "device/search/problem.hpp"

namespace kith::bench::device::search {
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

Variant triangle(const std::string& name, TriangleForm form, TriangleTuning tuning = {}) {
  Variant variant = forced(name, Method::triangle);
  tuning.form = form;
  variant.options.triangle = tuning;
  return variant;
}

Variant interval_scan() {
  return triangle("interval-scan", TriangleForm::interval_scan);
}

Variant sweet_knn(const std::string& name = "sweet-knn", const TriangleTuning& tuning = {}) {
  return triangle(name, TriangleForm::sweet_knn, tuning);
}

class TriangleSuite {
 public:
  explicit TriangleSuite(const Settings& settings) : settings_(settings) {}

  Suite make() {
    suite_.limits = {.rounds = 5, .budget_ms = 300, .slow_ms = 1000, .skip_ms = 3000, .samples = 16};
    add_sets();
    add_forms();
    add_sweeps();
    return std::move(suite_);
  }

 private:
  void add(const char* figure, const Problem& problem, const std::vector<Variant>& variants, bool compare = false) {
    suite_.cases.push_back(
        search_case(figure, problem, variants, {.fresh_index = true, .compare_choice = compare}, settings_));
  }

  void add_sets() {
    const std::vector<Variant> all = {
        {}, interval_scan(), sweet_knn(), forced("fused", Method::fused), forced("two-stage", Method::two_stage)};
    for (const Set& set : kSets) add("Table IV", problem_of(set, 20), all, true);
    if (settings_.points.empty()) return;
    Problem problem{0, 0, 0, 20};  // the file says how many
    problem.data = Data::file;
    problem.queries_are_base = true;
    problem.name = problem.file = settings_.points;
    add("Table IV", problem, all, true);
  }

  // Threads whose queries are of one cluster, or not; the bound tightened as neighbors are found, or not.
  void add_forms() {
    TriangleTuning scattered;
    scattered.remapped = false;
    TriangleTuning full;
    full.filter = TriangleFilter::full;
    TriangleTuning partial;
    partial.filter = TriangleFilter::partial;
    for (const int i : {0, 1, 4, 8})
      add("Table IV, forms", problem_of(kSets[i], 20), {sweet_knn(), sweet_knn("not remapped", scattered)});
    for (const int i : {1, 2, 4})
      add("Table V", problem_of(kSets[i], 512),
          {sweet_knn("full", full), sweet_knn("partial", partial), interval_scan(), {}});
  }

  void add_sweeps() {
    for (const int i : {0, 1, 3, 4, 8})
      for (const std::int64_t k : {1, 8, 20, 64, 512})
        add("Figure 10", problem_of(kSets[i], k), {{}, interval_scan(), forced("fused", Method::fused)});
    for (const int i : {0, 1, 2, 3, 4, 8}) {
      std::vector<Variant> variants;
      for (const double factor : {0.5, 1.0, 2.0, 3.0, 6.0, 12.0}) {
        TriangleTuning tuning;
        tuning.base_landmarks = tuning.query_landmarks =
            static_cast<std::int64_t>(factor * std::sqrt(static_cast<double>(kSets[i].points)));
        variants.push_back(triangle(fmt::format("{:g} √n", factor), TriangleForm::automatic, tuning));
      }
      add("Figure 11", problem_of(kSets[i], 20), variants);
    }
    for (const int threads : {1, 4, 16, 64, 256, 1024})
      for (const int i : {5, 7}) {
        if (i == 7 && threads < 16) continue;  // tens of seconds
        TriangleTuning tuning;
        tuning.threads_per_query = threads;
        std::vector<Variant> variants = {sweet_knn("sweet-knn", tuning)};
        if (threads >= 32 && threads <= 256)
          variants.push_back(triangle("interval-scan", TriangleForm::automatic, tuning));
        Problem problem = problem_of(kSets[i], 20);
        problem.name += fmt::format(", {} threads a query,", threads);
        add("Figure 12", problem, variants);
      }
  }

  const Settings& settings_;
  Suite suite_{"search/triangle", "method triangle, as Chen et al. measure theirs", "", {}, search_ceilings, {}};
};

}  // namespace

Suite triangle_suite(const Settings& settings) {
  return TriangleSuite(settings).make();
}

}  // namespace kith::bench::device::search
