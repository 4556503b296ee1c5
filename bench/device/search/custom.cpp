// custom.cpp: formulas compiled for the device, beside the built-in metric that one of them is. Base and queries lie on
// the host, of an index that has its base on the device: times are by the host's clock, from the queries to the answer
// in the host's memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include "backend/pairs.hpp"
#include "common/parallel.hpp"
#include "common/random_bits.hpp"
#include "device/search/problem.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

struct CustomProblem {
  std::int64_t queries;
  std::int64_t base_rows;
  std::int64_t dims;
  std::int64_t k;
};

constexpr CustomProblem kCustomProblems[] = {
    {10000, 1000000, 128, 10}, {1000, 1000000, 128, 10}, {10000, 1000000, 32, 10}, {10000, 100000, 512, 100}};

constexpr double kBar = 1.3;  // times the built-in metric

struct CustomFormula {
  const char* text;
  double (*term)(double x, double y);  // what it sums
};

constexpr CustomFormula kCustomFormulas[] = {
    {"sum(abs(x - y))", [](double x, double y) { return std::abs(x - y); }},
    {"sum(abs(x - y) / (1 + abs(x)))", [](double x, double y) { return std::abs(x - y) / (1 + std::abs(x)); }}};

std::string problem_text(const CustomProblem& problem) {
  return fmt::format("{} × {} × {}, k {}, uniform", problem.queries, problem.base_rows, problem.dims, problem.k);
}

Matrix<float> uniform_points(std::int64_t rows, std::int64_t dims, std::uint64_t seed) {
  Matrix<float> points(rows, dims);
  for_parts(rows, 1024, all_threads(), [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from * dims; i < to * dims; ++i)
      points.data()[i] =
          static_cast<float>(random_bits(seed * 0x1000000000ULL + static_cast<std::uint64_t>(i)) >> 40U) * 0x1p-23F - 1;
  });
  return points;
}

class CustomRun {
 public:
  CustomRun(const CustomProblem& problem, Harness& harness)
      : problem_(problem),
        harness_(harness),
        base_(uniform_points(problem.base_rows, problem.dims, 1)),
        queries_(uniform_points(problem.queries, problem.dims, 2)),
        base_rows_(rows_of(base_)),
        query_rows_(rows_of(queries_)) {}

  std::vector<Row> rows() {
    Options options;
    options.backend = kBackend;
    options.metric = MetricKind::manhattan;
    options.method = Method::brute;
    const Index<float> built_in(base_.view(), options);
    std::vector<Contender> contenders;
    // The built-in metric adds in another order, so that its distances may differ in the last bit.
    contenders.push_back(contender("built-in manhattan", kCustomFormulas[0], 1e-6, [&] {
      Neighbors<float> found = built_in.search(queries_.view(), problem_.k);
      ids_ = std::move(found.ids);
      distances_ = std::move(found.distances);
    }));
    std::vector<core::Expression> formulas;
    for (const CustomFormula& each : kCustomFormulas) formulas.push_back(core::parse_expression(each.text));
    std::vector<std::unique_ptr<backend::BackendPairIndex<float>>> indexes;
    for (std::size_t i = 0; i < formulas.size(); ++i) {
      indexes.push_back(backend::make_pair_index<float>(kBackend, {base_rows_, &formulas[i], nullptr, 0}));
      contenders.push_back(contender(kCustomFormulas[i].text, kCustomFormulas[i], 0,
                                     [this, index = indexes.back().get()] { run(*index); }));
    }
    std::vector<Row> rows = harness_.race(std::move(contenders), {.on_host_clock = true});
    conclude(rows);
    return rows;
  }

 private:
  static backend::PairRows<float> rows_of(const Matrix<float>& points) {
    return {points.rows(), points.cols(), [&points](std::int64_t first, std::int64_t count, float* out) {
              std::copy_n(points.data() + first * points.cols(), count * points.cols(), out);
            }};
  }

