#include "harness.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kith/error.hpp"
#include "methods.hpp"

namespace kith::select_bench {
namespace {

constexpr unsigned kSeed = 1;
constexpr int kReadRounds = 7;
constexpr Shape kLargest = {2048, 1U << 20, Pattern::random};

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

unsigned largest_k(const Heat& heat) {
  unsigned k = 0;
  for (const Entry& entry : heat.entries) k = std::max(k, entry.k);
  return k;
}

Measurement start(const Heat& heat, const Entry& entry) {
  Measurement measurement;
  measurement.figure = heat.figure;
  measurement.shape = heat.shape;
  measurement.entry = entry;
  if (entry.contender.method == "auto") measurement.chosen = chosen_method(heat.shape, entry.k, entry.sorted);
  return measurement;
}

}  // namespace

// What a first run would have taken in a warm workspace, at least.
double Harness::without_allocation(const Timing& first) {
  return std::max(first.ms - first.enqueue_ms, 1e-3);
}

Harness::Harness(const Limits& limits)
    : limits_(limits), flush_(stream_), matrix_(stream_), inspector_(stream_), read_rate_(measure_read_rate()) {}

double Harness::suite_seconds() const {
  return std::chrono::duration<double>(Clock::now() - suite_start_).count();
}

Harness::Timing Harness::time(const std::function<void()>& run) {
  flush_.enqueue();
  before_.record(stream_);
  const Clock::time_point begin = Clock::now();
  run();
  const double enqueue_ms = milliseconds_since(begin);
  after_.record(stream_);
  after_.synchronize();
  return {after_.since(before_), enqueue_ms};
}

ReadRate Harness::measure_read_rate() {
  matrix_.fill(kLargest, kSeed);
  ReadRate best;
  for (const unsigned grid : kReadGrids) {
    std::vector<double> samples;
    for (int round = 0; round < kReadRounds; ++round)
      samples.push_back(time([&] { enqueue_read(matrix_.data(), kLargest.values(), grid, stream_); }).ms);
    const double ms = median(samples);
    if (best.ms == 0 || ms < best.ms) best.ms = ms, best.blocks_a_processor = grid;
  }
  best.terabytes_a_second = static_cast<double>(kLargest.values() * sizeof(float)) / best.ms * 1e-9;
  return best;
}

// Ids of −1 and values of NaN: whoever writes nothing is found out.
Harness::Timing Harness::run_entry(const Entry& entry, const std::function<void()>& run) {
  const std::size_t count = static_cast<std::size_t>(matrix_.shape().rows) * entry.k;
  KITH_CUDA(cudaMemsetAsync(answer_.values.data(), 0xFF, count * sizeof(float), stream_));
  KITH_CUDA(cudaMemsetAsync(answer_.ids.data(), 0xFF, count * sizeof(std::int64_t), stream_));
  return time(run);
}

std::string Harness::reason_to_skip(const Shape& shape, const Entry& entry) const {
  if (limits_.suite_seconds > 0 && suite_seconds() > limits_.suite_seconds)
    return fmt::format("the suite has had its {:g} s", limits_.suite_seconds);
  const double estimate = history_.estimate_ms(shape, entry);
  if (estimate > limits_.skip_ms) return fmt::format("about {:.1f} s expected", estimate * 1e-3);
  return "";
}

// On the device for all rows, on the host for a few.
std::string Harness::fault_of(const Entry& entry, const Truth& truth) {
  const std::string fault = inspector_.fault(matrix_, answer_, entry.k, entry.sorted);
  return fault.empty() ? truth.fault(answer_, entry.k, entry.sorted) : fault;
}

// Leaves out what would take too long.
bool Harness::skip(const Shape& shape, Measurement& measurement) {
  measurement.reason = reason_to_skip(shape, measurement.entry);
  if (measurement.reason.empty()) return false;
  measurement.status = Status::skipped;
  const double estimate = history_.estimate_ms(shape, measurement.entry);
  if (estimate > 0) history_.add(shape, measurement.entry, estimate);
  return true;
}

// The first run. What it leaves to be timed, if anything.
std::optional<Harness::Runner> Harness::warm_up(const Heat& heat, Measurement& measurement, const Truth& truth) {
  if (skip(heat.shape, measurement)) return std::nullopt;
  const Entry& entry = measurement.entry;
  Runner runner{&measurement, make_selection(entry, matrix_, answer_, stream_)};
  Timing first;
  try {
    first = run_entry(entry, runner.run);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::out_of_memory) throw;
    measurement.status = error.code() == ErrorCode::out_of_memory ? Status::skipped : Status::unsupported;
    measurement.reason = error.what();
    return std::nullopt;
  }
  history_.add(heat.shape, entry, without_allocation(first));
  measurement.reason = fault_of(entry, truth);
  if (!measurement.reason.empty()) {
    measurement.status = Status::wrong;
    return std::nullopt;
  }
  runner.rounds = rounds_for(heat, first);
  if (runner.rounds > 0) return runner;
  measurement.first_run = true;
  measurement.samples_ms = {first.ms};
  return std::nullopt;
}

