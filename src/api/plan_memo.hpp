// plan_memo.hpp: the plans of an index's last searches, for searches that are planned from the same facts: planning
// takes as long as a tenth of a search for one query does on a device, and longer than one through a tree on the CPU.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "plan/choose.hpp"

namespace kith::api {

// Of one index: options and machine are always the same, but for the threads that a CPU has. Thread-safe.
class PlanMemo {
 public:
  // What a plan is made of.
  struct Facts {
    Problem problem;
    plan::IndexFacts index;
    int threads;  // 0 of a device

    bool operator==(const Facts&) const = default;
  };

  // Null where none is known.
  std::shared_ptr<const Plan> find(const Facts& facts) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Known& one : known_)
      if (one.plan != nullptr && one.facts == facts) return one.plan;
    return nullptr;
  }

  // Makes a plan by plan::choose(), and keeps it unless samples decided it: these are of the queries.
  std::shared_ptr<const Plan> make(Facts facts, const Options& options, const plan::Machine& machine,
                                   plan::DataSamples samples) {
    bool asked = false;
    note_questions(samples.surviving_fractions, asked);
    note_questions(samples.first_pass_suffices, asked);
    note_questions(samples.products_are_sharp, asked);
    note_questions(samples.bf16_candidates, asked);
    note_questions(samples.distinct_rows, asked);
    auto plan = std::make_shared<const Plan>(plan::choose(facts.problem, options, machine, facts.index, samples));
    if (!asked) keep({std::move(facts), plan});
    return plan;
  }

 private:
  struct Known {
    Facts facts;
    std::shared_ptr<const Plan> plan;
  };

  template <class Answer, class... Arguments>
  static void note_questions(std::function<Answer(Arguments...)>& question, bool& asked) {
    if (!question) return;
    question = [answer = std::move(question), &asked](Arguments... arguments) {
      asked = true;
      return answer(arguments...);
    };
  }

  void keep(Known known) {
    const std::lock_guard<std::mutex> lock(mutex_);
    known_[next_] = std::move(known);
    next_ = (next_ + 1) % known_.size();
  }

  std::mutex mutex_;
  std::array<Known, 4> known_;
  std::size_t next_ = 0;
};

}  // namespace kith::api
