#include "harness.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <numeric>
#include <random>

#include "cpu_wait.hpp"

namespace kith::bench {
namespace {

// One timed run. Whoever ran before may have left another thread count behind.
double time_ms(Contender& contender, int threads) {
  using Clock = std::chrono::steady_clock;
  contender.clear();
  omp_set_num_threads(threads);
  const Clock::time_point start = Clock::now();
  contender.run();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Truths by metric, each made once.
template <Element T>
class Truths {
 public:
  explicit Truths(const Problem<T>& problem) : problem_(problem) {}

  const Oracle<T>& under(Metric metric) {
    for (const auto& oracle : oracles_)
      if (oracle->metric() == metric) return *oracle;
    oracles_.push_back(std::make_unique<Oracle<T>>(problem_, metric));
    return *oracles_.back();
  }

 private:
  const Problem<T>& problem_;
  std::vector<std::unique_ptr<Oracle<T>>> oracles_;
};

// A contender during the race.
struct Runner {
  Contender* contender = nullptr;
  ContenderResult* result = nullptr;
  Answer checked;  // of exact contenders: every later answer must equal it
  int rounds = 0;
};

int rounds_for(Kind kind, double run_ms, int rounds) {
  if (role_of(kind) != Role::peer || run_ms * rounds <= kPeerBudgetMs) return rounds;
  return std::max(1, static_cast<int>(kPeerBudgetMs / run_ms));
}

// The first run: not timed, but checked.
template <Element T>
Runner warm_up(Contender& contender, ContenderResult& result, Truths<T>& truths, int threads, int rounds) {
  const double first_ms = time_ms(contender, threads);
  result.note = contender.note();
  result.work = contender.work();
  Runner runner{&contender, &result, {}, rounds_for(result.kind, first_ms, rounds)};
  switch (role_of(result.kind)) {
    case Role::exact:
      runner.checked = contender.answer();
      result.verdict = truths.under(contender.metric()).judge_exact(runner.checked);
      break;
    case Role::peer: result.verdict = truths.under(contender.metric()).judge_peer(contender.answer()); break;
    case Role::ceiling: result.verdict.fault = contender.fault(); break;
  }
  contender.clear();
  return runner;
}

template <Element T>
std::vector<Runner> warm_up_all(const Problem<T>& problem, std::vector<Entry>& entries, RowResult& result, int rounds) {
  Truths<T> truths(problem);
  std::vector<Runner> runners;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ContenderResult& contender = result.contenders[i];
    contender.kind = entries[i].kind;
    contender.name = entries[i].name;
    contender.absent = entries[i].absent;
    contender.build_ms = entries[i].build_ms;
    if (!entries[i].contender) continue;
    try {
      runners.push_back(warm_up(*entries[i].contender, contender, truths, problem.threads, rounds));
    } catch (const std::exception& error) {
      contender.verdict.fault = error.what();
    }
  }
  return runners;
}

// How long the timed runs took, and how much of it the machine was not ours.
struct Usage {
  double waited_seconds = 0;
  double thread_seconds = 0;

  double share() const { return thread_seconds > 0 ? waited_seconds / thread_seconds : 0; }
};

void run_round(std::vector<Runner>& runners, int round, int threads, std::mt19937& random, Usage& usage) {
  std::vector<std::size_t> order(runners.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t i : order) {
    Runner& runner = runners[i];
    if (round >= runner.rounds || !runner.result->verdict.fault.empty()) continue;
    const double waited_before = cpu_wait_seconds();
    const double ms = time_ms(*runner.contender, threads);
    usage.waited_seconds += cpu_wait_seconds() - waited_before;
    usage.thread_seconds += ms * 1e-3 * threads;
    const bool exact = role_of(runner.result->kind) == Role::exact;
    if (exact && !(runner.contender->answer() == runner.checked)) {
      runner.result->verdict.fault = "another answer than the one that was checked, on the same input";
      runner.result->samples_ms.clear();
    } else {
      runner.result->samples_ms.push_back(ms);
    }
    runner.contender->clear();
  }
}

BarResult judge(const RowResult& result, const Bar& bar) {
  BarResult judged{bar};
  const ContenderResult& subject = result.contenders.front();
  const ContenderResult* against = result.find(bar.against);
  if (against == nullptr) return judged;
  judged.ratio = ratio(subject, *against);
  judged.judged = judged.ratio > 0 && !against->verdict.inexact;
  return judged;
}

template <Element T>
RowResult run_typed(const RowSpec& row, int threads, int rounds) {
  omp_set_num_threads(threads);
  const Problem<T> problem = make_problem<T>(row, threads);
  return race(problem, line_up(problem), rounds);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double ContenderResult::median_ms() const {
  return median(samples_ms);
}

double ContenderResult::min_ms() const {
  return timed() ? *std::min_element(samples_ms.begin(), samples_ms.end()) : 0;
}

double ratio(const ContenderResult& a, const ContenderResult& b) {
  return a.timed() && b.timed() ? a.median_ms() / b.median_ms() : 0;
}

bool RowResult::wrong() const {
  return std::any_of(contenders.begin(), contenders.end(),
                     [](const ContenderResult& result) { return !result.verdict.fault.empty(); });
}

const ContenderResult* RowResult::find(Kind kind) const {
  const auto found = std::find_if(contenders.begin(), contenders.end(),
                                  [&](const ContenderResult& result) { return result.kind == kind; });
  return found == contenders.end() ? nullptr : &*found;
}

template <Element T>
RowResult race(const Problem<T>& problem, std::vector<Entry> entries, int rounds) {
  RowResult result;
  result.row = problem.row;
  result.contenders.resize(entries.size());
  std::vector<Runner> runners = warm_up_all(problem, entries, result, rounds);
  std::mt19937 random(0);
  Usage usage;
  for (int round = 0; round < rounds; ++round) run_round(runners, round, problem.threads, random, usage);
  result.waited = usage.share();
  for (const Bar& bar : problem.row.bars) result.bars.push_back(judge(result, bar));
  return result;
}

RowResult run_row(const RowSpec& row, int threads, int rounds) {
  switch (row.dtype) {
    case DType::float64: return run_typed<double>(row, threads, rounds);
    case DType::uint8: return run_typed<std::uint8_t>(row, threads, rounds);
    default: return run_typed<float>(row, threads, rounds);
  }
}

template RowResult race(const Problem<float>&, std::vector<Entry>, int);
template RowResult race(const Problem<double>&, std::vector<Entry>, int);
template RowResult race(const Problem<std::uint8_t>&, std::vector<Entry>, int);

}  // namespace kith::bench