// None where the first run is as good as another and took long.
int Harness::rounds_for(const Heat& heat, const Timing& first) const {
  constexpr double kNegligible = 0.05;
  if (first.ms > limits_.slow_ms && first.enqueue_ms < kNegligible * first.ms) return 0;
  const double budget = heat.budget_ms > 0 ? heat.budget_ms : limits_.budget_ms;
  return static_cast<int>(std::clamp(budget / without_allocation(first), 1.0, static_cast<double>(heat.rounds)));
}

std::vector<Harness::Runner> Harness::readers(const Heat& heat) {
  std::vector<Runner> runners;
  if (!heat.reads) return runners;
  for (const unsigned grid : kReadGrids)
    runners.push_back({nullptr,
                       [this, grid, &heat] { enqueue_read(matrix_.data(), heat.shape.values(), grid, stream_); },
                       heat.rounds});
  return runners;
}

void Harness::run_once(Runner& runner) {
  Measurement* measurement = runner.measurement;
  if (measurement == nullptr) {
    runner.samples_ms.push_back(time(runner.run).ms);
    return;
  }
  if (measurement->status == Status::wrong) return;
  const Entry& entry = measurement->entry;
  const double ms = run_entry(entry, runner.run).ms;
  measurement->reason = inspector_.fault(matrix_, answer_, entry.k, entry.sorted);
  if (measurement->reason.empty()) {
    runner.samples_ms.push_back(ms);
  } else {
    measurement->status = Status::wrong;
    runner.samples_ms.clear();
  }
}

void Harness::run_rounds(const Heat& heat, std::vector<Runner>& runners) {
  for (int round = 0; round < heat.rounds; ++round) {
    if (heat.fresh_data) matrix_.fill(heat.shape, kSeed + 1 + static_cast<unsigned>(round));
    std::shuffle(runners.begin(), runners.end(), random_);
    for (Runner& runner : runners)
      if (round < runner.rounds) run_once(runner);
  }
}

std::vector<Measurement> Harness::run(const Heat& heat) {
  matrix_.fill(heat.shape, kSeed);
  answer_.reserve(static_cast<std::size_t>(heat.shape.rows) * largest_k(heat), stream_);
  const Truth truth(matrix_, largest_k(heat));
  std::vector<Measurement> measurements;
  for (const Entry& entry : heat.entries) measurements.push_back(start(heat, entry));

  std::vector<Runner> runners = readers(heat);
  for (Measurement& measurement : measurements)
    if (auto runner = warm_up(heat, measurement, truth)) runners.push_back(std::move(*runner));
  run_rounds(heat, runners);

  double read_ms = 0;
  for (const Runner& runner : runners) {
    if (runner.measurement != nullptr) {
      runner.measurement->samples_ms = runner.samples_ms;
    } else if (const double ms = median(runner.samples_ms); read_ms == 0 || ms < read_ms) {
      read_ms = ms;
    }
  }
  for (Measurement& measurement : measurements) measurement.read_ms = read_ms;
  return measurements;
}

UpdateMeasurement Harness::run(const UpdateCount& count) {
  UpdateMeasurement measurement{count, "", {}};
  const Entry entry{{"updates of the " + count.queue + " queue", ""}, count.k};
  measurement.skipped = reason_to_skip(count.shape, entry);
  if (!measurement.skipped.empty()) return measurement;
  matrix_.fill(count.shape, kSeed);
  const Clock::time_point begin = Clock::now();
  for (const unsigned long long updates : count_updates(count.queue, count.k, matrix_, stream_))
    measurement.updates.push_back(static_cast<double>(updates) / static_cast<double>(count.shape.rows));
  history_.add(count.shape, entry, milliseconds_since(begin));
  return measurement;
}

}  // namespace kith::select_bench
