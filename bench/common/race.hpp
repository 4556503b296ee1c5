// race.hpp: times contenders in rounds.
//
// The first run of a contender is checked and not timed, since it also allocates; where it takes long it is the only
// one. Each round runs every contender once, in an order shuffled anew, so that a slow phase of the machine or what a
// predecessor leaves in the cache meets all alike. Every later answer is checked too, and a wrong one takes back all
// times. How many rounds a contender takes part in follows from its budget and its first timed run.
#pragma once

#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common/statistics.hpp"

namespace kith::bench {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct Runner {
  std::function<double()> run;                    // milliseconds of one run
  std::function<std::string(bool first)> check;   // why the last run's answer is wrong; empty: it is right
  Times* times = nullptr;                         // filled in
  std::string* fault = nullptr;                   // filled in
  double budget_ms = kUnlimited;                  // for the timed runs
  std::function<bool(double)> is_slow = nullptr;  // whether a first run of so many milliseconds is the only one
  int rounds = 1;                                 // the race's own
};

// The first run. Returns whether there is something left to be timed.
bool warm_up(Runner& runner);

// `new_round` is called before each.
void run_rounds(std::vector<Runner>& runners, int rounds, std::mt19937& random,
                const std::function<void(int round)>& new_round = nullptr);

}  // namespace kith::bench