  void run(const backend::BackendPairIndex<float>& index) {
    const auto k = static_cast<std::size_t>(problem_.k);
    ids_.resize(static_cast<std::size_t>(problem_.queries) * k);
    distances_.resize(ids_.size());
    const ProgressCallback none;
    work_ = index.nearest(query_rows_, problem_.k, none, [&](std::int64_t query, const auto& hits) {
      for (std::size_t i = 0; i < k; ++i) {
        ids_[static_cast<std::size_t>(query) * k + i] = hits[i].id;
        distances_[static_cast<std::size_t>(query) * k + i] = hits[i].key;
      }
    });
  }

  Contender contender(const std::string& name, const CustomFormula& formula, double tolerance,
                      std::function<void()> run) {
    Contender made;
    made.row.problem = problem_text(problem_);
    made.row.contender = name;
    made.run = std::move(run);
    made.check = [this, formula, tolerance](bool first) { return first ? fault(formula, tolerance) : ""; };
    return made;
  }

  // Of a sample of the queries, by definition.
  std::string fault(const CustomFormula& formula, double tolerance) const {
    const std::int64_t some = std::min(harness_.limits().samples, problem_.queries);
    std::vector<std::pair<float, std::int64_t>> all(static_cast<std::size_t>(problem_.base_rows));
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t query = i * (problem_.queries / some);
      for_parts(problem_.base_rows, 4096, all_threads(), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t row = from; row < to; ++row) {
          double sum = 0;
          for (std::int64_t c = 0; c < problem_.dims; ++c)
            sum += formula.term(static_cast<double>(queries_(query, c)), static_cast<double>(base_(row, c)));
          all[static_cast<std::size_t>(row)] = {static_cast<float>(sum), row};
        }
      });
      std::partial_sort(all.begin(), all.begin() + problem_.k, all.end());
      for (std::int64_t n = 0; n < problem_.k; ++n) {
        const auto at = static_cast<std::size_t>(query * problem_.k + n);
        const auto& [right, id] = all[static_cast<std::size_t>(n)];
        const bool is_right = tolerance == 0 ? distances_[at] == right && ids_[at] == id
                                             : std::abs(static_cast<double>(distances_[at] - right)) <=
                                                   tolerance * static_cast<double>(right);
        if (!is_right)
          return fmt::format("{}, query {}: neighbor {} is {} at {}, not {} at {}", formula.text, query, n, ids_[at],
                             distances_[at], id, right);
      }
    }
    return "";
  }

  void conclude(std::vector<Row>& rows) const {
    const double built_in = rows[0].timed() ? rows[0].median_ms() : 0;
    for (Row& row : rows) {
      if (!row.timed()) continue;
      const double pairs = static_cast<double>(problem_.queries) * static_cast<double>(problem_.base_rows);
      const double ratio = built_in > 0 ? row.median_ms() / built_in : 0;
      row.facts = {{"queries", problem_.queries},
                   {"base_rows", problem_.base_rows},
                   {"dims", problem_.dims},
                   {"k", problem_.k},
                   {"t_coordinates_per_s", pairs * static_cast<double>(problem_.dims) / row.median_ms() * 1e-9},
                   {"of_built_in", ratio},
                   {"bar", kBar},
                   {"exact_queries", work_.exact_queries},
                   {"rows_checked", std::min(problem_.queries, harness_.limits().samples)}};
      row.note = fmt::format("{:.2f} T coordinates/s, {:.2f} times the built-in metric",
                             row.facts["t_coordinates_per_s"].get<double>(), ratio);
    }
  }

  CustomProblem problem_;
  Harness& harness_;
  Matrix<float> base_;
  Matrix<float> queries_;
  backend::PairRows<float> base_rows_;
  backend::PairRows<float> query_rows_;
  std::vector<std::int64_t> ids_;
  std::vector<float> distances_;
  backend::PairDeviceWork work_;
};

}  // namespace

Suite custom_suite(const Settings& settings) {
  Suite suite{"search/custom", "formulas compiled for the device", "", {.samples = 16}, device_ceilings, {}};
  for (CustomProblem problem : kCustomProblems) {
    if (settings.quick) {
      problem.base_rows = 3000;
      problem.queries = 20;
      problem.dims = std::min<std::int64_t>(problem.dims, 20);
    }
    suite.cases.push_back({"", problem_text(problem), "custom",
                           [problem](Harness& harness) { return CustomRun(problem, harness).rows(); }});
  }
  return suite;
}

}  // namespace kith::bench::device::search
