#include "common/race.hpp"

#include <algorithm>

namespace kith::bench {
namespace {

void run_once(Runner& runner, int rounds) {
  const double ms = runner.run();
  *runner.fault = runner.check(false);
  if (!runner.fault->empty()) {
    runner.times->samples_ms.clear();
    return;
  }
  if (!runner.times->timed())
    runner.rounds =
        static_cast<int>(std::clamp(runner.budget_ms / std::max(ms, 1e-3), 1.0, static_cast<double>(rounds)));
  runner.times->samples_ms.push_back(ms);
}

}  // namespace

bool warm_up(Runner& runner) {
  const double ms = runner.run();
  *runner.fault = runner.check(true);
  if (!runner.fault->empty()) return false;
  if (!runner.is_slow || !runner.is_slow(ms)) return true;
  runner.times->samples_ms = {ms};
  return false;
}

void run_rounds(std::vector<Runner>& runners, int rounds, std::mt19937& random,
                const std::function<void(int)>& new_round) {
  for (int round = 0; round < rounds; ++round) {
    if (new_round) new_round(round);
    std::shuffle(runners.begin(), runners.end(), random);
    for (Runner& runner : runners)
      if (round < runner.rounds && runner.fault->empty()) run_once(runner, rounds);
  }
}

}  // namespace kith::bench
