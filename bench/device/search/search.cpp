// search.cpp: searches of points on the device, in turns. The first answer of each is checked (check.hpp); all others
// must be the same.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/search/check.hpp"
#include "device/search/point_set.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

// A choice within this factor of the best is as good as the best.
constexpr double kNearBest = 1.10;

Json plan_json(const Plan& plan) {
  return {{"method", kith::to_string(plan.method)},
          {"distance", kith::to_string(plan.distance)},
          {"select", kith::to_string(plan.select)},
          {"expanded", plan.expanded},
          {"candidates", plan.candidates},
          {"query_block", plan.query_block},
          {"base_tile", plan.base_tile},
          {"predicted_ms", plan.seconds * 1e3},
          {"profile", plan.profile}};
}

Json triangle_json(const TriangleStatistics& counted) {
  Json json = {{"saved", counted.saved()},
               {"query_clusters", counted.query_clusters},
               {"base_clusters", counted.base_clusters},
               {"pairs_level_1", counted.pairs_level_1},
               {"cluster_pairs_left", counted.cluster_pairs_left},
               {"clusters_visited", counted.clusters_visited},
               {"center_distances", counted.center_distances},
               {"distances", counted.distances},
               {"steps", Json::array()}};
  for (const TriangleStatistics::Step& step : counted.steps)
    json["steps"].push_back({{"name", step.name}, {"ms", step.seconds * 1e3}});
  return json;
}

Json problem_json(const Problem& problem) {
  Json json = {{"queries", problem.queries},     {"base_rows", problem.base_rows},
               {"dims", problem.dims},           {"k", problem.k},
               {"self", problem.self},           {"metric", kith::to_string(problem.metric)},
               {"data", to_string(problem.data)}};
  if (!problem.name.empty()) json["name"] = problem.name;
  return json;
}

// A search and how it was done last.
template <class T>
struct Search {
  Variant variant;
  std::optional<Index<T>> index;  // of searches that do not make one in every run
  SearchReport report;
};

// A problem while it is solved.
template <class T>
class SearchRun {
 public:
  SearchRun(const PointSet& points, const Problem& wanted, const SearchRules& rules, Harness& harness)
      : problem_(wanted), rules_(rules), harness_(harness), stream_(harness.stream()), base_(points.base<T>()) {
    if (wanted.data == Data::file) {
      problem_.queries = problem_.base_rows = base_.rows;
      problem_.dims = base_.cols;
    }
    queries_ = points.queries<T>(problem_.queries);
    distances_ = cuda::DeviceBuffer<float>(static_cast<std::size_t>(queries_.rows * problem_.k), stream_);
    ids_ = cuda::DeviceBuffer<std::int64_t>(distances_.size(), stream_);
    checker_.emplace(problem_.metric.kind, points.base(), points.queries(problem_.queries), harness.limits().samples,
                     stream_, problem_.self);
  }

  std::vector<Row> rows(std::vector<Variant> variants) {
    if (variants.empty()) variants = planned_variants();
    std::vector<Contender> contenders;
    searches_.resize(variants.size());
    for (std::size_t i = 0; i < variants.size(); ++i) {
      searches_[i].variant = std::move(variants[i]);
      contenders.push_back(contender(searches_[i]));
    }
    std::vector<Row> rows = harness_.race(std::move(contenders), {.both_clocks = rules_.both_clocks});
    for (std::size_t i = 0; i < rows.size(); ++i) conclude(rows[i], searches_[i]);
    if (rules_.compare_choice) compare_choice(rows);
    return rows;
  }

 private:
  // Searches have the workspace that they would take by themselves on the empty device, whatever others have cached.
  Options options_of(const Variant& variant) const {
    Options options = variant.options;
    options.metric = problem_.metric;
    options.backend = kBackend;
    options.memory_budget = harness_.free_memory() / 2;
    return options;
  }

  Index<T> make_index(const Options& options) const { return Index<T>(base_, options, stream_); }

