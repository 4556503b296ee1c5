#include "device/harness/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#if !defined(KITH_IS_EMULATED)
#include <cuda_profiler_api.h>
#endif

#include "cuda/runtime/properties.hpp"

namespace kith::bench::device {
namespace {

// Gives back what others have left in the device's memory pool, which from now on keeps what is freed. Returns how much
// memory is free then.
std::int64_t take_pool() {
#if !defined(KITH_IS_EMULATED)
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
  KITH_CUDA(cudaGetDevice(&device));
  KITH_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  KITH_CUDA(cudaDeviceSynchronize());
  KITH_CUDA(cudaMemPoolTrimTo(pool, 0));
  KITH_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
#endif
  return static_cast<std::int64_t>(cuda::devices().front().free_memory);
}

}  // namespace

void refuse(const Error& error, Row& row) {
  if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::out_of_memory &&
      error.code() != ErrorCode::no_device)
    throw error;
  row.status = error.code() == ErrorCode::out_of_memory ? Status::skipped : Status::unsupported;
  row.reason = error.what();
}

const char* to_string(Status status) {
  switch (status) {
    case Status::timed: return "timed";
    case Status::counted: return "counted";
    case Status::skipped: return "skipped";
    case Status::unsupported: return "unsupported";
    case Status::wrong: return "wrong";
  }
  return "";
}

Bar bar_ms(double limit, const Times& times) {
  if (!times.timed()) return {fmt::format("≤ {:g} ms", limit), "not timed", false};
  return {fmt::format("≤ {:g} ms", limit), fmt::format("{:.4g} ms", times.median_ms()), times.median_ms() <= limit};
}

Harness::Harness(const Limits& limits, bool quick, bool profile)
    : limits_(limits), quick_(quick), profile_(profile), free_memory_(take_pool()), flush_(stream_) {}

double Harness::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Harness::measure_ceilings(std::vector<Ceiling> ceilings) {
  constexpr int kRounds = 7;
  std::vector<std::vector<double>> samples(ceilings.size());
  for (const Ceiling& ceiling : ceilings) time(ceiling.run);
  for (int round = 0; round < std::min(kRounds, limits_.rounds); ++round)
    for (std::size_t i = 0; i < ceilings.size(); ++i) samples[i].push_back(time(ceilings[i].run).ms);
  for (std::size_t i = 0; i < ceilings.size(); ++i) {
    ceilings[i].run = nullptr;
    ceilings_.push_back({std::move(ceilings[i]), median(samples[i])});
  }
}

double Harness::best_rate(const std::string& name) const {
  double best = 0;
  for (const CeilingResult& result : ceilings_)
    if (result.ceiling.name.starts_with(name)) best = std::max(best, result.rate());
  return best;
}

Timing Harness::time(const std::function<void()>& run, const RaceRules& rules) {
  if (rules.flush && !rules.on_host_clock)
    flush_.enqueue();
  else
    stream_.synchronize();
  before_.record(stream_);
  const Clock::time_point begin = Clock::now();
  run();
  const double enqueue_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  after_.record(stream_);
  after_.synchronize();
  return {rules.on_host_clock ? enqueue_ms : static_cast<double>(after_.since(before_)), enqueue_ms};
}

// From an idle device until the host knows that all is done.
double Harness::wall_ms(const Contender& contender) {
  if (contender.prepare) contender.prepare();
  flush_.enqueue();
  stream_.synchronize();
  const Clock::time_point begin = Clock::now();
  contender.run();
  stream_.synchronize();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void Harness::profile(Contender& contender) {
  constexpr int kWarmUps = 2;
  if (contender.row.status != Status::timed) return;
  for (int i = 0; i < kWarmUps; ++i) contender.run();
  stream_.synchronize();
#if !defined(KITH_IS_EMULATED)
  KITH_CUDA(cudaProfilerStart());
#endif
  contender.run();
  stream_.synchronize();
#if !defined(KITH_IS_EMULATED)
  KITH_CUDA(cudaProfilerStop());
#endif
  contender.row.status = Status::counted;
  contender.row.reason = "profiled";
}

// Leaves out what would take too long.
bool Harness::admit(Contender& contender) const {
  Row& row = contender.row;
  if (row.status != Status::timed) return false;
  const double expected = contender.expected_ms ? contender.expected_ms() : 0;
  if (limits_.suite_seconds > 0 && seconds() > limits_.suite_seconds)
    row.reason = fmt::format("the suite has had its {:g} s", limits_.suite_seconds);
  else if (expected > limits_.skip_ms)
    row.reason = fmt::format("about {:.2g} s expected", expected * 1e-3);
  if (!row.reason.empty()) row.status = Status::skipped;
  return row.reason.empty();
}

void Harness::enter(Contender& contender, const RaceRules& rules, std::vector<Runner>& runners) {
  Runner runner;
  const auto last = std::make_shared<Timing>();
  runner.run = [this, &contender, &rules, last] {
    if (contender.prepare) contender.prepare();
    *last = time(contender.run, rules);
    if (rules.both_clocks) contender.row.wall.samples_ms.push_back(wall_ms(contender));
    return last->ms;
  };
  runner.check = [&contender, last](bool first) {
    if (first && contender.first_done) contender.first_done(*last);
    return contender.check ? contender.check(first) : std::string();
  };
  runner.is_slow = [this, &contender, &rules, last](double ms) {
    constexpr double kNegligible = 0.05;
    const bool allocated = rules.enqueues_only && last->enqueue_ms >= kNegligible * ms;
    contender.row.first_run = ms > limits_.slow_ms && !allocated;
    return contender.row.first_run;
  };
  runner.times = &contender.row;
  runner.fault = &contender.row.reason;
  runner.budget_ms = rules.budget_ms > 0 ? rules.budget_ms : limits_.budget_ms;
  try {
    if (!warm_up(runner)) return;
    contender.row.wall.samples_ms.clear();
    runners.push_back(std::move(runner));
  } catch (const Error& error) {
    refuse(error, contender.row);
  }
}

std::vector<Row> Harness::race(std::vector<Contender> contenders, const RaceRules& rules) {
  std::vector<Runner> runners;
  for (Contender& contender : contenders) {
    if (profile_) profile(contender);
    if (!profile_ && admit(contender)) enter(contender, rules, runners);
  }
  run_rounds(runners, rules.rounds > 0 ? std::min(rules.rounds, limits_.rounds) : limits_.rounds, random_,
             rules.new_round);
  std::vector<Row> raced;
  for (Contender& contender : contenders) {
    Row& row = contender.row;
    if (row.status == Status::timed && !row.reason.empty()) row.status = Status::wrong;
    raced.push_back(std::move(row));
  }
  return raced;
}

}  // namespace kith::bench::device
