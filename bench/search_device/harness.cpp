#include "search_device/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "backend/profile_file.hpp"
#include "kith/error.hpp"
#include "plan/choose.hpp"
#include "search_device/points.hpp"

namespace kith::search_bench {
namespace {

constexpr unsigned kBaseSeed = 1;
constexpr unsigned kQuerySeed = 2;

// What an application would do that searches often.
void keep_freed_memory() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
  KITH_CUDA(cudaGetDevice(&device));
  KITH_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  KITH_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
}

// Whatever depends on the problem or the device, not on the code.
bool is_refusal(const Error& error) {
  return error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::out_of_memory ||
         error.code() == ErrorCode::no_device;
}

void note_refusal(const Error& error, Measurement& measurement) {
  if (!is_refusal(error)) throw error;
  measurement.status = error.code() == ErrorCode::out_of_memory ? Status::skipped : Status::unsupported;
  measurement.reason = error.what();
}

}  // namespace

double best_rate(const std::vector<CeilingResult>& ceilings, const std::string& name) {
  double best = 0;
  for (const CeilingResult& result : ceilings)
    if (result.ceiling.name.starts_with(name)) best = std::max(best, result.rate());
  return best;
}

Harness::Harness(const Limits& limits) : limits_(limits), facts_(cuda::device_facts()), flush_(stream_) {
  backend::FoundProfile found = backend::find_profile(facts_.name);
  facts_.profile = found.profile;
  facts_.profile_source = std::move(found.source);
  keep_freed_memory();
}

double Harness::time(const std::function<void()>& run) {
  flush_.enqueue();
  before_.record(stream_);
  run();
  after_.record(stream_);
  after_.synchronize();
  return static_cast<double>(after_.since(before_));
}

// In rounds as well. Reads come on several grids; the best of them is the ceiling, which is for the reader to say.
std::vector<CeilingResult> Harness::run_ceilings() {
  std::vector<CeilingResult> results;
  for (Ceiling& ceiling : all_ceilings(limits_.quick, stream_)) results.push_back({std::move(ceiling), 0});
  std::vector<std::vector<double>> samples(results.size());
  for (const CeilingResult& result : results) time(result.ceiling.run);
  for (int round = 0; round < limits_.rounds; ++round)
    for (std::size_t i = 0; i < results.size(); ++i) samples[i].push_back(time(results[i].ceiling.run));
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].ms = select_bench::median(samples[i]);
    results[i].ceiling.run = nullptr;  // and its memory with it
  }
  return results;
}

Measurement Harness::planned(const Problem& problem, const Contender& contender) const {
  Measurement measurement;
  measurement.problem = problem;
  measurement.contender = contender.name;
  Options options;
  options.metric = problem.metric;
  options.method = contender.method;
  options.distance = contender.distance;
  options.select = contender.select;
  options.triangle = contender.triangle;
  try {
    measurement.plan = plan::choose(
        {problem.base_rows, problem.queries, problem.dims, problem.answers(), DType::float32}, options, facts_);
  } catch (const Error& error) {
    note_refusal(error, measurement);
    return measurement;
  }
  if (measurement.plan.seconds * 1e3 > limits_.skip_ms && contender.name != "auto") {
    measurement.status = Status::skipped;
    measurement.reason = fmt::format("about {:.2g} s expected", measurement.plan.seconds);
  }
  return measurement;
}

std::vector<Contender> Harness::all_contenders(const Problem& problem) const {
  std::vector<Contender> all = {Contender()};
  const Measurement choice = planned(problem, all.front());
  if (choice.status == Status::unsupported) return all;
  std::vector<DistanceStage> stages = {choice.plan.distance};
  for (const Plan::Alternative& other : choice.plan.alternatives) stages.push_back(other.distance);
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  for (const DistanceStage stage : stages)
    all.push_back({to_string(stage), Method::two_stage, stage, SelectMethod::automatic});
  all.push_back({"fused", Method::fused});
  return all;
}

// Rounds that the budget allows for.
int Harness::rounds_of(double ms) const {
  return static_cast<int>(std::clamp(limits_.budget_ms / std::max(ms, 1e-3), 1.0, static_cast<double>(limits_.rounds)));
}

std::vector<StageMeasurement> Harness::run_stages(const Tile& tile) {
  std::vector<Stage> stages = all_stages(tile, stream_);
  std::erase_if(stages, [](const Stage& stage) { return stage.form != core::Form::squared; });
  std::vector<StageMeasurement> measurements;
  std::vector<int> rounds;
  for (const Stage& stage : stages) {
    measurements.push_back({"", tile, stage.name, {}});
    rounds.push_back(rounds_of(time(stage.run)));
  }
  for (int round = 0; round < limits_.rounds; ++round)
    for (std::size_t i = 0; i < stages.size(); ++i)
      if (round < rounds[i]) measurements[i].samples_ms.push_back(time(stages[i].run));
  return measurements;
}

// Ids of −1 and distances of NaN: whoever writes nothing is found out.
double Harness::run_search(const Runner& runner, const Answer& answer, std::int64_t queries) {
  const auto count = static_cast<std::size_t>(queries * answer.k);
  KITH_CUDA(cudaMemsetAsync(answer.distances, 0xFF, count * sizeof(float), stream_));
  KITH_CUDA(cudaMemsetAsync(answer.ids, 0xFF, count * sizeof(std::int64_t), stream_));
  return time(runner.search);
}