  std::vector<Variant> planned_variants() const {
    std::vector<Variant> all = {Variant()};
    if (!rules_.all_stages) return all;
    const Plan choice = make_index(options_of(all.front())).explain(queries_.rows, problem_.k);
    std::vector<DistanceStage> stages = {choice.distance};
    for (const Plan::Alternative& other : choice.alternatives) stages.push_back(other.distance);
    std::sort(stages.begin(), stages.end());
    stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
    for (const DistanceStage stage : stages) all.push_back(forced(kith::to_string(stage), Method::two_stage, stage));
    all.push_back(forced("fused", Method::fused));
    return all;
  }

  // Searches until the plan stays the same: what an index has timed replaces what was predicted.
  void settle(Search<T>& search, Row& row) {
    constexpr int kStays = 3;  // searches
    constexpr int kMost = 30;
    int stays = 0;
    int searches = 0;
    std::string last;
    for (; stays < kStays && searches < kMost; ++searches) {
      harness_.time([&] { search.report = search_once(*search.index); });
      const Plan& plan = search.report.plan;
      const std::string name = plan.method == Method::triangle
                                   ? kith::to_string(plan.method)
                                   : fmt::format("{} {}", kith::to_string(plan.method), kith::to_string(plan.distance));
      if (searches == 0) row.facts["first_choice"] = name;
      stays = name == last ? stays + 1 : 1;
      last = name;
    }
    row.facts["searches_before"] = searches;
  }

  SearchReport search_once(const Index<T>& index) {
    const NeighborsView<float> out{ids_.data(), distances_.data(), Memory::device};
    return problem_.self ? index.search_self_into(problem_.k, out, stream_)
                         : index.search_into(queries_, problem_.k, out, stream_);
  }

  Contender contender(Search<T>& search) {
    Contender contender;
    Row& row = contender.row;
    row.problem = describe(problem_);
    row.contender = search.variant.name;
    row.facts = problem_json(problem_);
    contender.run = [this, &search] {
      std::optional<Index<T>> fresh;
      if (rules_.fresh_index) fresh = make_index(options_of(search.variant));
      search.report = search_once(fresh ? *fresh : *search.index);
    };
    // Ids of −1 and distances of NaN: whoever writes nothing is found out.
    contender.prepare = [this] {
      KITH_CUDA(cudaMemsetAsync(distances_.data(), 0xFF, distances_.size() * sizeof(float), stream_));
      KITH_CUDA(cudaMemsetAsync(ids_.data(), 0xFF, ids_.size() * sizeof(std::int64_t), stream_));
    };
    contender.check = [this](bool first) { return fault(first); };
    try {
      stream_.synchronize();
      const auto begin = std::chrono::steady_clock::now();
      search.index = make_index(options_of(search.variant));
      const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
      row.facts["index_ms"] = ms.count();
      search.report.plan = search.index->explain(queries_.rows, problem_.k);
      if (!rules_.fresh_index && search.variant.name == "auto") settle(search, row);
      if (rules_.fresh_index) search.index.reset();
    } catch (const Error& error) {
      refuse(error, row);
    }
    // The planner's choice is timed whatever it takes.
    if (search.variant.name != "auto") contender.expected_ms = [&search] { return search.report.plan.seconds * 1e3; };
    return contender;
  }

  std::string fault(bool first) {
    const DeviceAnswer answer{distances_.data(), ids_.data(), problem_.k};
    const unsigned long long fingerprint = checker_->fingerprint(answer, queries_.rows * problem_.k);
    if (!first) return fingerprint == fingerprint_ ? "" : "another answer than in the first run";
    if (fingerprint_ == 0) fingerprint_ = fingerprint;
    const std::string fault = checker_->fault(answer);
    return fault.empty() && fingerprint != fingerprint_ ? "another answer than the first contender's" : fault;
  }

