#include "cpu/harness.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <random>
#include <thread>

#include "common/race.hpp"
#include "cpu/cpu_wait.hpp"

namespace kith::bench {
namespace {

// One timed run. Whoever ran before may have left another thread count behind, and OpenMP's threads, which look for
// more work for some milliseconds before they sleep.
double time_ms(Contender& contender, int threads) {
  using Clock = std::chrono::steady_clock;
  contender.clear();
  omp_set_num_threads(threads);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const Clock::time_point start = Clock::now();
  contender.run();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// How long the runs took, and how much of it the machine was not ours.
struct Usage {
  double waited_seconds = 0;
  double thread_seconds = 0;

  double waited() const { return thread_seconds > 0 ? waited_seconds / thread_seconds : 0; }
};

template <Element T>
class Race {
 public:
  explicit Race(const Problem<T>& problem) : problem_(problem) {}

  RowResult run(std::vector<Entry>& entries, int rounds) {
    RowResult result;
    result.row = problem_.row;
    result.contenders.resize(entries.size());
    std::vector<Runner> runners;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ContenderResult& contender = result.contenders[i];
      contender.kind = entries[i].kind;
      contender.name = entries[i].name;
      contender.absent = entries[i].absent;
      contender.build_ms = entries[i].build_ms;
      if (entries[i].contender) enter(*entries[i].contender, contender, runners);
    }
    usage_ = {};
    std::mt19937 random(0);
    run_rounds(runners, rounds, random);
    result.waited = usage_.waited();
    return result;
  }

 private:
  void enter(Contender& contender, ContenderResult& result, std::vector<Runner>& runners) {
    Runner runner;
    runner.run = [this, &contender] {
      const double waited_before = cpu_wait_seconds();
      const double ms = time_ms(contender, problem_.threads);
      usage_.waited_seconds += cpu_wait_seconds() - waited_before;
      usage_.thread_seconds += ms * 1e-3 * problem_.threads;
      return ms;
    };
    runner.check = [this, &contender, &result, checked = Answer()](bool first) mutable {
      std::string fault;
      if (first) fault = judge(contender, result, checked);
      if (!first && role_of(result.kind) == Role::exact && !(contender.answer() == checked))
        fault = "another answer than the one that was checked, on the same input";
      contender.clear();
      return fault;
    };
    runner.times = &result;
    runner.fault = &result.verdict.fault;
    if (role_of(result.kind) == Role::peer) runner.budget_ms = kPeerBudgetMs;
    try {
      if (warm_up(runner)) runners.push_back(std::move(runner));
    } catch (const std::exception& error) {
      result.verdict.fault = error.what();
    }
  }

  // The first answer. Later ones of exact contenders must be equal to `checked`.
  std::string judge(const Contender& contender, ContenderResult& result, Answer& checked) {
    result.note = contender.note();
    result.work = contender.work();
    switch (role_of(result.kind)) {
      case Role::exact:
        checked = contender.answer();
        result.verdict = truth(contender.metric()).judge_exact(checked);
        break;
      case Role::approximate:
      case Role::peer: result.verdict = truth(contender.metric()).judge_peer(contender.answer()); break;
      case Role::ceiling: return contender.fault();
    }
    return result.verdict.fault;
  }

  const Oracle<T>& truth(const Metric& metric) {
    return truths_.try_emplace(metric.kind, problem_.question(), metric).first->second;
  }

  const Problem<T>& problem_;
  std::map<MetricKind, Oracle<T>> truths_;  // each made once
  Usage usage_;
};

BarResult judge(const RowResult& result, const Bar& bar) {
  BarResult judged{bar};
  const ContenderResult* against = result.find(bar.against);
  if (against == nullptr) return judged;
  judged.ratio = ratio(result.contenders.front(), *against);
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

double ratio(const Times& a, const Times& b) {
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
  RowResult result = Race<T>(problem).run(entries, rounds);
  for (const Bar& bar : problem.row.bars) result.bars.push_back(judge(result, bar));
  return result;
}

RowResult run_row(const RowSpec& row, int threads, int rounds) {
  switch (row.dtype) {
    case DType::float64: return run_typed<double>(row, threads, rounds);
    case DType::uint8: return run_typed<std::uint8_t>(row, threads, rounds);
    case DType::float16: return run_typed<Float16>(row, threads, rounds);
    default: return run_typed<float>(row, threads, rounds);
  }
}

template RowResult race(const Problem<float>&, std::vector<Entry>, int);
template RowResult race(const Problem<double>&, std::vector<Entry>, int);
template RowResult race(const Problem<std::uint8_t>&, std::vector<Entry>, int);
template RowResult race(const Problem<Float16>&, std::vector<Entry>, int);

}  // namespace kith::bench
