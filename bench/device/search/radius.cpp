// radius.cpp: radius search of points of the host: all neighbors, and their number alone.
//
// Points are nearly Gaussian, metric sqeuclidean; the radius is the one that half of a few queries have `wanted` points
// within. Times are by the host's clock, from the queries to the answer in the host's memory, on an index that has its
// base on the device. The answers of some queries are compared with a plain scan, and the counts with the answers.
#include <fmt/format.h>

#include <algorithm>

#include "common/check.hpp"
#include "common/parallel.hpp"
#include "device/search/host_points.hpp"
#include "device/search/problem.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

struct RadiusProblem {
  std::int64_t queries = 0;
  std::int64_t base_rows = 0;
  std::int64_t dims = 0;
  std::int64_t wanted = 0;  // neighbors of a query, about
};

constexpr RadiusProblem kRadiusProblems[] = {
    {10000, 1000000, 3, 50},     {10000, 1000000, 16, 100}, {10000, 1000000, 128, 100},
    {10000, 1000000, 128, 2000}, {100, 1000000, 128, 100},  {1, 1000000, 128, 100},
};

std::string problem_text(const RadiusProblem& problem) {
  return fmt::format("{} × {} × {}, {} neighbors wanted", problem.queries, problem.base_rows, problem.dims,
                     problem.wanted);
}

class RadiusRun {
 public:
  RadiusRun(const RadiusProblem& problem, std::int64_t samples)
      : problem_(problem),
        samples_(samples),
        points_((problem.base_rows + problem.queries) * problem.dims * 4 + 4096),
        base_(points_.rows(0, problem.base_rows, problem.dims)),
        queries_(points_.rows(problem.base_rows, problem.queries, problem.dims)),
        radius_(radius_of()) {}

  std::vector<Row> rows(Harness& harness) {
    Options options;
    options.metric = MetricKind::sqeuclidean;
    options.backend = kBackend;
    const Index<float> index(base_, options);
    std::vector<Row> rows = harness.race({contender("lists", RadiusOutput::neighbors, index, lists_),
                                          contender("counts", RadiusOutput::count_only, index, counts_)},
                                         {.budget_ms = kUnlimited, .on_host_clock = true});
    const auto neighbors = static_cast<double>(lists_.offsets.back());
    for (Row& row : rows) {
      const SearchReport& report = row.contender == "lists" ? lists_.report : counts_.report;
      row.facts["neighbors"] = lists_.offsets.back();
      row.facts["finalists"] = report.finalists;
      row.facts["predicted_ms"] = report.plan.seconds * 1e3;
      row.note = fmt::format("{:.1f} neighbors a query", neighbors / static_cast<double>(problem_.queries));
    }
    return rows;
  }

 private:
  Contender contender(const char* name, RadiusOutput output, const Index<float>& index, RadiusNeighbors<float>& found) {
    Contender contender;
    contender.row.problem = problem_text(problem_);
    contender.row.contender = name;
    contender.row.facts = {{"queries", problem_.queries},
                           {"base_rows", problem_.base_rows},
                           {"dims", problem_.dims},
                           {"wanted", problem_.wanted},
                           {"radius", radius_}};
    contender.run = [this, &index, output, &found] {
      found = index.search_radius(queries_, std::span<const float>(&radius_, 1), output);
    };
    contender.check = [this, output](bool first) -> std::string {
      if (!first) return "";
      if (output == RadiusOutput::count_only)
        return counts_.offsets == lists_.offsets ? "" : "counting alone gives other numbers";
      return list_fault();
    };
    return contender;
  }

  std::vector<std::vector<Neighbor>> nearest(const MatrixView<float>& queries, std::int64_t k) const {
    Question<float> question{base_, queries, std::min(k, base_.rows)};
    question.threads = all_threads();
    question.work = kUnlimited;
    return Oracle<float>(question, MetricKind::sqeuclidean).truth();
  }

  float radius_of() const {
    std::vector<double> last;
    for (const auto& neighbors : nearest(spread_rows(queries_, 15), problem_.wanted))
      last.push_back(neighbors.back().key);
    std::nth_element(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2), last.end());
    return static_cast<float>(last[last.size() / 2]);
  }

  // Lists of a few queries: the nearest up to the radius, and one more point lies beyond it.
  std::string list_fault() const {
    const std::int64_t some = std::min(samples_, queries_.rows);
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t q = i * (queries_.rows / some);
      const auto first = static_cast<std::size_t>(lists_.offsets[static_cast<std::size_t>(q)]);
      const auto count = static_cast<std::size_t>(lists_.offsets[static_cast<std::size_t>(q) + 1]) - first;
      const std::vector<Neighbor> right =
          nearest(queries_.rows_from(q, 1), static_cast<std::int64_t>(count) + 1).front();
      for (std::size_t n = 0; n < right.size(); ++n) {
        const auto distance = static_cast<float>(right[n].key);
        if (n < count && (lists_.ids[first + n] != right[n].id || lists_.distances[first + n] != distance))
          return fmt::format("query {}: neighbor {} is {}, not {}", q, n, right[n].id, lists_.ids[first + n]);
        if (n >= count && distance <= radius_) return fmt::format("query {}: point {} is missing", q, right[n].id);
      }
    }
    return "";
  }

  RadiusProblem problem_;
  std::int64_t samples_;
  HostPoints points_;
  MatrixView<float> base_;
  MatrixView<float> queries_;
  float radius_;
  RadiusNeighbors<float> lists_;
  RadiusNeighbors<float> counts_;
};

}  // namespace

Suite radius_suite(const Settings& settings) {
  Suite suite{"search/radius", "radius search of points of the host", "", {.samples = 4}, nullptr, {}};
  for (RadiusProblem problem : kRadiusProblems) {
    if (settings.quick) problem = {std::min<std::int64_t>(problem.queries, 20), 500, problem.dims, 20};
    suite.cases.push_back({"", problem_text(problem), "lists, counts", [problem](Harness& harness) {
                             return RadiusRun(problem, harness.limits().samples).rows(harness);
                           }});
  }
  return suite;
}

}  // namespace kith::bench::device::search