  void conclude(Row& row, Search<T>& search) {
    if (row.status != Status::unsupported) row.facts["plan"] = plan_json(search.report.plan);
    if (row.status == Status::timed) {
      count_work(search);
      const SearchReport& report = search.report;
      const double fma = harness_.best_rate("fma");
      row.facts["g_distances_per_s"] = problem_.pairs() / row.median_ms() * 1e-6;
      if (fma > 0)
        row.facts["fma_fraction"] =
            problem_.pairs() * static_cast<double>(problem_.dims) / row.median_ms() * 1e-9 / fma;
      row.facts["finalists"] = report.finalists;
      row.facts["steps"] = Json::array();
      for (const SearchStep& step : report.steps) {
        row.facts["steps"].push_back({{"distance", kith::to_string(step.pass)}, {"queries", step.queries}});
        row.note += fmt::format("{}{} {}", row.note.empty() ? "" : " → ", kith::to_string(step.pass), step.queries);
      }
      if (report.triangle) {
        row.facts["triangle"] = triangle_json(*report.triangle);
        row.note += fmt::format("{:.2f} % saved", 100 * report.triangle->saved());
      }
      row.facts["rows_checked"] = checker_->samples();
    }
    if (row.contender != "auto") return;
    if (row.status == Status::timed) row.note += fmt::format(" ({})", describe(search.report.plan));
    if (problem_.bar_ms > 0) row.bar = bar_ms(problem_.bar_ms, rules_.both_clocks ? row.wall : row);
  }

  // Counting takes time, so what was timed did not.
  void count_work(Search<T>& search) {
    if (search.variant.options.method != Method::triangle) return;
    Options options = options_of(search.variant);
    options.statistics = true;
    search.report = search_once(make_index(options));
  }

  void compare_choice(std::vector<Row>& rows) const {
    const auto best = std::min_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      return a.timed() && (!b.timed() || a.median_ms() < b.median_ms());
    });
    Row& choice = rows.front();
    if (choice.contender != "auto" || !choice.timed()) return;
    const double ratio = choice.median_ms() / best->median_ms();
    choice.facts["best"] = best->contender;
    choice.facts["best_ms"] = best->median_ms();
    choice.facts["ratio"] = ratio;
    for (const Row& row : rows)
      if (row.timed() && row.contender == choice.facts["first_choice"].get<std::string>())
        choice.facts["first_ratio"] = row.median_ms() / best->median_ms();
    choice.note += fmt::format(", best {:.4f} ms", best->median_ms());
    if (harness_.quick()) return;
    choice.bar = Bar{fmt::format("≤ {:.2f} of the best", kNearBest),
                     fmt::format("{:.2f} of {}", ratio, best->contender), ratio <= kNearBest};
  }

  Problem problem_;
  SearchRules rules_;
  Harness& harness_;
  const cuda::Stream& stream_;
  MatrixView<T> base_;
  MatrixView<T> queries_;
  cuda::DeviceBuffer<float> distances_;
  cuda::DeviceBuffer<std::int64_t> ids_;
  std::optional<Checker> checker_;
  unsigned long long fingerprint_ = 0;
  std::vector<Search<T>> searches_;
};

// Small problems of the same kind, which only show that all works.
Problem shrunk(Problem problem) {
  problem.k = std::min<std::int64_t>(problem.k, 100);
  problem.dims = std::min<std::int64_t>(problem.dims, 200);
  problem.base_rows = std::clamp(problem.base_rows / 1000, 4 * problem.k, std::int64_t{600});
  problem.queries =
      problem.self || problem.queries_are_base ? problem.base_rows : std::min<std::int64_t>(problem.queries, 20);
  problem.bar_ms = 0;
  return problem;
}

}  // namespace

std::vector<Row> search_rows(const PointSet& points, const Problem& problem, const std::vector<Variant>& variants,
                             const SearchRules& rules, Harness& harness) {
  if (problem.data == Data::bytes) return SearchRun<std::uint8_t>(points, problem, rules, harness).rows(variants);
  return SearchRun<float>(points, problem, rules, harness).rows(variants);
}

Case search_case(const std::string& figure, Problem problem, std::vector<Variant> variants, const SearchRules& rules,
                 const Settings& settings) {
  if (settings.quick && problem.data != Data::file) problem = shrunk(problem);
  std::erase_if(variants, [&](const Variant& variant) {
    return !settings.contender.empty() && variant.name != settings.contender;
  });
  std::string names;
  for (const Variant& variant : variants) names += (names.empty() ? "" : ", ") + variant.name;
  if (problem.bar_ms > 0) names += fmt::format("at most {:g} ms", problem.bar_ms);
  return {figure, describe(problem), names, [=](Harness& harness) {
            return search_rows(PointSet(problem, harness.stream()), problem, variants, rules, harness);
          }};
}

}  // namespace kith::bench::device::search
