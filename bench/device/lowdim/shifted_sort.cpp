#include "device/lowdim/shifted_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "core/curve_shifts.hpp"
#include "cuda/shifted_sort/cached_orders.hpp"
#include "kith/index.hpp"
#include "kith/quality.hpp"

namespace kith::bench::device::lowdim {
namespace {

constexpr std::int64_t kDims = 3;

MatrixView<float> view_of(const SpacePoints& points) {
  return {points.data(), static_cast<std::int64_t>(points.size()) / kDims, kDims};
}

cuda::DeviceBuffer<float> on_device(const SpacePoints& points, const cuda::Stream& stream) {
  cuda::DeviceBuffer<float> buffer(points.size(), stream);
  KITH_CUDA(
      cudaMemcpyAsync(buffer.data(), points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
  stream.synchronize();
  return buffer;
}

template <class V>
std::vector<V> on_host(const cuda::DeviceBuffer<V>& buffer, const cuda::Stream& stream) {
  std::vector<V> values(buffer.size());
  KITH_CUDA(cudaMemcpyAsync(values.data(), buffer.data(), values.size() * sizeof(V), cudaMemcpyDeviceToHost, stream));
  stream.synchronize();
  return values;
}

double distance(const float* x, const float* y) {
  double sum = 0;
  for (int c = 0; c < kDims; ++c)
    sum += (static_cast<double>(x[c]) - static_cast<double>(y[c])) *
           (static_cast<double>(x[c]) - static_cast<double>(y[c]));
  return std::sqrt(sum);
}

struct AnswerRow {
  const float* distances;
  const std::int64_t* ids;
};

// Empty, or why a row cannot be an answer: its distances are not those of its ids, unsorted, or points come twice.
std::string row_fault(const AnswerRow& row, std::int64_t k, const float* query, const MatrixView<float>& base) {
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < k; ++i) {
    if (row.ids[i] < 0 || row.ids[i] >= base.rows) return fmt::format("id {} is no point", row.ids[i]);
    if (!seen.insert(row.ids[i]).second) return fmt::format("id {} comes twice", row.ids[i]);
    const double right = distance(query, base.row(row.ids[i]));
    if (std::abs(right - static_cast<double>(row.distances[i])) > 1e-6 * right)
      return fmt::format("distance {} of id {} should be {}", row.distances[i], row.ids[i], right);
    if (i > 0 && row.distances[i] < row.distances[i - 1]) return fmt::format("rank {} is out of order", i);
  }
  return {};
}

std::string describe(const Problem& problem) {
  const ShiftedSortTuning usual;
  const ShiftedSortTuning& tuning = problem.tuning;
  std::string text = fmt::format("{} {} into {}, k {}", problem.set, problem.queries, problem.base_rows, problem.k);
  if (tuning.shifts != usual.shifts) text += fmt::format(", {} shifts", tuning.shifts);
  if (tuning.window != usual.window) text += fmt::format(", window {}", tuning.window);
  if (tuning.curve != usual.curve) text += fmt::format(", {}", to_string(tuning.curve));
  if (tuning.merge != usual.merge) text += fmt::format(", merge {}", to_string(tuning.merge));
  if (tuning.positions != usual.positions) text += ", sorted together";
  if (tuning.guaranteed) text += ", guaranteed";
  return text;
}

class ShiftedSortRun {
 public:
  ShiftedSortRun(const Problem& problem, const SpaceSets& sets, Harness& harness)
      : problem_(problem),
        sets_(sets),
        harness_(harness),
        stream_(harness.stream()),
        base_(on_device(sets.base, stream_)),
        queries_(on_device(sets.queries, stream_)),
        distances_(static_cast<std::size_t>(problem.queries * problem.k), stream_),
        ids_(distances_.size(), stream_) {
    Options options;
    options.backend = kBackend;
    options.memory_budget = harness.free_memory() / 2;
    options.method = Method::shifted_sort;
    options.shifted_sort = problem.tuning;
    plan_ = Index<float>(device_base(), options, stream_).explain(problem.queries, problem.k);
    workspace_.emplace(stream_, static_cast<std::size_t>(plan_.workspace_bytes));
  }

  Row row() {
    Contender contender;
    contender.row.problem = describe(problem_);
    contender.row.contender = "shifted-sort";
    contender.row.facts = {{"set", problem_.set},
                           {"base_rows", problem_.base_rows},
                           {"queries", problem_.queries},
                           {"k", problem_.k},
                           {"shifts", problem_.tuning.shifts},
                           {"window", problem_.tuning.window},
                           {"curve", kith::to_string(problem_.tuning.curve)},
                           {"guaranteed", problem_.tuning.guaranteed},
                           {"merge", kith::to_string(plan_.shifted_sort.merge)},
                           {"positions", kith::to_string(plan_.shifted_sort.positions)}};
    contender.prepare = [this] { orders_.reset(); };
    contender.run = [this] { search(); };
    contender.check = [this](bool first) {
      if (first) return judge();
      orders_ms_.push_back(static_cast<double>(ordered_.since(start_)));
      search_ms_.push_back(static_cast<double>(done_.since(ordered_)));
      return std::string();
    };
    search();  // a second run without a time: the first one's workspace grew
    Row row = harness_.race({std::move(contender)}, {.budget_ms = kUnlimited, .flush = false}).front();
    if (row.status != Status::timed && row.status != Status::wrong) return row;
    const double orders_ms = median(orders_ms_);
    const double search_ms = median(search_ms_);
    row.facts.update({{"orders_ms", orders_ms},
                      {"search_ms", search_ms},
                      {"queries_a_ms", static_cast<double>(problem_.queries) / (orders_ms + search_ms)}});
    put_quality(row);
    row.note = fmt::format(
        "{:8.0f} queries/ms, orders {:.3f} ms, search {:.3f} ms, recall {:.4f}, ε mean {:.4f} p99 "
        "{:.3f} p99.9 {:.3f} max {:.3f}, ≥ 1.5 {:.3f} %",
        row.facts["queries_a_ms"].get<double>(), orders_ms, search_ms, recall_, ratios_.mean, ratios_.p99, ratios_.p999,
        ratios_.max, 100 * ratios_.share_from(1.5));
    return row;
  }

  std::string histogram() const { return histogram_text(ratios_); }

 private:
  MatrixView<float> device_base() const {
    return MatrixView<float>::on_device(base_.data(), problem_.base_rows, kDims);
  }

  void search() {
    start_.record(stream_);
    workspace_->reset();
    cuda::shifted_sort::ShiftedSortSets<float> sets;
    sets.base = {base_.data(), problem_.base_rows, kDims};
    sets.queries = {queries_.data(), problem_.queries, kDims};
    orders_.emplace(sets.base, kDims, core::curve_shifts(plan_.shifted_sort), plan_.shifted_sort.curve,
                    cuda::shifted_sort::sorting_of(plan_), *workspace_);
    ordered_.record(stream_);
    sets.orders = orders_->orders();
    cuda::shifted_sort::shifted_sort_search<float>(cuda::shifted_sort::shifted_sort_work(plan_), sets,
                                                   {distances_.data(), ids_.data()}, *workspace_, [](std::int64_t) {});
    done_.record(stream_);
  }

  // Of a sample of the queries, evenly spread.
  std::string judge() {
    const std::int64_t k = problem_.k;
    samples_ = std::min(harness_.limits().samples, problem_.queries);
    const std::int64_t step = problem_.queries / samples_;
    SpacePoints chosen;
    for (std::int64_t i = 0; i < samples_; ++i)
      chosen.insert(chosen.end(), sets_.queries.begin() + kDims * i * step,
                    sets_.queries.begin() + kDims * (i * step + 1));
    Options options;
    options.backend = kBackend;
    const Neighbors<float> truth = Index<float>(device_base(), options, stream_).search(view_of(chosen), k, stream_);
    const std::vector<float> distances = on_host(distances_, stream_);
    const std::vector<std::int64_t> ids = on_host(ids_, stream_);
    std::vector<double> ratios;
    std::int64_t right = 0;
    std::string fault;
    for (std::int64_t i = 0; i < samples_; ++i) {
      const AnswerRow row{distances.data() + i * step * k, ids.data() + i * step * k};
      if (fault.empty()) {
        fault = row_fault(row, k, chosen.data() + kDims * i, view_of(sets_.base));
        if (!fault.empty()) fault = fmt::format("query {}: {}", i * step, fault);
      }
      const float last = truth.distances_of(i).back();
      right += std::count_if(row.distances, row.distances + k, [=](float found) { return found <= last; });
      ratios.push_back(row.distances[k - 1] == last ? 1 : static_cast<double>(row.distances[k - 1]) / last);
    }
    recall_ = static_cast<double>(right) / static_cast<double>(samples_ * k);
    ratios_ = summarize_ratios(std::move(ratios));
    return fault;
  }

  void put_quality(Row& row) const {
    Json histogram = Json::array();
    for (const DistanceRatios::Bin& bin : ratios_.histogram) histogram.push_back({bin.from, bin.queries});
    row.facts["samples"] = samples_;
    row.facts["recall"] = recall_;
    row.facts["ratio"] = {{"mean", ratios_.mean},
                          {"p99", ratios_.p99},
                          {"p999", ratios_.p999},
                          {"max", ratios_.max},
                          {"from_1.5", ratios_.share_from(1.5)},
                          {"unbounded", ratios_.unbounded},
                          {"histogram", histogram}};
  }

  const Problem& problem_;
  const SpaceSets& sets_;
  Harness& harness_;
  const cuda::Stream& stream_;
  cuda::DeviceBuffer<float> base_;
  cuda::DeviceBuffer<float> queries_;
  cuda::DeviceBuffer<float> distances_;
  cuda::DeviceBuffer<std::int64_t> ids_;
  Plan plan_;
  std::optional<cuda::Workspace> workspace_;
  std::optional<cuda::shifted_sort::CurveBase<float>> orders_;
  cuda::Event start_;
  cuda::Event ordered_;
  cuda::Event done_;
  std::vector<double> orders_ms_;
  std::vector<double> search_ms_;
  std::int64_t samples_ = 0;
  double recall_ = 0;
  DistanceRatios ratios_;
};

// Points of a set are made once for all cases of the same sizes that follow each other.
class Sets {
 public:
  explicit Sets(std::string surface) : surface_(std::move(surface)) {}

  const SpaceSets& get(const Problem& problem) {
    const std::string key = fmt::format("{} {} {}", problem.set, problem.base_rows, problem.queries);
    if (key != key_) sets_ = make_space_sets(problem.set, problem.base_rows, problem.queries, load_surface(surface_));
    key_ = key;
    return sets_;
  }

 private:
  std::string surface_;
  std::string key_;
  SpaceSets sets_;
};

}  // namespace

Suite make_suite(const std::string& name, const std::string& what, const std::vector<Problem>& problems,
                 const Settings& settings) {
  Suite suite{"lowdim/" + name, what, "", {.slow_ms = kUnlimited, .samples = 20000}, nullptr, {}};
  const auto sets = std::make_shared<Sets>(settings.surface);
  for (Problem problem : problems) {
    if (settings.quick) {
      problem.base_rows = 1000;
      problem.queries = 200;
      problem.k = std::min<std::int64_t>(problem.k, 100);
    }
    suite.cases.push_back({"", describe(problem), "", [=](Harness& harness) {
                             ShiftedSortRun run(problem, sets->get(problem), harness);
                             std::vector<Row> rows = {run.row()};
                             if (name == "figure-7") rows.front().note += "\n" + run.histogram();
                             return rows;
                           }});
  }
  return suite;
}

}  // namespace kith::bench::device::lowdim
