// devices.cpp: a search by several workers of one device, and by all devices where there are several, beside the same
// search without workers. Points, queries and answers are the host's; times are by its clock.
//
// Workers of one device have no more than the device: what they take longer is what sharing out and merging cost.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "common/check.hpp"
#include "common/parallel.hpp"
#include "device/search/host_points.hpp"
#include "device/search/problem.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

// Three workers of a device may take so many times as long as the device by itself.
constexpr double kWorkersBound = 1.1;

struct WorkersProblem {
  std::int64_t queries;
  std::int64_t base_rows;
  std::int64_t dims;
  std::int64_t k;
};

std::string problem_text(const WorkersProblem& problem) {
  return fmt::format("{} × {} × {}, k {}", problem.queries, problem.base_rows, problem.dims, problem.k);
}

class WorkersRun {
 public:
  WorkersRun(const WorkersProblem& problem, Harness& harness)
      : problem_(problem),
        harness_(harness),
        points_((problem.base_rows + problem.queries) * problem.dims * 4 + 4096),
        base_(points_.rows(0, problem.base_rows, problem.dims)),
        queries_(points_.rows(problem.base_rows, problem.queries, problem.dims)) {}

  std::vector<Row> rows() {
    std::vector<Contender> contenders = {contender("one alone", {}), contender("three workers of a device", {0, 0, 0})};
    const std::size_t here = devices(kBackend).size();
    if (here > 1) contenders.push_back(contender(fmt::format("{} devices", here), {kAllDevices}));
    std::vector<Row> rows = harness_.race(std::move(contenders), {.on_host_clock = true});
    for (std::size_t i = 1; i < rows.size(); ++i) conclude(rows[0], i == 1, rows[i]);
    return rows;
  }

 private:
  Contender contender(std::string name, std::vector<int> ids) {
    Options options;
    options.metric = kL2;
    options.backend = kBackend;
    options.devices = std::move(ids);
    Contender made;
    made.row.problem = problem_text(problem_);
    made.row.contender = std::move(name);
    made.row.facts = {
        {"queries", problem_.queries}, {"base_rows", problem_.base_rows}, {"dims", problem_.dims}, {"k", problem_.k}};
    made.row.facts["devices"] = format_devices(options.devices);
    const auto index = std::make_shared<Index<float>>(base_, options);
    made.run = [this, index] { found_ = index->search(queries_, problem_.k); };
    made.check = [this](bool) { return fault(); };
    return made;
  }

  // Some queries of the first answer against a plain scan, all of later ones against the first, whoever gave it.
  std::string fault() {
    if (!first_.ids.empty())
      return found_.ids == first_.ids && found_.distances == first_.distances ? "" : "another answer than the first";
    first_ = found_;
    const MatrixView<float> some = spread_rows(queries_, harness_.limits().samples);
    Answer answer{some.rows, problem_.k, {}, {}};
    for (std::int64_t q = 0; q < some.rows; ++q) {
      const auto ids = found_.ids_of(q * some.row_stride / problem_.dims);
      const auto distances = found_.distances_of(q * some.row_stride / problem_.dims);
      answer.ids.insert(answer.ids.end(), ids.begin(), ids.end());
      answer.distances.insert(answer.distances.end(), distances.begin(), distances.end());
    }
    Question<float> question{base_, some, problem_.k};
    question.threads = all_threads();
    question.work = kUnlimited;
    return Oracle<float>(question, kL2).judge_exact(answer).fault;
  }

  void conclude(const Row& one, bool shares_device, Row& row) const {
    if (!row.timed() || !one.timed()) return;
    const double ratio = row.median_ms() / one.median_ms();
    row.facts["of_one"] = ratio;
    row.note = fmt::format("{:.3f} of one alone", ratio);
    if (harness_.quick() || !shares_device) return;
    row.bar =
        Bar{fmt::format("≤ {:g} of one alone", kWorkersBound), fmt::format("{:.3f}", ratio), ratio <= kWorkersBound};
  }

  WorkersProblem problem_;
  Harness& harness_;
  HostPoints points_;
  MatrixView<float> base_;
  MatrixView<float> queries_;
  Neighbors<float> found_;
  Neighbors<float> first_;
};

}  // namespace

Suite devices_suite(const Settings& settings) {
  Suite suite{
      "search/devices", "stripes of a base on several devices, or several on one", "", {.samples = 4}, nullptr, {}};
  std::vector<WorkersProblem> problems = {
      {10000, 1000000, 128, 10}, {100000, 1000000, 128, 10}, {10000, 1000000, 128, 100}};
  if (settings.quick) problems = {{20, 600, 32, 10}};
  for (const WorkersProblem& problem : problems)
    suite.cases.push_back({"", problem_text(problem), "one worker beside several",
                           [problem](Harness& harness) { return WorkersRun(problem, harness).rows(); }});
  return suite;
}

}  // namespace kith::bench::device::search