// The first run. Returns whether there is something left to be timed.
bool Harness::warm_up(Runner& runner, const Answer& answer, const Checker& checker, unsigned long long& fingerprint) {
  Measurement& measurement = *runner.measurement;
  double first_ms = 0;
  try {
    first_ms = run_search(runner, answer, measurement.problem.queries);
  } catch (const Error& error) {
    note_refusal(error, measurement);
    return false;
  }
  measurement.rows_checked = checker.sample();
  measurement.reason = checker.fault(answer);
  const unsigned long long mine = checker.fingerprint(answer);
  if (fingerprint == 0) fingerprint = mine;
  if (measurement.reason.empty() && mine != fingerprint)
    measurement.reason = "another answer than the first contender's";
  if (!measurement.reason.empty()) {
    measurement.status = Status::wrong;
    return false;
  }
  if (first_ms > limits_.slow_ms) {
    measurement.first_run = true;
    measurement.samples_ms = {first_ms};
    return false;
  }
  return true;
}

// One run of a contender.
std::function<void()> Harness::search_of(const Contender& contender, const SearchedPoints& points,
                                         Measurement& measurement) {
  return [this, points, &measurement, chooses = contender.name == "auto"] {
    std::unique_ptr<PointerIndex<float>> made;
    if (limits_.fresh) made = cuda::make_pointer_index(points.base, measurement.problem.metric, true, stream_);
    const PointerIndex<float>& index = limits_.fresh ? *made : *points.index;
    const std::int64_t k = points.answer.k;
    if (chooses) {
      Options options;
      options.metric = measurement.problem.metric;
      measurement.plan = plan::choose(
          {points.base.rows, points.queries.rows, points.base.cols, k, DType::float32}, options, facts_, {},
          {[&](const Plan& plan) {
             return plan::SurvivingFractions{index.surviving_fraction(points.queries, plan, stream_), 1};
           },
           [&](const Plan& plan) { return index.holds(points.queries, plan, stream_); },
           {}});
    }
    measurement.report = {};
    index.search(points.queries, measurement.plan, points.answer.distances, points.answer.ids, stream_,
                 measurement.report);
  };
}

// Counting takes time, so what was timed did not.
void Harness::count_work(const Runner& runner) {
  Measurement& measurement = *runner.measurement;
  if (measurement.contender == "auto" || measurement.plan.method != Method::triangle) return;
  measurement.plan.statistics = true;
  runner.search();
}

std::vector<Measurement> Harness::run(const Problem& wanted, const std::vector<Contender>& contenders) {
  const Points base = wanted.data == Data::file
                          ? Points(wanted.file, stream_)
                          : Points(wanted.base_rows, wanted.dims, wanted.data, kBaseSeed, stream_);
  Problem problem = wanted;
  if (wanted.data == Data::file) {
    problem.queries = problem.base_rows = base.view().rows;
    problem.dims = base.view().cols;
  }
  const bool of_base = problem.self || problem.queries_are_base;
  const Points others = of_base ? Points() : Points(problem.queries, problem.dims, problem.data, kQuerySeed, stream_);
  const MatrixView<float> queries = of_base ? base.view().rows_from(0, problem.queries) : others.view();
  const std::int64_t k = problem.answers();
  cuda::DeviceBuffer<float> distances(static_cast<std::size_t>(queries.rows * k), stream_);
  cuda::DeviceBuffer<std::int64_t> ids(distances.size(), stream_);
  const Answer answer{distances.data(), ids.data(), k};
  const Checker checker(problem, base.view(), queries, limits_.check_rows, stream_);

  stream_.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  const auto index = cuda::make_pointer_index(base.view(), problem.metric, true, stream_);
  const std::chrono::duration<double, std::milli> index_ms = std::chrono::steady_clock::now() - begin;

  std::vector<Measurement> measurements;
  for (const Contender& contender : contenders) measurements.push_back(planned(problem, contender));
  std::vector<Runner> runners;
  unsigned long long fingerprint = 0;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    Measurement& measurement = measurements[i];
    measurement.index_ms = index_ms.count();
    if (measurement.status != Status::timed) continue;
    Runner runner{&measurement, search_of(contenders[i], {base.view(), queries, index.get(), answer}, measurement)};
    if (warm_up(runner, answer, checker, fingerprint))
      runners.push_back(std::move(runner));
    else if (measurement.first_run)
      count_work(runner);
  }
  for (int round = 0; round < limits_.rounds; ++round) {
    std::shuffle(runners.begin(), runners.end(), random_);
    for (Runner& runner : runners) {
      Measurement& measurement = *runner.measurement;
      if (round >= runner.rounds || measurement.status != Status::timed) continue;
      const double ms = run_search(runner, answer, problem.queries);
      // Not from the first run, which also allocates.
      if (round == 0) runner.rounds = rounds_of(ms);
      measurement.samples_ms.push_back(ms);
      if (checker.fingerprint(answer) == fingerprint) continue;
      measurement.status = Status::wrong;
      measurement.reason = "another answer than in the first run";
    }
  }
  for (const Runner& runner : runners) count_work(runner);
  return measurements;
}

}  // namespace kith::search_bench
