#include "search_device/radius.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "backend/contract.hpp"
#include "plan/choose.hpp"
#include "search_device/host_points.hpp"

namespace kith::search_bench {
namespace {

constexpr RadiusProblem kRadiusProblems[] = {
    {10000, 1000000, 3, 50},     {10000, 1000000, 16, 100}, {10000, 1000000, 128, 100},
    {10000, 1000000, 128, 2000}, {100, 1000000, 128, 100},  {1, 1000000, 128, 100},
};

MatrixView<float> spread_rows(const MatrixView<float>& rows, std::int64_t count) {
  const std::int64_t some = std::min(count, rows.rows);
  return {rows.data, some, rows.cols, rows.rows / some * rows.row_stride, 1};
}

class RadiusBench {
 public:
  explicit RadiusBench(const RadiusProblem& problem)
      : points_((problem.base_rows + problem.queries) * problem.dims * 4 + 4096),
        base_(points_.rows(0, problem.base_rows, problem.dims)),
        queries_(points_.rows(problem.base_rows, problem.queries, problem.dims)) {
    row_.problem = problem;
  }

  RadiusRow run(int rounds) {
    row_.radius = radius_of();
    Options options;
    options.metric = MetricKind::sqeuclidean;
    row_.plan =
        plan::choose_radius({base_.rows, queries_.rows, base_.cols, 0, DType::float32}, options, cuda::device_facts());
    const auto index = cuda::make_index(base_, options.metric, true);
    core::RadiusQuery<float> reach;
    reach.keys = {row_.radius};
    reach.most_hits = std::numeric_limits<std::int64_t>::max();
    core::RadiusResult<float> all;
    core::RadiusResult<float> counted;
    for (int round = 0; round <= rounds; ++round) {
      reach.count_only = false;
      const double all_ms = timed([&] { all = index->search_radius(queries_, row_.plan, reach, {}); });
      reach.count_only = true;
      const double count_ms = timed([&] { counted = index->search_radius(queries_, row_.plan, reach, {}); });
      if (round == 0) continue;  // which also allocates
      row_.all_ms.push_back(all_ms);
      row_.count_ms.push_back(count_ms);
    }
    row_.neighbors = all.offsets.back();
    row_.finalists = all.finalists;
    check(all, counted);
    return row_;
  }

 private:
  template <class Run>
  static double timed(Run run) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

  float radius_of() const {
    const MatrixView<float> some = spread_rows(queries_, 15);
    const HostAnswer nearest = scan(base_, some, row_.problem.wanted);
    std::vector<float> last;
    for (std::int64_t q = 0; q < some.rows; ++q)
      last.push_back(nearest.distances[static_cast<std::size_t>((q + 1) * row_.problem.wanted - 1)]);
    std::nth_element(last.begin(), last.begin() + some.rows / 2, last.end());
    return last[static_cast<std::size_t>(some.rows / 2)];
  }

  // One more point than a query found must lie beyond the radius.
  void check(const core::RadiusResult<float>& all, const core::RadiusResult<float>& counted) {
    if (all.offsets != counted.offsets) row_.fault = "counting alone gives other numbers";
    const std::int64_t some = std::min<std::int64_t>(4, queries_.rows);
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t q = i * (queries_.rows / some);
      const auto first = static_cast<std::size_t>(all.offsets[static_cast<std::size_t>(q)]);
      const auto count = static_cast<std::size_t>(all.offsets[static_cast<std::size_t>(q) + 1]) - first;
      const std::int64_t k = std::min(static_cast<std::int64_t>(count) + 1, base_.rows);
      const HostAnswer right = scan(base_, queries_.rows_from(q, 1), k);
      const auto from = static_cast<std::ptrdiff_t>(first);
      if (!std::equal(right.ids.begin(), right.ids.begin() + static_cast<std::ptrdiff_t>(count),
                      all.ids.begin() + from) ||
          !std::equal(right.distances.begin(), right.distances.begin() + static_cast<std::ptrdiff_t>(count),
                      all.distances.begin() + from))
        row_.fault = fmt::format("query {}: its {} neighbors are others", q, count);
      if (count < right.ids.size() && right.distances[count] <= row_.radius)
        row_.fault = fmt::format("query {}: point {} is missing", q, right.ids[count]);
    }
  }

  RadiusRow row_;
  HostPoints points_;
  MatrixView<float> base_;
  MatrixView<float> queries_;
};

}  // namespace

std::vector<RadiusRow> measure_radius(const Limits& limits) {
  std::vector<RadiusRow> measured;
  for (RadiusProblem problem : kRadiusProblems) {
    if (limits.quick) {
      problem.queries = std::min<std::int64_t>(problem.queries, 300);
      problem.base_rows = 20000;
      problem.wanted = std::min<std::int64_t>(problem.wanted, 1000);
    }
    RadiusRow row = RadiusBench(problem).run(limits.rounds);
    fmt::print("{:>5} × {} × {:<3} {:10.1f} neighbors a query {:10.3f} ms, counted {:10.3f} ms, {:.3f} predicted{}\n",
               problem.queries, problem.base_rows, problem.dims,
               static_cast<double>(row.neighbors) / static_cast<double>(problem.queries),
               select_bench::median(row.all_ms), select_bench::median(row.count_ms), row.plan.seconds * 1e3,
               row.fault.empty() ? "" : "  WRONG: " + row.fault);
    std::fflush(stdout);
    measured.push_back(std::move(row));
  }
  return measured;
}

nlohmann::ordered_json to_json(const RadiusRow& row) {
  nlohmann::ordered_json json = {{"queries", row.problem.queries},
                                 {"base_rows", row.problem.base_rows},
                                 {"dims", row.problem.dims},
                                 {"radius", row.radius},
                                 {"neighbors", row.neighbors},
                                 {"finalists", row.finalists},
                                 {"predicted_ms", row.plan.seconds * 1e3},
                                 {"status", row.fault.empty() ? "timed" : "wrong"},
                                 {"median_ms", select_bench::median(row.all_ms)},
                                 {"count_median_ms", select_bench::median(row.count_ms)},
                                 {"samples_ms", row.all_ms},
                                 {"count_samples_ms", row.count_ms}};
  if (!row.fault.empty()) json["reason"] = row.fault;
  return json;
}

}  // namespace kith::search_bench
