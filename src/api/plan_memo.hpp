// plan_memo.hpp: the plans of an index's last searches, for searches that are planned from the same facts: planning
// takes as long as a tenth of a search for one query does on a device, and a fourth of one through a tree on the CPU.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "plan/choose.hpp"

namespace kith::api {

// Of one index: options and machine are always the same, but for the threads that a CPU has. Thread-safe.
class PlanMemo {
 public:
  // A plan for the problem, by plan::choose() where none is known. Plans that samples decided are made anew: these are
  // of the queries.
  Plan choose(const Problem& problem, const Options& options, const plan::Machine& machine,
              const plan::IndexFacts& index, plan::DataSamples samples) {
    const int threads = threads_of(machine);
    if (std::optional<Plan> known = find(problem, index, threads)) return *std::move(known);
    bool asked = false;
    note_questions(samples.surviving_fractions, asked);
    note_questions(samples.first_pass_suffices, asked);
    note_questions(samples.products_are_sharp, asked);
    note_questions(samples.distinct_rows, asked);
    Plan plan = plan::choose(problem, options, machine, index, samples);
    if (!asked) keep({problem, index, threads, plan});
    return plan;
  }

 private:
  struct Known {
    Problem problem;
    plan::IndexFacts index;
    int threads;
    Plan plan;
  };

  static int threads_of(const plan::Machine& machine) {
    const auto* const cpu = std::get_if<core::CpuFacts>(&machine);
    return cpu == nullptr ? 0 : cpu->threads;
  }

  template <class Answer, class... Arguments>
  static void note_questions(std::function<Answer(Arguments...)>& question, bool& asked) {
    if (!question) return;
    question = [answer = std::move(question), &asked](Arguments... arguments) {
      asked = true;
      return answer(arguments...);
    };
  }

  std::optional<Plan> find(const Problem& problem, const plan::IndexFacts& index, int threads) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::optional<Known>& one : known_)
      if (one && one->problem == problem && one->threads == threads && one->index == index) return one->plan;
    return std::nullopt;
  }

  void keep(Known known) {
    const std::lock_guard<std::mutex> lock(mutex_);
    known_[next_] = std::move(known);
    next_ = (next_ + 1) % known_.size();
  }

  std::mutex mutex_;
  std::array<std::optional<Known>, 4> known_;
  std::size_t next_ = 0;
};

}  // namespace kith::api
