#include "search_device/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "kith/error.hpp"
#include "plan/device_planner.hpp"
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

Harness::Harness(const Limits& limits) : limits_(limits), facts_(cuda::device_facts()), flush_(stream_) {
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

Measurement Harness::planned(const Problem& problem, const std::string& name, const Options& options) const {
  Measurement measurement;
  measurement.problem = problem;
  measurement.contender = name;
  try {
    measurement.plan =
        plan::plan_device({problem.base_rows, problem.queries, problem.dims, problem.answers(), DType::float32},
                          options, Backend::cuda, facts_);
  } catch (const Error& error) {
    note_refusal(error, measurement);
    return measurement;
  }
  if (measurement.plan.seconds * 1e3 > limits_.skip_ms) {
    measurement.status = Status::skipped;
    measurement.reason = fmt::format("about {:.1f} s expected", measurement.plan.seconds);
  }
  return measurement;
}

// The stages are those that the planner ranks for the problem.
std::vector<Measurement> Harness::contenders(const Problem& problem, bool all_stages) const {
  Options options;
  options.metric = problem.metric;
  std::vector<Measurement> all = {planned(problem, "auto", options)};
  if (!all_stages || all.front().status == Status::unsupported) return all;
  std::vector<std::string> stages = {all.front().plan.distance};
  for (const Plan::Alternative& other : all.front().plan.alternatives) stages.push_back(other.distance);
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  options.method = Method::two_stage;
  for (const std::string& stage : stages) {
    options.distance = stage;
    all.push_back(planned(problem, stage, options));
  }
  options.method = Method::fused;
  options.distance = "auto";
  all.push_back(planned(problem, "fused", options));
  return all;
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
  runner.rounds = static_cast<int>(
      std::clamp(limits_.budget_ms / std::max(first_ms, 1e-3), 1.0, static_cast<double>(limits_.rounds)));
  return true;
}

std::vector<Measurement> Harness::run(const Problem& problem, bool all_stages) {
  const Points base(problem.base_rows, problem.dims, problem.data, kBaseSeed, stream_);
  const Points others =
      problem.self ? Points() : Points(problem.queries, problem.dims, problem.data, kQuerySeed, stream_);
  const MatrixView<float> queries = problem.self ? base.view() : others.view();
  const std::int64_t k = problem.answers();
  cuda::DeviceBuffer<float> distances(static_cast<std::size_t>(queries.rows * k), stream_);
  cuda::DeviceBuffer<std::int64_t> ids(distances.size(), stream_);
  const Answer answer{distances.data(), ids.data(), k};
  const Checker checker(problem, base.view(), queries, limits_.check_rows, stream_);

  stream_.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  const auto index = cuda::make_pointer_index(base.view(), problem.metric, true, stream_);
  const std::chrono::duration<double, std::milli> index_ms = std::chrono::steady_clock::now() - begin;

  std::vector<Measurement> measurements = contenders(problem, all_stages);
  std::vector<Runner> runners;
  unsigned long long fingerprint = 0;
  for (Measurement& measurement : measurements) {
    measurement.index_ms = index_ms.count();
    if (measurement.status != Status::timed) continue;
    Runner runner{&measurement, [this, &measurement, &index, &queries, &answer] {
                    measurement.report = {};
                    index->search(queries, measurement.plan, answer.distances, answer.ids, stream_, measurement.report);
                  }};
    if (warm_up(runner, answer, checker, fingerprint)) runners.push_back(std::move(runner));
  }
  for (int round = 0; round < limits_.rounds; ++round) {
    std::shuffle(runners.begin(), runners.end(), random_);
    for (const Runner& runner : runners) {
      Measurement& measurement = *runner.measurement;
      if (round >= runner.rounds || measurement.status != Status::timed) continue;
      const double ms = run_search(runner, answer, problem.queries);
      measurement.samples_ms.push_back(ms);
      if (checker.fingerprint(answer) == fingerprint) continue;
      measurement.status = Status::wrong;
      measurement.reason = "another answer than in the first run";
    }
  }
  return measurements;
}

}  // namespace kith::search_bench
